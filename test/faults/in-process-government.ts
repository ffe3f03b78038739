import type { DistributionService } from '../../src/activities/dependencies.js';
import { distributionService } from '../../src/activities/index.js';
import { governmentAddresses } from '../../src/government/addresses.js';
import { createNfeDistribution } from '../../src/government/nfe-distribution.js';
import { type Transport, TransportFailure } from '../../src/government/types.js';
import { SimulatorClock } from '../../src/simulator/clock.js';
import { Companies } from '../../src/simulator/companies.js';
import { NFE } from '../../src/simulator/distribution/dialect.js';
import { Distribution } from '../../src/simulator/distribution/service.js';
import { Journal } from '../../src/simulator/journal.js';
import { QueueRegistry } from '../../src/simulator/queues/registry.js';
import { timingOf, USUAL_POLICY } from '../../src/simulator/rules/state.js';
import { type ScriptedAnswerInput, scriptedAnswerSchema } from '../../src/simulator/scripts/scripted-answer.js';
import { type CallKind, Scripts } from '../../src/simulator/scripts/scripts.js';
import type { Outage } from '../../src/simulator/server/outage.js';

const FORGETFUL = { queueDefined() {}, stateChanged() {}, queueRemoved() {}, called() {}, journalCleared() {} };

/**
 * The simulated government without its network: requests, rules, queues, journal and faults are the real ones, TLS and HTTP are left out.
 * Thousands of calls in the time of some dozens.
 */
export class InProcessGovernment {
  readonly clock = new SimulatorClock();
  readonly journal = new Journal(FORGETFUL);
  readonly companies: Companies;
  readonly service: DistributionService;
  readonly #scripts = new Scripts();
  readonly #distribution: Distribution;
  outage: Outage | null = null;

  constructor() {
    const registry = new QueueRegistry('model', FORGETFUL);
    const timing = timingOf(1);
    const policy = () => USUAL_POLICY;
    this.companies = new Companies(registry, this.clock, { seed: 'model', timing, policy });
    this.#distribution = new Distribution(NFE, {
      registry,
      scripts: this.#scripts,
      journal: this.journal,
      timing,
      policy,
      outage: () => this.outage,
    });
    const transport: Transport = (request) => this.#exchange(request);
    this.service = distributionService(createNfeDistribution({ transport, addresses: governmentAddresses(null) }));
  }

  /** The next call of the tax ID (of this kind, if one is named) is answered so. */
  script(answer: ScriptedAnswerInput, taxId: string, kind?: CallKind): void {
    const when = kind === undefined ? { taxId } : { taxId, kind };
    this.#scripts.add({ ...when, remaining: 1, answer: scriptedAnswerSchema.parse(answer) });
  }

  clearScripts(): void {
    this.#scripts.clear();
  }

  /** @param request its certificate's chain is the holder's tax ID */
  async #exchange(request: Parameters<Transport>[0]): ReturnType<Transport> {
    if (this.outage === 'refuse') throw new TransportFailure('not_sent', 'connect ECONNREFUSED');
    try {
      request.beforeSend?.();
    } catch {
      throw new TransportFailure('not_sent', 'not sent');
    }
    if (this.outage === 'hang') throw new TransportFailure('unknown', 'time limit');
    const contentType = request.headers['content-type'] ?? '';
    const { wire, over, httpStatus, ...answer } = this.#distribution.answer({
      environment: 'homologation',
      identity: { taxId: request.certificate.chainPem, notBefore: 0, notAfter: Number.MAX_SAFE_INTEGER },
      contentType,
      soapAction: null,
      body: Buffer.from(request.body ?? []),
      at: this.clock.now(),
    });
    over?.(wire === null);
    if (wire !== null) throw new TransportFailure('unknown', `connection ${wire.type}`);
    return { status: httpStatus, contentType: answer.contentType, headers: {}, body: answer.body };
  }
}
