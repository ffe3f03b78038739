import { taxIdRoot } from '../../documents/tax-id.js';
import type { Environment } from '../../model/words.js';
import type { SimulatorClock } from '../clock.js';
import type { SignatureJudge } from '../events/signature.js';
import type { Journal } from '../journal.js';
import type { Rule, RulePolicy } from '../rules/state.js';
import type { ScriptedAnswer } from '../scripts/scripted-answer.js';
import type { Scripts } from '../scripts/scripts.js';
import { wireFault } from '../scripts/wire-fault.js';
import { adnAnswer, adnRejection } from './answers.js';
import type { BoxItem } from './box.js';
import type { Boxes } from './boxes.js';
import { page, type RestAnswer, type RestCall, tooMany } from './rest.js';
import { pageChange, replacement } from './scripted.js';
import { Sefin } from './sefin.js';

/** Calls of one certificate closer together are refused with 429; operators saw 0.5 s refused and 1 s taken. */
const LEAST_PAUSE_MS = 1_000;
/** After "none found" the manual asks for an hour. */
const EMPTY_MS = 3_600_000;

/** What ADN and Sefin share with the rest of the simulator. */
export interface NfseOptions {
  readonly clock: SimulatorClock;
  readonly journal: Journal;
  readonly scripts: Scripts;
  readonly boxes: Boxes;
  readonly signatures: SignatureJudge;
  readonly policy: () => RulePolicy;
  /** Divides the hour and the pause. */
  readonly timeScale: number;
  /** See {@link Sefin}. */
  readonly inspect?: ((pedRegEvento: string) => string | null) | undefined;
}

/** What stands in an address: which operation, and what it is asked about. */
interface Target {
  readonly service: 'nfse-adn' | 'nfse-sefin';
  readonly kind: (typeof ROUTES)[number][1];
  /** NSU or key. */
  readonly asked: string;
  /** Of an event that is read. */
  readonly type: string;
  readonly sequence: number;
  /** Whose documents; null: no certificate says so. */
  readonly taxId: string | null;
  /** One number instead of a page. */
  readonly single: boolean;
}

const ROUTES = [
  ['nfse-adn', 'DFe', 'GET', /^\/contribuintes\/DFe\/([0-9]+)$/],
  ['nfse-adn', 'Eventos', 'GET', /^\/contribuintes\/NFSe\/([0-9A-Z]{50})\/Eventos$/],
  ['nfse-sefin', 'nfse', 'GET', /^\/SefinNacional\/nfse\/([^/]+)$/],
  ['nfse-sefin', 'nfseEvento', 'POST', /^\/SefinNacional\/nfse\/([^/]+)\/eventos$/],
  ['nfse-sefin', 'nfseEventoLido', 'GET', /^\/SefinNacional\/nfse\/([^/]+)\/eventos\/([0-9]{6})\/([0-9]+)$/],
] as const;

/** An answer with what the journal says of it. */
interface End {
  readonly answer: RestAnswer;
  readonly code?: string;
  readonly rule?: Rule | null;
  readonly detail?: string;
  readonly items?: readonly BoxItem[];
  readonly documents?: number;
}

/**
 * The NFS-e hosts: ADN (distribution, events of a note) and Sefin Nacional (notes by key, registration of events), with the oddities that
 * were seen of them (contract sections 1.3 to 1.6, 2.2).
 */
export class NfseGovernment {
  readonly #lastCalls = new Map<string, number>();
  readonly #sefin: Sefin;

  constructor(private readonly options: NfseOptions) {
    this.#sefin = new Sefin(options);
  }

  /** Forgets who called when. */
  clear(): void {
    this.#lastCalls.clear();
  }

  /** A call that the front refused, or never answered. */
  refused(call: RestCall, status: number, why: string): RestAnswer {
    return this.#end(call, readTarget(call), { answer: page(status, 'Service Unavailable') }, why);
  }

  answer(call: RestCall): RestAnswer {
    const { environment } = call;
    const target = readTarget(call);
    const script =
      target === null || target.taxId === null
        ? null
        : this.options.scripts.take({ documentType: 'nfse', taxId: target.taxId, environment, kind: target.kind });
    const instead = target && replacement(script, target.service, environment, this.#now);
    const { answer, ...said } = instead ? { answer: instead } : this.#real(call, target, script);
    const wire = instead?.wire ?? wireFault(script);
    return this.#end(call, target, { ...said, answer: { ...answer, wire } }, script?.type ?? null);
  }

  get #now(): number {
    return this.options.clock.now();
  }

  #real(call: RestCall, target: Target | null, script: ScriptedAnswer | null): End {
    const { identity, environment } = call;
    const at = this.#now;
    if (identity === null) return { answer: page(496, 'SSL Certificate Required') };
    if (at < identity.notBefore || at > identity.notAfter) return { answer: page(403, 'Forbidden') };
    if (target === null || target.taxId === null) return { answer: page(404, 'Not Found') };
    const holder = identity.taxId ?? '';
    if (this.#isTooSoon(`${environment}/${holder}`, at)) {
      return { answer: tooMany(), rule: 'early', detail: 'two calls of one certificate within a second' };
    }
    if (taxIdRoot(target.taxId) !== taxIdRoot(holder)) {
      return { answer: adnRejection(environment, at, 'E2242'), code: 'E2242', rule: 'certificate_root' };
    }
    const asked = { key: target.asked, environment, holder, at };
    switch (target.kind) {
      case 'nfse':
        return this.#sefin.note(asked);
      case 'nfseEvento':
        return this.#sefin.register(asked, call.body);
      case 'nfseEventoLido':
        return this.#sefin.event(asked, target.type, target.sequence);
      case 'Eventos':
        return this.#eventsOf(target, environment, at);
      case 'DFe':
        return this.#page({ ...target, taxId: target.taxId }, environment, at, script);
    }
  }

  #eventsOf({ asked }: Target, environment: Environment, at: number): End {
    const items = this.options.boxes.about(asked, environment).filter(({ type }) => type === 'EVENTO');
    const answer = adnAnswer(
      environment,
      at,
      items.map((item) => ({ ...item, nsu: null })),
    );
    return { answer, documents: items.length };
  }

  #page(
    { taxId, asked, single }: Target & { readonly taxId: string },
    environment: Environment,
    at: number,
    script: ScriptedAnswer | null,
  ): End {
    const { boxes, timeScale, policy } = this.options;
    const box = boxes.of({ taxId, environment });
    const { toldEmptyAt, reach } = box.state;
    const early = toldEmptyAt !== null && at < toldEmptyAt + EMPTY_MS / timeScale;
    const nsu = Number(asked);
    const { size, ...change } = pageChange(script);
    const inclusive = policy().adnRepeatsStart;
    const items = single ? box.items.filter((item) => item.nsu === nsu) : box.after(nsu, { inclusive, size });
    const given = Math.max(reach, items.at(-1)?.nsu ?? 0);
    const state = { toldEmptyAt: items.length === 0 && !single ? at : toldEmptyAt, reach: given };
    if (state.toldEmptyAt !== toldEmptyAt || state.reach !== reach) boxes.change(box, { state });
    return {
      answer: adnAnswer(environment, at, items, change),
      items,
      ...(early ? { rule: 'early', detail: 'within an hour after none was found' } : {}),
    };
  }

  #isTooSoon(certificate: string, at: number): boolean {
    const last = this.#lastCalls.get(certificate);
    this.#lastCalls.set(certificate, at);
    return last !== undefined && at >= last && at - last < LEAST_PAUSE_MS / this.options.timeScale;
  }

  #end(call: RestCall, target: Target | null, end: End, scripted: string | null): RestAnswer {
    const { answer, code, rule, detail, items = [], documents } = end;
    this.options.journal.add({
      time: new Date(this.#now).toISOString(),
      service: target?.service ?? 'nfse-adn',
      environment: call.environment,
      taxId: target?.taxId ?? call.identity?.taxId ?? null,
      kind: target?.kind ?? 'unknown',
      asked: target?.asked ?? null,
      httpStatus: answer.status,
      cStat: code ?? null,
      ultNsu: items.at(-1) ? String(items.at(-1)?.nsu) : null,
      maxNsu: null,
      documents: documents ?? items.length,
      rule: rule ?? null,
      detail: detail ?? null,
      scripted,
      certificate: call.identity?.taxId ?? null,
    });
    return answer;
  }
}

/** Null: nothing has this address. */
function readTarget({ url, method, identity }: RestCall): Target | null {
  const { pathname, searchParams } = new URL(url, 'https://localhost');
  for (const [service, kind, wanted, pattern] of ROUTES) {
    const match = pattern.exec(pathname);
    if (!match || method !== wanted) continue;
    const [, asked = '', type = '', sequence = ''] = match;
    const taxId = searchParams.get('cnpjConsulta') ?? identity?.taxId ?? null;
    const single = searchParams.get('lote') === 'false';
    return { service, kind, asked, type, sequence: Number(sequence), taxId, single };
  }
  return null;
}
