import type { Environment } from '../../model/words.js';
import type { Journal } from '../journal.js';
import type { QueueRegistry } from '../queues/registry.js';
import type { Rule, Timing } from '../rules/state.js';
import { replacement } from '../scripts/replace.js';
import type { ScriptedAnswer } from '../scripts/scripted-answer.js';
import type { Scripts } from '../scripts/scripts.js';
import { wireFault } from '../scripts/wire-fault.js';
import type { Outage } from '../server/outage.js';
import type { GovernmentService, ServiceAnswer, ServiceCall } from '../server/service.js';
import { readSoapRequest, type SoapVersion, soapContentType, soapEnvelope, soapFault } from '../soap/envelope.js';
import type { AnsweredEvent, EventDialect, EventRequest, EventVerdict } from './dialect.js';
import { textsOf } from './form.js';
import { type EventMemory, registeredDetail } from './memory.js';
import type { SignatureJudge } from './signature.js';

/** Above this many bytes a message is refused (214). */
const LARGEST_MESSAGE = 512_000;
/** So many identical rejections of one event within an hour are misuse (NT 2018.002). */
const IDENTICAL_REJECTIONS = 20;
/** What every reception of events shares. */
export interface EventContext {
  readonly registry: QueueRegistry;
  readonly scripts: Scripts;
  readonly journal: Journal;
  readonly memory: EventMemory;
  readonly signatures: SignatureJudge;
  readonly timing: Timing;
  readonly outage: () => Outage | null;
  /** Told of every event that is registered. */
  readonly onRegistered?: (event: EventRequest, environment: Environment) => void;
  /** A second opinion about the form of every request, e.g. the official schemas: what is wrong with it, or null. */
  readonly inspect?: ((request: string) => string | null) | undefined;
}

interface Answered extends AnsweredEvent {
  readonly rule: Rule | null;
  readonly detail: string | null;
}

/** A service that registers events: what it is asked is read, judged and answered in the words of its dialect. */
export class EventReception implements GovernmentService {
  readonly name: string;
  readonly path: string;

  constructor(
    private readonly dialect: EventDialect,
    private readonly context: EventContext,
  ) {
    this.name = dialect.name;
    this.path = dialect.path;
  }

  refused({ environment, at, httpStatus, identity, why }: Parameters<GovernmentService['refused']>[0]): void {
    const outage = why.startsWith('outage') ? why : null;
    this.journal({ environment, at, identity }, { kind: 'refused', httpStatus, detail: why, scripted: outage });
  }

  answer(call: ServiceCall): ServiceAnswer {
    const soap = readSoapRequest(this.dialect.operation, call, call.body);
    if (!soap.ok) {
      this.journal(call, { kind: 'unreadable', httpStatus: soap.httpStatus, rule: 'schema', detail: soap.reason });
      const body = Buffer.from(soapFault(soap.version, 'sender', soap.reason));
      return { httpStatus: soap.httpStatus, contentType: soapContentType(soap.version), body, wire: null };
    }
    const text = call.body.toString('utf8');
    const refuse = (cStat: string, detail: string, author: string | null, rule: Rule | null = 'schema') =>
      this.refuse(call, soap.version, { cStat, detail, author, rule });
    if (call.body.length > LARGEST_MESSAGE) return refuse('214', `${call.body.length} bytes`, null);
    if (soap.encodingFault !== null) return refuse('402', soap.encodingFault, null);
    const read = this.dialect.read(soap.data, text);
    if (!read.ok) return refuse(read.cStat, read.detail, read.author);
    const author = read.events[0]?.author ?? null;
    if (read.events.length > this.dialect.most) return refuse('215', `${read.events.length} events`, author);
    const inspected = this.context.inspect?.(textsOf(this.dialect.root, text)[0] ?? '') ?? null;
    if (inspected !== null) return refuse('215', inspected, author);
    const outage = this.context.outage();
    if (outage === '108' || outage === '109') return refuse(outage, `outage ${outage}`, author, null);
    return this.serve(call, soap.version, read.lot, read.events);
  }

  private serve(call: ServiceCall, version: SoapVersion, lot: string, events: readonly EventRequest[]): ServiceAnswer {
    const { environment, at } = call;
    const { documentType, kind } = this.dialect;
    const taxId = events[0]?.author ?? '';
    const script = this.context.scripts.take({ documentType, taxId, environment, kind });
    const instead = replacement(script, version);
    if (instead?.type === 'status') {
      return this.write(call, version, { lot, cStat: instead.cStat, text: instead.text, answered: [] }, script, events);
    }
    if (instead?.type === 'http') {
      for (const event of events)
        this.journalEvent(call, event, { httpStatus: instead.answer.httpStatus, scripted: script?.type ?? null });
      return instead.answer;
    }
    const answered = events.flatMap((event) => this.decide(event, { environment, at }, script));
    return this.write(call, version, { lot, cStat: '128', text: this.dialect.text('128'), answered }, script, events);
  }

  /** Judges one event and remembers what follows. Empty: the answer says nothing about it. */
  private decide(
    event: EventRequest,
    { environment, at }: { environment: Environment; at: number },
    script: ScriptedAnswer | null,
  ): Answered[] {
    const { memory, registry, signatures, timing } = this.context;
    const scripted = script?.type === 'event_status' && (script.key ?? event.key) === event.key ? script : null;
    if (scripted?.cStat === null) return [];
    const own = this.dialect.judge(event, { environment, at, registry, memory, signatures });
    let verdict: EventVerdict = scripted?.cStat ? { ...own, cStat: scripted.cStat } : own;
    if (!this.dialect.registered.has(verdict.cStat)) {
      const times = memory.rejectedAgain(`${environment}/${event.id}`, verdict.cStat, at, timing.hour);
      if (times > IDENTICAL_REJECTIONS)
        verdict = {
          cStat: this.dialect.misuse,
          rule: 'event_misuse',
          detail: `rejected ${times} times within an hour`,
        };
      const text = scripted?.text ?? this.dialect.text(verdict.cStat, event, { environment, memory });
      return [{ event, protocol: null, text, ...verdict }];
    }
    const protocol = memory.nextProtocol(this.dialect.protocolPrefix(event), at);
    const { id, author, key, type, sequence } = event;
    memory.add({ id, environment, author, key, type, sequence, cStat: verdict.cStat, protocol, at });
    this.context.onRegistered?.(event, environment);
    const { cStat, rule } = verdict;
    return [
      {
        event,
        cStat,
        protocol,
        text: scripted?.text ?? this.dialect.text(cStat),
        rule,
        detail: registeredDetail(protocol),
      },
    ];
  }

  private refuse(
    call: ServiceCall,
    version: SoapVersion,
    { cStat, detail, author, rule }: { cStat: string; detail: string; author: string | null; rule: Rule | null },
  ): ServiceAnswer {
    this.journal(call, { kind: this.dialect.kind, taxId: author, cStat, rule, detail });
    return this.http(call, version, { lot: '0', cStat, text: this.dialect.text(cStat), answered: [] }, null);
  }

  private write(
    call: ServiceCall,
    version: SoapVersion,
    answer: { lot: string; cStat: string; text: string; answered: readonly Answered[] },
    script: ScriptedAnswer | null,
    events: readonly EventRequest[],
  ): ServiceAnswer {
    const scripted = script?.type ?? null;
    for (const event of events) {
      const said = answer.answered.find((each) => each.event === event);
      const { cStat = answer.cStat === '128' ? null : answer.cStat, rule = null, detail = null } = said ?? {};
      this.journalEvent(call, event, { cStat, rule, detail, scripted, documents: said?.protocol ? 1 : 0 });
    }
    return this.http(call, version, answer, script);
  }

  private http(
    call: ServiceCall,
    version: SoapVersion,
    { lot, cStat, text, answered }: { lot: string; cStat: string; text: string; answered: readonly Answered[] },
    script: ScriptedAnswer | null,
  ): ServiceAnswer {
    const environmentCode = call.environment === 'production' ? '1' : '2';
    const xml = this.dialect.write({
      lot,
      environmentCode,
      cStat,
      text,
      answeredAt: call.at,
      events: answered,
    });
    const body = Buffer.from(soapEnvelope(version, xml));
    return { httpStatus: 200, contentType: soapContentType(version), body, wire: wireFault(script) };
  }

  /** One line for each event, because each has its own end. */
  private journalEvent(call: ServiceCall, event: EventRequest, said: Partial<Parameters<Journal['add']>[0]>): void {
    this.journal(call, { kind: this.dialect.kind, taxId: event.author, asked: event.id, ...said });
  }

  private journal(
    { environment, at, identity }: { environment: Environment; at: number; identity: ServiceCall['identity'] | null },
    said: Partial<Parameters<Journal['add']>[0]> & { kind: string },
  ): void {
    this.context.journal.add({
      time: new Date(at).toISOString(),
      service: this.name,
      environment,
      taxId: null,
      asked: null,
      httpStatus: 200,
      cStat: null,
      ultNsu: null,
      maxNsu: null,
      documents: 0,
      rule: null,
      detail: null,
      scripted: null,
      certificate: identity?.taxId ?? null,
      ...said,
    });
  }
}
