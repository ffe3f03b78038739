import colors from 'picocolors';
import type { CaptureRow } from '../storage/capture-rows.js';
import type { DemoCompany } from './dev-demo.js';
import type { Arrival } from './dev-receiver.js';

/** What a document is, in the words of the person who gets it. */
const WHAT: Record<string, readonly [one: string, many: string]> = {
  procNFe: ['invoice', 'invoices'],
  resNFe: ['summary', 'summaries'],
  procEventoNFe: ['event', 'events'],
  resEvento: ['event summary', 'event summaries'],
  procCTe: ['transport document', 'transport documents'],
  procCTeOS: ['CT-e OS', 'CT-e OS'],
  procCTeSimp: ['simplified CT-e', 'simplified CT-e'],
  procGTVe: ['GTV-e', 'GTV-e'],
  procEventoCTe: ['CT-e event', 'CT-e events'],
  NFSe: ['service invoice', 'service invoices'],
  evento: ['NFS-e event', 'NFS-e events'],
};
const wordsOf = ({ action, data }: Arrival): readonly [one: string, many: string] => {
  const name = data.kind ?? action;
  return WHAT[name] ?? [name, name];
};
const TYPES = { nfe: 'NF-e', cte: 'CT-e', nfse: 'NFS-e' } as const;
/** Up to so many webhooks a second are shown one by one. */
const ONE_BY_ONE = 4;

/** Everything that `malote dev` prints. One line per thing, no cursor tricks: it reads the same in a terminal, a file and CI. */
export class DevScreen {
  #companies: ReadonlyMap<string, DemoCompany> = new Map();
  #shown = new Map<string, string>();
  #waiting: Arrival[] = [];
  #refused = 0;
  #recovering = 0;

  constructor(private readonly write: (line: string) => void = (line) => void process.stdout.write(`${line}\n`)) {}

  title(folder: string): void {
    this.write(`\n  ${colors.bold('malote dev')}  ${colors.dim(folder)}\n`);
  }

  /** A part of the system is up. */
  ready(part: string, detail: string): void {
    this.write(`  ${colors.green('✔')} ${part.padEnd(24)} ${colors.dim(detail)}`);
  }

  progress(text: string): void {
    this.write(`  ${colors.dim(`… ${text}`)}`);
  }

  addresses(rows: readonly (readonly [name: string, value: string, note?: string])[]): void {
    this.write('');
    const width = Math.max(...rows.map(([, value]) => value.length));
    for (const [name, value, note = ''] of rows) {
      this.write(
        `  ${name.padEnd(14)} ${colors.cyan(value.padEnd(note === '' ? 0 : width))}  ${colors.dim(note)}`.trimEnd(),
      );
    }
    this.write('');
  }

  companies(companies: ReadonlyMap<string, DemoCompany>): void {
    this.#companies = companies;
  }

  note(text: string): void {
    this.write(`  ${text}`);
  }

  warn(text: string): void {
    this.write(`${clock()}  ${colors.yellow('!')} ${text}`);
  }

  /** So many documents are fetched one by one, because the answer with them was lost. */
  recovering(count: number): void {
    if (count === this.#recovering) return;
    this.#recovering = count;
    this.write(
      `${clock()}  ${colors.yellow('↻')} ${bold(count)} documents of lost answers are still to be fetched, under the quota of 20 an hour`,
    );
  }

  /** A webhook came in. Null: its signature was wrong. */
  arrived(arrival: Arrival | null): void {
    if (arrival === null) this.#refused++;
    else this.#waiting.push(arrival);
  }

  /** Once a second: what changed since. */
  tick(captures: readonly CaptureRow[]): void {
    for (const capture of captures) this.#capture(capture);
    if (this.#refused > 0) this.warn(`${this.#refused} webhooks with a wrong signature were refused`);
    this.#refused = 0;
    const arrivals = this.#waiting;
    this.#waiting = [];
    if (arrivals.length <= ONE_BY_ONE) for (const arrival of arrivals) this.#webhook(arrival);
    else {
      const kinds = colors.dim(countKinds(arrivals));
      this.write(`${clock()}  ${colors.magenta('✉')} ${bold(arrivals.length)} webhooks, signatures verified  ${kinds}`);
    }
  }

  #capture(capture: CaptureRow): void {
    const company = this.#companies.get(capture.companyId);
    if (company === undefined) return;
    const at = Number(capture.ultNsu);
    const of = Number(capture.maxNsu);
    const { reason, nextQueryAt } = capture.state;
    const planned = nextQueryAt !== null && nextQueryAt > Date.now() && capture.phase !== 'paused';
    const next = planned ? `, next at ${timeOf(new Date(nextQueryAt))}` : '';
    const why = capture.phase === 'querying' ? '' : `  ${colors.dim(reason + next)}`;
    const which = `${capture.companyId} ${capture.documentType} ${capture.environment}`;
    const now = `${capture.phase} ${at} ${of} ${reason}`;
    if (this.#shown.get(which) === now) return;
    this.#shown.set(which, now);
    const phase = (capture.phase === 'waiting' ? colors.green : colors.yellow)(capture.phase.padEnd(11));
    const stand =
      of > 0
        ? // The NFS-e service tells no highest number.
          `${bold(at)}${capture.documentType === 'nfse' ? '' : ` of ${of}`} documents`
        : capture.enabled
          ? 'about to ask for the first time'
          : 'nothing asked yet';
    const name = `${company.name} ${colors.dim(TYPES[capture.documentType])}`;
    // Padded by what is seen: the colour of the type has no width.
    const width = company.name.length + 1 + TYPES[capture.documentType].length;
    this.write(`${clock()}  ${bar(at, of)} ${name}${' '.repeat(Math.max(0, 26 - width))} ${phase} ${stand}${why}`);
  }

  #webhook(arrival: Arrival): void {
    const { nsu, event: inner, metadata } = arrival.data;
    const company = this.#companyOf(arrival);
    const about = inner?.description ?? metadata?.issuer?.name ?? '';
    const total = metadata?.total === undefined ? '' : `R$ ${metadata.total}  `;
    const [what] = wordsOf(arrival);
    this.write(
      `${clock()}  ${colors.magenta('✉')} ${what.padEnd(13)} ${total}${about}  ${colors.dim(`for ${company}${nsu ? `, NSU ${Number(nsu)}` : ''}`)}`,
    );
  }

  /** By name if it is of the demonstration, else by the end of its tax ID. Alerts of the whole installation have none. */
  #companyOf({ company }: Arrival): string {
    if (company === null) return 'the installation';
    return this.#companies.get(company.id)?.name ?? `…${company.taxId.slice(-4)}`;
  }
}

const bold = (value: number): string => colors.bold(String(value));

const timeOf = (at: Date): string => at.toTimeString().slice(0, 8);
const clock = (): string => colors.dim(timeOf(new Date()));

function bar(at: number, of: number): string {
  const full = of === 0 ? 0 : Math.round((10 * at) / of);
  // Another sign for what is missing, so that it also reads without colours.
  return `${colors.green('━'.repeat(full))}${colors.dim('┄'.repeat(10 - full))}`;
}

/** Those with words of their own in the order above, then the others as they came. */
function countKinds(arrivals: readonly Arrival[]): string {
  // By the word, not by the pair: kinds without a pair of their own get a new one each time.
  const counts = new Map(Object.values(WHAT).map(([one, many]) => [one, { many, count: 0 }]));
  for (const arrival of arrivals) {
    const [one, many] = wordsOf(arrival);
    counts.set(one, { many, count: (counts.get(one)?.count ?? 0) + 1 });
  }
  return [...counts]
    .filter(([, { count }]) => count > 0)
    .map(([one, { many, count }]) => `${count} ${count === 1 ? one : many}`)
    .join(', ');
}
