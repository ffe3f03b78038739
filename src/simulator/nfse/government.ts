import { taxIdRoot } from '../../documents/tax-id.js';
import type { Environment } from '../../model/words.js';
import type { SimulatorClock } from '../clock.js';
import type { Journal } from '../journal.js';
import type { Rule } from '../rules/state.js';
import type { ClientIdentity } from '../server/client-identity.js';
import { type AdnDocument, adnAnswer, sefinNote } from './answers.js';
import { type Arrivals, Box, type BoxItem } from './box.js';

/** An answer of the NFS-e hosts. */
export interface RestAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** "The next `count` calls get this answer." Null: until it is taken away. */
export interface RestScript {
  readonly answer: RestAnswer;
  readonly count: number | null;
}

export interface RestCall {
  readonly method: string;
  /** Path and query below the environment. */
  readonly url: string;
  readonly environment: Environment;
  /** Null: no certificate of the authority came. */
  readonly identity: ClientIdentity | null;
}

/** Calls of one certificate closer together are refused with 429; operators saw 0.5 s refused and 1 s taken. */
const LEAST_PAUSE_MS = 1_000;
/** After "none found" the manual asks for an hour. */
const EMPTY_MS = 3_600_000;

const HTML = 'text/html; charset=utf-8';
/** Without Retry-After, as it came 13 times of 13. */
export const TOO_MANY: RestAnswer = { status: 429, contentType: HTML, body: '<h1>429 Too Many Requests</h1>' };

export interface NfseOptions {
  readonly clock: SimulatorClock;
  readonly journal: Journal;
  /** Divides the hour and the pause. */
  readonly timeScale: number;
}

/**
 * The NFS-e hosts: ADN (distribution, events of a note) and Sefin Nacional (notes by key), with the oddities that were seen of them
 * (contract sections 1.3 to 1.6, 2.2). In memory only: a simulator that is started again begins with empty boxes.
 */
export class NfseGovernment {
  /** The start number comes again at the head of its page, as two operators report. */
  repeatsStart = false;
  /** What every call gets instead of its answer. */
  #scripts: RestScript[] = [];
  readonly #boxes = new Map<string, Box>();
  readonly #lastCalls = new Map<string, number>();

  constructor(private readonly options: NfseOptions) {}

  /** The box of a tax ID, made empty if need be. */
  box(taxId: string, environment: Environment = 'homologation'): Box {
    const name = `${environment}/${taxId}`;
    const box = this.#boxes.get(name) ?? new Box(taxId, environment);
    this.#boxes.set(name, box);
    return box;
  }

  arrive(taxId: string, arrivals: Omit<Arrivals, 'at'> & { readonly at?: number }): Box {
    const box = this.box(taxId);
    box.arrive({ at: this.options.clock.now(), ...arrivals });
    return box;
  }

  script(answer: RestAnswer, count: number | null = 1): void {
    this.#scripts.push({ answer, count });
  }

  /** Takes all scripts away. */
  clearScripts(): void {
    this.#scripts = [];
  }

  clear(): void {
    this.clearScripts();
    this.#boxes.clear();
    this.#lastCalls.clear();
    this.repeatsStart = false;
  }

  answer(call: RestCall): RestAnswer {
    const at = this.options.clock.now();
    const url = new URL(call.url, 'https://localhost');
    const dfe = /^\/contribuintes\/DFe\/([0-9]+)$/.exec(url.pathname);
    const events = /^\/contribuintes\/NFSe\/([0-9A-Z]{50})\/Eventos$/.exec(url.pathname);
    const note = /^\/SefinNacional\/nfse\/([^/]+)$/.exec(url.pathname);
    const service = note ? 'nfse-sefin' : 'nfse-adn';
    const asked = dfe?.[1] ?? events?.[1] ?? note?.[1] ?? null;
    const kind = dfe ? 'DFe' : events ? 'Eventos' : note ? 'nfse' : 'unknown';
    const taxId = url.searchParams.get('cnpjConsulta') ?? call.identity?.taxId ?? null;
    const end = (
      answer: RestAnswer,
      more: { rule?: Rule; detail?: string; items?: readonly BoxItem[]; scripted?: string } = {},
    ) => {
      const items = more.items ?? [];
      this.options.journal.add({
        time: new Date(at).toISOString(),
        service,
        environment: call.environment,
        taxId,
        kind,
        asked,
        httpStatus: answer.status,
        cStat: null,
        ultNsu: items.at(-1) ? String(items.at(-1)?.nsu) : null,
        maxNsu: null,
        documents: items.length,
        rule: more.rule ?? null,
        detail: more.detail ?? null,
        scripted: more.scripted ?? null,
        certificate: call.identity?.taxId ?? null,
      });
      return answer;
    };

    const scripted = this.#takeScript();
    if (scripted) return end(scripted, { scripted: `${scripted.status}` });
    if (call.identity === null) return end(page(496, 'SSL Certificate Required'));
    if (!isValidAt(call.identity, at)) return end(page(403, 'Forbidden'));
    if (call.method !== 'GET' || taxId === null || asked === null) return end(page(404, 'Not Found'));
    const holder = call.identity.taxId ?? '';
    const tooSoon = this.#isTooSoon(`${call.environment}/${holder}`, at);
    if (tooSoon) return end(TOO_MANY, { rule: 'early', detail: 'two calls of one certificate within a second' });
    if (taxIdRoot(taxId) !== taxIdRoot(holder)) {
      return end(adnAnswer(call.environment, at, { rejection: 'E2242' }), { rule: 'certificate_root' });
    }

    if (note) return end(this.#note(asked, holder, call.environment, at));
    if (events) return end(this.#events(asked, call.environment, at));
    const box = this.box(taxId, call.environment);
    const early = box.toldEmptyAt !== null && at < box.toldEmptyAt + EMPTY_MS / this.options.timeScale;
    const broken = early ? { rule: 'early' as const, detail: 'within an hour after none was found' } : {};
    const single = url.searchParams.get('lote') === 'false';
    const nsu = Number(asked);
    const items = single
      ? box.items.filter((item) => item.nsu === nsu)
      : box.after(nsu, { inclusive: this.repeatsStart });
    if (items.length === 0 && !single) box.toldEmptyAt = at;
    const answer = adnAnswer(call.environment, at, { documents: items.map(adnDocument) });
    return end(answer, { ...broken, items });
  }

  #takeScript(): RestAnswer | null {
    const [first, ...others] = this.#scripts;
    if (!first) return null;
    if (first.count !== null)
      this.#scripts = first.count > 1 ? [{ ...first, count: first.count - 1 }, ...others] : others;
    return first.answer;
  }

  #isTooSoon(certificate: string, at: number): boolean {
    const last = this.#lastCalls.get(certificate);
    this.#lastCalls.set(certificate, at);
    return last !== undefined && at >= last && at - last < LEAST_PAUSE_MS / this.options.timeScale;
  }

  #events(key: string, environment: Environment, at: number): RestAnswer {
    const found = this.#items(environment).filter((item) => item.type === 'EVENTO' && item.key === key);
    return adnAnswer(environment, at, { documents: found.map((item) => ({ ...adnDocument(item), nsu: null })) });
  }

  #note(key: string, holder: string, environment: Environment, at: number): RestAnswer {
    if (key.length !== 50) return sefinError(400, 'E0001', 'Chave de acesso inválida');
    const note = this.#items(environment).find((item) => item.type === 'NFSE' && item.key === key);
    if (!note) return sefinError(404, 'E2240', 'NFS-e não encontrada');
    if (!note.xml.includes(`>${taxIdRoot(holder)}`)) return sefinError(403, 'E2241', 'Não é ator da NFS-e');
    return sefinNote(environment, at, key, note.xml);
  }

  #items(environment: Environment): BoxItem[] {
    const items = [...this.#boxes.values()]
      .filter((box) => box.environment === environment)
      .flatMap((box) => box.items);
    return [...new Map(items.map((item) => [item.xml, item])).values()];
  }
}

function adnDocument({ nsu, type, key, xml, at }: BoxItem): AdnDocument {
  return { nsu, type, key, xml, at };
}

function sefinError(status: number, codigo: string, descricao: string): RestAnswer {
  // `erro` is a list here and an object in the specification.
  return { status, contentType: 'application/json', body: JSON.stringify({ erro: [{ codigo, descricao }] }) };
}

function page(status: number, title: string): RestAnswer {
  return { status, contentType: HTML, body: `<html><head><title>${status} ${title}</title></head></html>` };
}

function isValidAt({ notBefore, notAfter }: ClientIdentity, at: number): boolean {
  return at >= notBefore && at <= notAfter;
}
