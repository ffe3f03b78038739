import type { Environment } from '../model/words.js';
import type { A1, A1Request, Authority } from './authority/authority.js';
import { SimulatorClock } from './clock.js';
import { Companies } from './companies.js';
import { CTE_EVENT_PATH, cteEvents } from './cte-events/cte-events.js';
import { CTE, NFE } from './distribution/dialect.js';
import { Distribution } from './distribution/service.js';
import type { EventRequest } from './events/dialect.js';
import { EventMemory } from './events/memory.js';
import { EventReception } from './events/reception.js';
import { Journal, type JournalObserver } from './journal.js';
import { nfeEvents, RELEASES } from './nfe-events/nfe-events.js';
import { Boxes, type BoxObserver } from './nfse/boxes.js';
import { NfseCompanies } from './nfse/companies.js';
import { NfseFront } from './nfse/front.js';
import { NfseGovernment } from './nfse/government.js';
import { type QueueObserver, QueueRegistry } from './queues/registry.js';
import { type RulePolicy, timingOf, USUAL_POLICY } from './rules/state.js';
import { type ScriptedAnswerInput, scriptedAnswerSchema } from './scripts/scripted-answer.js';
import type { Script } from './scripts/scripts.js';
import { Scripts } from './scripts/scripts.js';
import { GovernmentFront } from './server/https-server.js';
import type { Outage } from './server/outage.js';
import type { GovernmentService } from './server/service.js';
import type { StateFolder } from './state-folder.js';

/** What a simulator is made with. Nothing is needed. */
export interface SimulatorOptions {
  /** Address to listen on. Default 127.0.0.1; the server's certificate is good for it. */
  readonly host?: string;
  /** Port of the government. Default 0: a free one. */
  readonly port?: number;
  /** Port of the NFS-e hosts. Default 0. */
  readonly nfsePort?: number;
  /** Port of the control API, always on 127.0.0.1 and without TLS. Default 0. */
  readonly controlPort?: number;
  /** Keeps authority, queues and journal here; without it all is gone at the end. */
  readonly folder?: string;
  /** Everything made up depends on it. Default `malote`. */
  readonly seed?: string;
  /** Divides the hour and the 60 days. Default 1. */
  readonly timeScale?: number;
  readonly policy?: Partial<RulePolicy>;
  /** An authority of one's own: tests that start many simulators share one. */
  readonly authority?: Authority;
  /** A second opinion about every request of events (`envEvento`, `eventoCTe`), e.g. the official schemas: what is wrong with it, or null. */
  readonly inspectEvents?: (request: string) => string | null;
  /** The same for requests of NFS-e events (`pedRegEvento`). */
  readonly inspectNfseEvents?: (pedRegEvento: string) => string | null;
}

const FORGETFUL: QueueObserver & JournalObserver & BoxObserver = {
  boxChanged() {},
  queueDefined() {},
  stateChanged() {},
  queueRemoved() {},
  called() {},
  journalCleared() {},
};

/** Opens a way to command a simulator from outside of its process. */
type StartControl = (simulator: Simulator) => Promise<{ url: string; stop(): Promise<void> }>;

/** Addresses of one environment. */
export type Endpoints = Record<
  'nfeDistribution' | 'nfeEvent' | 'nfeEventSvrs' | 'cteDistribution' | 'cteEvent' | 'adn' | 'sefin',
  string
>;

/** A running simulator. Everything that the control API does can be done here by method. */
export class Simulator {
  readonly clock: SimulatorClock;
  readonly scripts = new Scripts();
  readonly journal: Journal;
  readonly companies: Companies;
  /** Events that were registered. */
  readonly events = new EventMemory();
  /** Companies of ADN and Sefin Nacional, which are on hosts of their own. */
  readonly nfse: NfseCompanies;
  policy: RulePolicy;
  /** Address of the government, without a path. */
  url = '';
  controlUrl = '';
  private nfseUrl = '';
  private outageNow: Outage | null = null;
  private front: GovernmentFront | null = null;
  private nfseFront: NfseFront | null = null;
  private stopControl: (() => Promise<void>) | null = null;
  private readonly nfseGovernment: NfseGovernment;
  private readonly registry: QueueRegistry;
  private readonly services: readonly GovernmentService[];

  constructor(
    private readonly options: SimulatorOptions,
    readonly authority: Authority,
    folder: StateFolder | null,
  ) {
    const seed = options.seed ?? 'malote';
    const timing = timingOf(options.timeScale ?? 1);
    this.policy = { ...USUAL_POLICY, ...options.policy };
    this.journal = new Journal(folder ?? FORGETFUL);
    this.registry = new QueueRegistry(seed, folder ?? FORGETFUL);
    const boxes = new Boxes(folder ?? FORGETFUL);
    folder?.restore(this.registry, boxes, this.journal);
    this.clock = new SimulatorClock(folder?.clockOffset, (offset) => folder?.clockMoved(offset));
    this.nfse = new NfseCompanies(boxes, this.clock);
    this.companies = new Companies(this.registry, this.clock, { seed, timing, policy: () => this.policy });
    const context = {
      registry: this.registry,
      scripts: this.scripts,
      journal: this.journal,
      timing,
      policy: () => this.policy,
      outage: () => this.outageNow,
    };
    const signatures = { issuers: [authority.material.intermediate.certificatePem] };
    this.nfseGovernment = new NfseGovernment({
      clock: this.clock,
      journal: this.journal,
      scripts: this.scripts,
      boxes,
      signatures,
      policy: () => this.policy,
      timeScale: options.timeScale ?? 1,
      inspect: options.inspectNfseEvents,
    });
    this.events.restore(this.journal);
    const events = {
      ...context,
      memory: this.events,
      signatures,
      onRegistered: (event: EventRequest, environment: Environment) => this.release(event, environment),
      inspect: options.inspectEvents,
    };
    this.services = [
      ...[NFE, CTE].map((dialect) => new Distribution(dialect, context)),
      ...[nfeEvents('an'), nfeEvents('svrs'), ...cteEvents()].map((dialect) => new EventReception(dialect, events)),
    ];
  }

  private release({ type, author, key }: EventRequest, environment: Environment): void {
    if (RELEASES.has(type) && this.policy.releasesWhole) this.companies.releaseNote(author, environment, key);
  }

  /** Listens: the government's hosts first, then what `startControl` makes of this simulator. */
  async start(host: string, startControl: StartControl): Promise<void> {
    const { keyPem, chainPem } = this.authority.server;
    this.front = new GovernmentFront({
      host,
      port: this.options.port ?? 0,
      keyPem,
      chainPem,
      clientCaPem: this.authority.caPem,
      clock: this.clock,
      services: this.services,
      outage: () => this.outageNow,
    });
    this.url = await this.front.listen();
    this.nfseFront = new NfseFront({
      host,
      port: this.options.nfsePort ?? 0,
      keyPem,
      chainPem,
      clientCaPem: this.authority.caPem,
      government: this.nfseGovernment,
      outage: () => this.outageNow,
    });
    this.nfseUrl = await this.nfseFront.listen();
    const control = await startControl(this);
    this.controlUrl = control.url;
    this.stopControl = control.stop;
  }

  async stop(): Promise<void> {
    await this.stopControl?.();
    await this.front?.stop();
    await this.nfseFront?.stop();
  }

  /** What a client has to trust. */
  get caPem(): string {
    return this.authority.caPem;
  }

  /** Issues an A1 certificate, valid by the simulator's clock. */
  issueA1(request: A1Request): A1 {
    return this.authority.issueA1({ now: new Date(this.clock.now()), ...request });
  }

  /** Content of the file that MALOTE_ENDPOINTS_FILE names. */
  endpoints(): Record<'production' | 'homologation', Endpoints> {
    const of = (environment: string) => ({
      nfeDistribution: `${this.url}/${environment}${NFE.path}`,
      cteDistribution: `${this.url}/${environment}${CTE.path}`,
      nfeEvent: `${this.url}/${environment}${nfeEvents('an').path}`,
      nfeEventSvrs: `${this.url}/${environment}${nfeEvents('svrs').path}`,
      cteEvent: `${this.url}/${environment}${CTE_EVENT_PATH}`,
      adn: `${this.nfseUrl}/${environment}/contribuintes`,
      sefin: `${this.nfseUrl}/${environment}/SefinNacional`,
    });
    return { production: of('production'), homologation: of('homologation') };
  }

  endpointsFile(): string {
    return JSON.stringify(this.endpoints(), null, 2);
  }

  /** "The next `count` calls that look so get this answer." */
  script(
    answer: ScriptedAnswerInput,
    when: Partial<Omit<Script, 'id' | 'answer' | 'remaining'>> & { count?: number | null } = {},
  ): Script {
    const { count = 1, ...conditions } = when;
    return this.scripts.add({ ...conditions, remaining: count, answer: scriptedAnswerSchema.parse(answer) });
  }

  get outage(): Outage | null {
    return this.outageNow;
  }

  /** Puts everything out of service, or back. Connections that exist are cut when it begins. */
  setOutage(mode: Outage | null): void {
    this.outageNow = mode;
    if (mode === null) return;
    this.front?.dropConnections();
    this.nfseFront?.dropConnections();
  }

  /** Forgets companies, events, scripts, outage and journal; keeps the authority and the clock. */
  reset(): void {
    this.companies.removeAll();
    this.nfse.removeAll();
    this.nfseGovernment.clear();
    this.scripts.clear();
    this.journal.clear();
    this.events.clear();
    this.outageNow = null;
    this.policy = { ...USUAL_POLICY, ...this.options.policy };
  }
}
