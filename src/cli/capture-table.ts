import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';
import colors from 'picocolors';
import type { ApiClient } from './api-client.js';
import { CliFailure } from './failure.js';
import { type Column, localTime, print, printJson, shortened, table } from './output.js';

/** A capture's state as the API gives it; only what is shown here. */
export interface Capture {
  readonly companyId: string;
  readonly documentType: string;
  readonly environment: string;
  readonly enabled: boolean;
  readonly phase: string;
  readonly reason: string;
  readonly ultNsu: string;
  readonly maxNsu: string;
  readonly lag: number;
  readonly documents: number;
  readonly failedItems: number;
  readonly lastStatusCode: string | null;
  readonly nextQueryAt: string | null;
  readonly gaps: Readonly<Record<string, number>>;
  readonly lastQueryAt: string | null;
  readonly lastStatusText: string | null;
  readonly blockedUntil: string | null;
  readonly pausedUntil: string | null;
  readonly pointQueries: {
    readonly limit: number;
    readonly used: number;
    readonly nextSlotAt: string | null;
    readonly suspendedUntil: string | null;
  };
  readonly options: Readonly<Record<string, unknown>>;
  readonly workflowId: string;
}

const ASK_EVERY_MS = 2_000;
const CONCURRENCY = 10;
const USUAL_HEIGHT = 24;

/** Names of companies, each asked for once: a table of ids would tell nobody anything. */
export class CompanyNames {
  readonly #api: ApiClient;
  readonly #names = new Map<string, string>();

  constructor(api: ApiClient) {
    this.#api = api;
  }

  async learn(ids: readonly string[]): Promise<void> {
    const unknown = [...new Set(ids)].filter((id) => !this.#names.has(id));
    await pLimit(CONCURRENCY).map(unknown, async (id) => {
      this.#names.set(id, await this.#nameOf(id));
    });
  }

  of(id: string): string {
    return this.#names.get(id) ?? id;
  }

  /** A company that was deleted keeps its id in what is counted of it. */
  async #nameOf(id: string): Promise<string> {
    try {
      return shortened((await this.#api.get<{ name: string }>(`/v1/companies/${id}`)).name);
    } catch (error) {
      if (error instanceof CliFailure && error.code === 'not_found') return id;
      throw error;
    }
  }
}

/** Where captures stand, as a table. */
export async function captureLines(rows: readonly Capture[], names: CompanyNames): Promise<string[]> {
  await names.learn(rows.map(({ companyId }) => companyId));
  const columns: Column<Capture>[] = [
    { title: 'COMPANY', value: ({ companyId }) => names.of(companyId) },
    { title: 'TYPE', value: ({ documentType }) => documentType },
    { title: 'ENVIRONMENT', value: ({ environment }) => environment },
    { title: 'PHASE', value: ({ phase }) => colored(phase) },
    { title: 'NSU', value: ({ ultNsu }) => String(BigInt(ultNsu)), right: true },
    { title: 'LAG', value: ({ lag }) => String(lag), right: true },
    { title: 'DOCUMENTS', value: ({ documents }) => String(documents), right: true },
    { title: 'LAST', value: ({ lastStatusCode }) => lastStatusCode ?? '–', right: true },
    { title: 'NEXT QUERY', value: ({ nextQueryAt }) => localTime(nextQueryAt) },
    { title: 'WHY', value: why },
  ];
  return table(columns, rows);
}

/**
 * Shows the captures again whenever something changed, until Ctrl-C: on a terminal in place, elsewhere (and as JSON) one
 * line per change.
 */
export async function watchCaptures(
  read: () => Promise<readonly Capture[]>,
  names: CompanyNames,
  asJson: boolean,
): Promise<void> {
  const end = new AbortController();
  const stop = () => end.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const shown = asJson ? new Changes(printJson) : process.stdout.isTTY ? new Screen(names) : new ChangedLines(names);
  while (!end.signal.aborted) {
    await shown.show(await read());
    await delay(ASK_EVERY_MS, undefined, { signal: end.signal }).catch(() => {});
  }
}

/** Tells each capture again when it is not as it was. */
class Changes {
  readonly #before = new Map<string, string>();

  constructor(private readonly tell: (capture: Capture) => void) {}

  async show(rows: readonly Capture[]): Promise<void> {
    for (const row of rows) {
      const key = `${row.companyId}/${row.documentType}/${row.environment}`;
      const now = JSON.stringify(row);
      if (this.#before.get(key) !== now) this.tell(row);
      this.#before.set(key, now);
    }
  }
}

/** One line per change, for files and pipes. */
class ChangedLines extends Changes {
  constructor(private readonly names: CompanyNames) {
    super((row) =>
      print(
        `${localTime(new Date().toISOString())}  ${names.of(row.companyId)}  ${row.documentType}  ${row.phase}  ` +
          `NSU ${BigInt(row.ultNsu)} of ${BigInt(row.maxNsu)}  ${row.documents} documents  ${row.reason}`,
      ),
    );
  }

  override async show(rows: readonly Capture[]): Promise<void> {
    await this.names.learn(rows.map(({ companyId }) => companyId));
    await super.show(rows);
  }
}

/** The table, written over itself. */
class Screen {
  #height = 0;

  constructor(private readonly names: CompanyNames) {}

  async show(rows: readonly Capture[]): Promise<void> {
    const time = colors.dim(`${localTime(new Date().toISOString())} · Ctrl-C ends`);
    const all = [
      ...(await captureLines(rows, this.names)),
      ...rows.filter(isBehind).map((row) => this.#bar(row)),
      time,
    ];
    // More lines than the terminal has cannot be written over.
    const lines = all.slice(0, Math.max(2, (process.stdout.rows || USUAL_HEIGHT) - 1));
    if (this.#height > 0) process.stdout.write(`\x1b[${this.#height}A\x1b[0J`);
    for (const line of lines) print(line);
    this.#height = lines.length;
  }

  #bar({ companyId, ultNsu, maxNsu }: Capture): string {
    const share = Number(ultNsu) / Math.max(Number(maxNsu), 1);
    const width = 30;
    const done = Math.round(share * width);
    const bar = colors.green('━'.repeat(done)) + colors.dim('━'.repeat(width - done));
    return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${this.names.of(companyId)}`;
  }
}

function isBehind({ enabled, lag }: Capture): boolean {
  return enabled && lag > 0;
}

/** What a person wants to know first: what is wrong, else why it is where it is. */
function why({ reason, gaps, failedItems }: Capture): string {
  const pending = gaps.pending ?? 0;
  return [
    reason,
    ...(pending > 0 ? [`${pending} numbers missing`] : []),
    ...(failedItems > 0 ? [`${failedItems} unreadable`] : []),
  ].join(', ');
}

/** A phase, red where a person has to act. */
export function colored(phase: string): string {
  if (['attention', 'disabled', 'certificate'].includes(phase)) return colors.red(phase);
  if (['blocked', 'paused', 'backing-off', 'handing-over'].includes(phase)) return colors.yellow(phase);
  return phase === 'stopped' ? colors.dim(phase) : colors.green(phase);
}
