import type { NfeAuthority } from '../../model/manifestation.js';
import type { Environment } from '../../model/words.js';
import type { Journal } from '../journal.js';
import type { QueueRegistry } from '../queues/registry.js';
import type { Rule, RulePolicy, Timing } from '../rules/state.js';
import { replacement } from '../scripts/replace.js';
import type { ScriptedAnswer } from '../scripts/scripted-answer.js';
import type { Scripts } from '../scripts/scripts.js';
import { wireFault } from '../scripts/wire-fault.js';
import type { Outage } from '../server/outage.js';
import type { GovernmentService, ServiceAnswer, ServiceCall } from '../server/service.js';
import {
  readSoapRequest,
  type SoapOperation,
  type SoapVersion,
  soapContentType,
  soapEnvelope,
  soapFault,
} from '../soap/envelope.js';
import { type AnsweredEvent, eventStatusText, writeEventsAnswer } from './answer.js';
import { type EventVerdict, judgeEvent } from './judge.js';
import { EVENT_CALL, type EventMemory, registeredDetail } from './memory.js';
import { type EventRequest, readEvents } from './request.js';
import type { SignatureJudge } from './signature.js';

const WSDL = 'http://www.portalfiscal.inf.br/nfe/wsdl/NFeRecepcaoEvento4';
const OPERATION: SoapOperation = {
  namespace: WSDL,
  action: `${WSDL}/nfeRecepcaoEventoNF`,
  // No wrapper of the operation, unlike in distribution.
  path: ['nfeDadosMsg'],
};

/** Above this many bytes a message is refused (214). */
const LARGEST_MESSAGE = 512_000;
/** So many identical rejections of one event within an hour are misuse (NT 2018.002). */
const IDENTICAL_REJECTIONS = 20;
const REGISTERED: ReadonlySet<string> = new Set(['135', '136', '155']);
/** What brings the recipient the whole note (nfe-cte.md 1a). */
const RELEASES: ReadonlySet<string> = new Set(['210200', '210210', '210240']);

/** What tells the two services from each other. */
interface Site {
  readonly name: string;
  readonly path: string;
  readonly organ: string;
  readonly wrapper: string;
  readonly most: number;
}

export const SITES: Readonly<Record<NfeAuthority, Site>> = {
  an: {
    name: 'nfe-event',
    path: '/NFeRecepcaoEvento4/NFeRecepcaoEvento4.asmx',
    organ: '91',
    wrapper: 'nfeRecepcaoEventoNFResult',
    most: 20,
  },
  svrs: {
    name: 'nfe-event-svrs',
    path: '/ws/recepcaoevento/recepcaoevento4.asmx',
    organ: '92',
    wrapper: 'nfeResultMsg',
    most: 1,
  },
};

export interface EventContext {
  readonly registry: QueueRegistry;
  readonly scripts: Scripts;
  readonly journal: Journal;
  readonly memory: EventMemory;
  readonly signatures: SignatureJudge;
  readonly timing: Timing;
  readonly policy: () => RulePolicy;
  readonly outage: () => Outage | null;
  /** Gives the whole note under a new number. */
  readonly release: (taxId: string, environment: Environment, key: string) => void;
  /** A second opinion about the form of every request, e.g. the official schemas: what is wrong with it, or null. */
  readonly inspect?: ((envEvento: string) => string | null) | undefined;
}

interface Answered extends AnsweredEvent {
  readonly rule: Rule | null;
  readonly detail: string | null;
}

/** NFeRecepcaoEvento4 of the national environment, or of SVRS: NT 2020.001 and NT 2025.002, layout 1.00. */
export class NfeEventService implements GovernmentService {
  readonly name: string;
  readonly path: string;
  private readonly site: Site;

  constructor(
    private readonly authority: NfeAuthority,
    private readonly context: EventContext,
  ) {
    this.site = SITES[authority];
    this.name = this.site.name;
    this.path = this.site.path;
  }

  refused({ environment, at, httpStatus, identity, why }: Parameters<GovernmentService['refused']>[0]): void {
    const outage = why.startsWith('outage') ? why : null;
    this.journal({ environment, at, identity }, { kind: 'refused', httpStatus, detail: why, scripted: outage });
  }

  answer(call: ServiceCall): ServiceAnswer {
    const soap = readSoapRequest(OPERATION, call, call.body);
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
    const read = readEvents(soap.data, text);
    if (!read.ok) return refuse(read.cStat, read.detail, read.author);
    const author = read.events[0]?.author ?? null;
    if (read.events.length > this.site.most) return refuse('215', `${read.events.length} events`, author);
    const inspected = this.context.inspect?.(/<envEvento[\s>][\s\S]*<\/envEvento>/.exec(text)?.[0] ?? '') ?? null;
    if (inspected !== null) return refuse('215', inspected, author);
    const outage = this.context.outage();
    if (outage === '108' || outage === '109') return refuse(outage, `outage ${outage}`, author, null);
    return this.serve(call, soap.version, read.lot, read.events);
  }

  private serve(call: ServiceCall, version: SoapVersion, lot: string, events: readonly EventRequest[]): ServiceAnswer {
    const { environment, at } = call;
    const taxId = events[0]?.author ?? '';
    const script = this.context.scripts.take({ documentType: 'nfe', taxId, environment, kind: EVENT_CALL });
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
    return this.write(call, version, { lot, cStat: '128', text: eventStatusText('128'), answered }, script, events);
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
    const own = judgeEvent(event, { authority: this.authority, environment, at, registry, memory, signatures });
    let verdict: EventVerdict = scripted?.cStat ? { ...own, cStat: scripted.cStat } : own;
    if (!REGISTERED.has(verdict.cStat)) {
      const times = memory.rejectedAgain(`${environment}/${event.id}`, verdict.cStat, at, timing.hour);
      if (times > IDENTICAL_REJECTIONS)
        verdict = { cStat: '656', rule: 'event_misuse', detail: `rejected ${times} times within an hour` };
      return [{ event, protocol: null, text: scripted?.text ?? eventStatusText(verdict.cStat), ...verdict }];
    }
    const protocol = memory.nextProtocol(this.authority, at);
    const { id, author, key, type, sequence } = event;
    memory.add({ id, environment, author, key, type, sequence, cStat: verdict.cStat, protocol, at });
    if (RELEASES.has(type) && this.context.policy().releasesWhole) this.release(environment, author, key);
    const { cStat, rule } = verdict;
    return [
      {
        event,
        cStat,
        protocol,
        text: scripted?.text ?? eventStatusText(cStat),
        rule,
        detail: registeredDetail(protocol),
      },
    ];
  }

  private release(environment: Environment, author: string, key: string): void {
    const found = this.context.registry.find('nfe', author, environment)?.notes?.findNote(key) ?? null;
    if (found !== null && !found.manifested) this.context.release(author, environment, key);
  }

  private refuse(
    call: ServiceCall,
    version: SoapVersion,
    { cStat, detail, author, rule }: { cStat: string; detail: string; author: string | null; rule: Rule | null },
  ): ServiceAnswer {
    this.journal(call, { kind: EVENT_CALL, taxId: author, cStat, rule, detail });
    return this.http(call, version, { lot: '0', cStat, text: eventStatusText(cStat), answered: [] }, null);
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
    const { organ, wrapper } = this.site;
    const environmentCode = call.environment === 'production' ? '1' : '2';
    const xml = writeEventsAnswer({
      wrapper,
      lot,
      environmentCode,
      organ,
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
    this.journal(call, { kind: EVENT_CALL, taxId: event.author, asked: event.id, ...said });
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
