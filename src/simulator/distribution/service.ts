import { taxIdRoot } from '../../documents/tax-id.js';
import { addNsu, type Nsu, ZERO_NSU } from '../../model/nsu.js';
import type { Environment } from '../../model/words.js';
import type { Journal, JournalEntry } from '../journal.js';
import type { Queue } from '../queues/queue.js';
import type { QueueRegistry } from '../queues/registry.js';
import {
  afterDistribution,
  afterPointQuery,
  blocked,
  judgeDistribution,
  judgePointQuery,
  unseen,
  type Verdict,
} from '../rules/judge.js';
import type { Rule, RulePolicy, Timing, UsageState } from '../rules/state.js';
import { MISUSE, statusText } from '../rules/texts.js';
import { alter } from '../scripts/alter.js';
import { replacement } from '../scripts/replace.js';
import type { ScriptedAnswer } from '../scripts/scripted-answer.js';
import type { Scripts } from '../scripts/scripts.js';
import type { Outage } from '../server/outage.js';
import type { GovernmentService, ServiceAnswer, ServiceCall } from '../server/service.js';
import { readSoapRequest, type SoapVersion, soapContentType, soapFault } from '../soap/envelope.js';
import type { DistributionAnswer } from './answer.js';
import type { Dialect } from './dialect.js';
import { type Found, findByKey, findByNsu, findPage, PAGE_SIZE } from './questions.js';
import { type DistributionRequest, readDistributionRequest, taxIdFault } from './request.js';
import { writeHttp } from './write.js';

/** Above this many bytes a message is refused (214). */
const LARGEST_MESSAGE = 10_240;

/** What every distribution service shares. */
export interface DistributionContext {
  readonly registry: QueueRegistry;
  readonly scripts: Scripts;
  readonly journal: Journal;
  readonly timing: Timing;
  readonly policy: () => RulePolicy;
  readonly outage: () => Outage | null;
}

/** What is known of a call while it is answered; becomes its journal entry. */
interface Case {
  readonly call: ServiceCall;
  readonly version: SoapVersion;
  taxId: string | null;
  kind: string;
  asked: string | null;
  rule: Rule | null;
  detail: string | null;
  scripted: string | null;
}

/** One distribution service of the national environment. */
export class Distribution implements GovernmentService {
  readonly name: string;
  readonly path: string;

  constructor(
    private readonly dialect: Dialect,
    private readonly context: DistributionContext,
  ) {
    this.name = dialect.name;
    this.path = dialect.path;
  }

  refused(call: Parameters<GovernmentService['refused']>[0]): void {
    const { environment, at, httpStatus, identity, why } = call;
    const nothing = { taxId: null, asked: null, cStat: null, ultNsu: null, maxNsu: null, documents: 0, rule: null };
    this.context.journal.add({
      ...nothing,
      time: new Date(at).toISOString(),
      service: this.name,
      environment,
      kind: 'refused',
      httpStatus,
      detail: why,
      scripted: why.startsWith('outage') ? why : null,
      certificate: identity?.taxId ?? null,
    });
  }

  answer(call: ServiceCall): ServiceAnswer {
    const soap = readSoapRequest(this.dialect.operation, call, call.body);
    const current: Case = {
      call,
      version: soap.version,
      taxId: null,
      kind: 'unreadable',
      asked: null,
      rule: null,
      detail: null,
      scripted: null,
    };
    if (!soap.ok) {
      const body = Buffer.from(soapFault(soap.version, 'sender', soap.reason));
      const answer = { httpStatus: soap.httpStatus, contentType: soapContentType(soap.version), body, wire: null };
      return this.close({ ...current, rule: 'schema', detail: soap.reason }, answer, null);
    }
    const broken = (cStat: string, detail: string) => this.reject({ ...current, rule: 'schema', detail }, cStat);
    if (call.body.length > LARGEST_MESSAGE) return broken('214', `${call.body.length} bytes`);
    if (soap.encodingFault !== null) return broken('402', soap.encodingFault);
    const read = readDistributionRequest(soap.data, this.dialect);
    current.taxId = read.ok ? read.request.taxId : read.taxId;
    if (!read.ok) return broken(read.cStat, read.detail);

    const { request } = read;
    current.kind = request.question.kind;
    current.asked = 'nsu' in request.question ? request.question.nsu : request.question.key;
    const outage = this.context.outage();
    if (outage === '108' || outage === '109') {
      return this.reject({ ...current, scripted: `outage ${outage}` }, outage);
    }
    const fault = this.holderFault(request, call);
    if (fault !== null) return this.reject({ ...current, ...fault }, fault.cStat);
    return this.serve(current, request);
  }

  /** Environment, tax ID and certificate: what makes a request wrong whatever it asks. */
  private holderFault(
    request: DistributionRequest,
    call: ServiceCall,
  ): { cStat: string; rule: Rule | null; detail: string } | null {
    const { taxId } = request;
    if (request.environmentCode !== (call.environment === 'production' ? '1' : '2')) {
      return {
        cStat: '252',
        rule: null,
        detail: `tpAmb ${request.environmentCode} at the address of ${call.environment}`,
      };
    }
    const wrong = taxIdFault(taxId);
    if (wrong !== null) return { cStat: wrong, rule: null, detail: 'check digits' };
    const holder = call.identity.taxId;
    if (holder === null) return { cStat: '473', rule: 'certificate_root', detail: 'certificate without a tax ID' };
    // A company's certificate serves all its branches; a person's only that person.
    if (taxIdRoot(holder) !== taxIdRoot(taxId)) {
      return {
        cStat: taxId.length === 11 ? '472' : '593',
        rule: 'certificate_root',
        detail: `certificate of ${holder}`,
      };
    }
    return null;
  }

  private serve(current: Case, request: DistributionRequest): ServiceAnswer {
    const { registry, scripts, timing } = this.context;
    const { question } = request;
    const environment: Environment = current.call.environment;
    const queue = registry.of(this.dialect.documentType, request.taxId, environment);
    const { documentType, manners } = this.dialect;
    const now = { at: current.call.at, timing, policy: this.context.policy(), manners };
    const script = scripts.take({ documentType, taxId: request.taxId, environment, kind: question.kind });
    current.scripted = script?.type ?? null;

    const verdict =
      question.kind === 'distNSU'
        ? judgeDistribution(queue.state, question.nsu, queue.maxNsu, now)
        : judgePointQuery(queue.state, now);
    current.rule = queue.inFlight > 0 ? 'concurrent' : verdict.rule;
    current.detail = queue.inFlight > 0 ? 'another call of this tax ID was in the air' : verdict.detail;

    const instead = replacement(script, current.version);
    if (instead?.type === 'http') return this.track(queue, null, this.close(current, instead.answer, null));
    if (instead?.type === 'status') {
      return this.track(queue, null, this.reject(current, instead.cStat, instead.text));
    }
    if (script?.type === 'misuse') return this.scriptedMisuse(current, queue, question, script.pointer, now);
    if (verdict.refusal !== null) return this.refuse(current, queue, question, verdict, script);

    let found: Found;
    let state: UsageState;
    if (question.kind === 'distNSU') {
      const page = findPage(queue, question.nsu, script?.type === 'page' ? script.size : PAGE_SIZE, now.at);
      const shown =
        script?.type === 'standstill'
          ? {
              ...page,
              cStat: '138',
              text: statusText('138'),
              ultNsu: question.nsu,
              items: script.empty ? [] : page.items,
            }
          : page;
      state = afterDistribution(
        queue.state,
        { askedFrom: question.nsu, ultNsu: shown.ultNsu, maxNsu: shown.maxNsu },
        now,
      );
      found = shown;
      registry.noteUse(queue, now.at);
    } else {
      found =
        question.kind === 'consNSU'
          ? findByNsu(queue, question.nsu, now.at)
          : findByKey(queue, question.key, registry, now.at);
      state = afterPointQuery(queue.state, found.items.length > 0, now);
    }
    return this.track(
      queue,
      state,
      this.write(current, found, script),
      question.kind === 'distNSU' ? question.nsu : undefined,
    );
  }

  private refuse(
    current: Case,
    queue: Queue,
    question: DistributionRequest['question'],
    verdict: Verdict,
    script: ScriptedAnswer | null,
  ): ServiceAnswer {
    const { cStat = '656', text = MISUSE.early, ultNsu = ZERO_NSU } = verdict.refusal ?? {};
    // NF-e, since v1.14: the pointer comes along, but only with distNSU; maxNSU stays zero.
    const tells = question.kind === 'distNSU' && this.dialect.refusalTellsPointer;
    const pointer = tells ? ultNsu : ZERO_NSU;
    const found = { cStat, text, ultNsu: pointer, maxNsu: ZERO_NSU, items: [] };
    const goesOnFrom = question.kind === 'distNSU' ? question.nsu : queue.state.pointer;
    return this.track(queue, verdict.state, this.write(current, found, script), goesOnFrom);
  }

  /** 656 for a reason that is not the caller's: another consumer took numbers, or the answer names an old pointer. */
  private scriptedMisuse(
    current: Case,
    queue: Queue,
    question: DistributionRequest['question'],
    offset: number,
    now: Parameters<typeof blocked>[1],
  ): ServiceAnswer {
    const kept: Nsu = queue.state.pointer ?? (question.kind === 'distNSU' ? question.nsu : ZERO_NSU);
    const named = queue.clamp(addNsu(kept, offset));
    const asking = question.kind === 'distNSU' ? 'pages' : 'points';
    const tells = asking === 'pages' && this.dialect.refusalTellsPointer;
    // Who is not told of another consumer goes on from where it was.
    const before = { ...queue.state, ...(offset > 0 && { pointer: named, ...(!tells && { excusedFrom: kept }) }) };
    const state = blocked({ ...before, pointer: before.pointer ?? kept }, now, asking);
    const ultNsu = tells ? named : ZERO_NSU;
    const found = { cStat: '656', text: MISUSE.wrongNsu, ultNsu, maxNsu: ZERO_NSU, items: [] };
    return this.track(queue, state, this.write(current, found, null));
  }

  private reject(current: Case, cStat: string, text = statusText(cStat)): ServiceAnswer {
    return this.write(current, { cStat, text, ultNsu: ZERO_NSU, maxNsu: ZERO_NSU, items: [] }, null);
  }

  private write(current: Case, found: Found, script: ScriptedAnswer | null): ServiceAnswer {
    const { environment, at } = current.call;
    const answer: DistributionAnswer = alter(
      { ...found, environmentCode: environment === 'production' ? '1' : '2', answeredAt: at },
      script,
    );
    return this.close(current, writeHttp(this.dialect, answer, current.version, script), answer);
  }

  /**
   * Remembers what the call changed, before the answer leaves, and watches until it has. `goesOnFrom`: where a client goes on that
   * does not get this answer; absent when it does not matter to it.
   */
  private track(queue: Queue, state: UsageState | null, answer: ServiceAnswer, goesOnFrom?: Nsu | null): ServiceAnswer {
    const { registry } = this.context;
    if (state !== null) {
      queue.state = state;
      registry.changed(queue, 'state');
    }
    queue.inFlight++;
    const over = (delivered: boolean) => {
      queue.inFlight--;
      if (delivered || goesOnFrom === undefined || state === null || queue.state !== state) return;
      queue.state = unseen(state, goesOnFrom);
      registry.changed(queue, 'state');
    };
    return { ...answer, over };
  }

  private close(current: Case, answer: ServiceAnswer, written: DistributionAnswer | null): ServiceAnswer {
    const { call } = current;
    const entry: Omit<JournalEntry, 'sequence'> = {
      time: new Date(call.at).toISOString(),
      service: this.name,
      environment: call.environment,
      taxId: current.taxId,
      kind: current.kind,
      asked: current.asked,
      httpStatus: answer.httpStatus,
      cStat: written?.cStat ?? null,
      ultNsu: written?.ultNsu ?? null,
      maxNsu: written?.maxNsu ?? null,
      documents: written?.items.length ?? 0,
      rule: current.rule,
      detail: current.detail,
      scripted: current.scripted,
      certificate: call.identity.taxId,
    };
    this.context.journal.add(entry);
    return answer;
  }
}
