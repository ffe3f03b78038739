import { X509Certificate } from 'node:crypto';
import type { DistributionService } from '../../src/activities/dependencies.js';
import { distributionService } from '../../src/activities/index.js';
import { governmentAddresses } from '../../src/government/addresses.js';
import { createNfeDistribution } from '../../src/government/nfe-distribution.js';
import { createNfeEvents, type NfeEvents } from '../../src/government/nfe-events.js';
import { type ClientCertificate, type Transport, TransportFailure } from '../../src/government/types.js';
import { holderAltNames } from '../../src/simulator/authority/alt-names.js';
import { createAuthority } from '../../src/simulator/authority/authority.js';
import { makeCertificate, newKeyPair } from '../../src/simulator/authority/certificate.js';
import { SimulatorClock } from '../../src/simulator/clock.js';
import { Companies } from '../../src/simulator/companies.js';
import { NFE } from '../../src/simulator/distribution/dialect.js';
import { Distribution } from '../../src/simulator/distribution/service.js';
import { EventMemory } from '../../src/simulator/events/memory.js';
import { EventReception } from '../../src/simulator/events/reception.js';
import { Journal } from '../../src/simulator/journal.js';
import { nfeEvents, RELEASES } from '../../src/simulator/nfe-events/nfe-events.js';
import { QueueRegistry } from '../../src/simulator/queues/registry.js';
import { timingOf, USUAL_POLICY } from '../../src/simulator/rules/state.js';
import { type ScriptedAnswerInput, scriptedAnswerSchema } from '../../src/simulator/scripts/scripted-answer.js';
import { type CallKind, Scripts } from '../../src/simulator/scripts/scripts.js';
import { identityOf } from '../../src/simulator/server/client-identity.js';
import type { Outage } from '../../src/simulator/server/outage.js';
import type { GovernmentService } from '../../src/simulator/server/service.js';
import type { SceneGovernment } from './capture-scene.js';

const DAY = 86_400_000;
/** One authority and one key for all: making a key takes longer than a sequence of calls. */
const { intermediate } = createAuthority().material;
const keys = newKeyPair();

const FORGETFUL = { queueDefined() {}, stateChanged() {}, queueRemoved() {}, called() {}, journalCleared() {} };

/**
 * The simulated government without its network: requests, rules, queues, journal and faults are the real ones, TLS and HTTP are left out.
 * Thousands of calls in the time of some dozens.
 */
export class InProcessGovernment implements SceneGovernment {
  readonly clock = new SimulatorClock();
  readonly journal = new Journal(FORGETFUL);
  readonly companies: Companies;
  readonly service: DistributionService;
  /** How we send events to it. */
  readonly eventService: NfeEvents;
  readonly events = new EventMemory();
  readonly requests: string[][] = [];
  readonly #scripts = new Scripts();
  readonly #distribution: Distribution;
  readonly #registrar: GovernmentService;
  #outage: Outage | null = null;

  constructor() {
    const registry = new QueueRegistry('model', FORGETFUL);
    const timing = timingOf(1);
    const policy = () => USUAL_POLICY;
    this.companies = new Companies(registry, this.clock, { seed: 'model', timing, policy });
    const context = {
      registry,
      scripts: this.#scripts,
      journal: this.journal,
      timing,
      policy,
      outage: () => this.#outage,
    };
    this.#distribution = new Distribution(NFE, context);
    this.#registrar = new EventReception(nfeEvents('an'), {
      ...context,
      memory: this.events,
      signatures: { issuers: [intermediate.certificatePem] },
      onRegistered: ({ type, author, key }, environment) => {
        if (RELEASES.has(type)) this.companies.releaseNote(author, environment, key);
      },
    });
    const transport: Transport = (request) => this.#exchange(request);
    const parts = { transport, addresses: governmentAddresses(null) };
    this.service = distributionService(createNfeDistribution(parts));
    this.eventService = createNfeEvents(parts);
  }

  /** A company's certificate, valid for a year of this government's time. */
  certificate(taxId: string): ClientCertificate {
    const now = this.clock.now();
    const chainPem = makeCertificate({
      commonName: `EMPRESA:${taxId}`,
      publicPem: keys.publicPem,
      notBefore: new Date(now - DAY),
      notAfter: new Date(now + 365 * DAY),
      signer: intermediate,
      usage: 'client',
      altNames: holderAltNames(taxId, 'octet'),
    });
    return { keyPem: keys.privatePem, chainPem, thumbprint: taxId };
  }

  setOutage(mode: Outage | null): void {
    this.#outage = mode;
  }

  /** The next call of the tax ID (of this kind, if one is named) is answered so. */
  script(answer: ScriptedAnswerInput, taxId: string, kind?: CallKind): void {
    const when = kind === undefined ? { taxId } : { taxId, kind };
    this.#scripts.add({ ...when, remaining: 1, answer: scriptedAnswerSchema.parse(answer) });
  }

  clearScripts(): void {
    this.#scripts.clear();
  }

  async #exchange(request: Parameters<Transport>[0]): ReturnType<Transport> {
    if (this.#outage === 'refuse') throw new TransportFailure('not_sent', 'connect ECONNREFUSED');
    try {
      request.beforeSend?.();
    } catch {
      throw new TransportFailure('not_sent', 'not sent');
    }
    const body = Buffer.from(request.body ?? []);
    const isOfEvents = request.url.endsWith(this.#registrar.path);
    if (isOfEvents) this.requests.push(body.toString('utf8').match(/<evento[\s>].*?<\/evento>/gs) ?? []);
    if (this.#outage === 'hang') throw new TransportFailure('unknown', 'time limit');
    const contentType = request.headers['content-type'] ?? '';
    const { wire, over, httpStatus, ...answer } = (isOfEvents ? this.#registrar : this.#distribution).answer({
      environment: 'homologation',
      identity: identityOf(new X509Certificate(request.certificate.chainPem)),
      contentType,
      soapAction: null,
      body,
      at: this.clock.now(),
    });
    over?.(wire === null);
    if (wire !== null) throw new TransportFailure('unknown', `connection ${wire.type}`);
    return { status: httpStatus, contentType: answer.contentType, headers: {}, body: answer.body };
  }
}
