import { Client, type ConnectionLike, type DataConverter } from '@temporalio/client';
import type { CaptureKey, HostHandler } from '../model/words.js';
import { CaptureHandle } from './capture-handle.js';
import { checkRequest, type ManifestationOptions, runningEnvironment } from './manifestation.js';
import { startedOrRefused } from './start-outcome.js';
import { WorkflowMessenger } from './workflow-messenger.js';

export type { HandoverPage, HostAnswer } from '../model/activity-contract.js';
export type { CaptureSnapshot, CaptureState } from '../model/capture-state.js';
export type { Nsu } from '../model/nsu.js';
export type { CaptureKey, DocumentType, Environment, HostHandler, Phase } from '../model/words.js';
export type { CaptureStateAnswer } from '../workflows/messages.js';
export type { CaptureHandle } from './capture-handle.js';
export {
  CaptureNotFound,
  CompanyUnknown,
  EnvironmentInUse,
  EnvironmentUnknown,
  ManifestationNotPossible,
  NoWorkerAnswered,
} from './errors.js';
export type { FoundDocuments } from './found-documents.js';
export type { ManifestationOptions } from './manifestation.js';
export {
  CaptureBusy,
  MalformedQuestion,
  PointQueryFailed,
  PointQueryRefused,
  QuotaExhausted,
} from './point-errors.js';

/** What the SDK is given. The connection stays the caller's. */
export interface MaloteClientOptions {
  /** A `Connection` of `@temporalio/client` (or a `NativeConnection`); it stays the caller's, who closes it. */
  readonly connection: ConnectionLike;
  readonly namespace: string;
  /** The one that the workers use, where payloads are encoded. */
  readonly dataConverter?: DataConverter;
  /** Most milliseconds that a method waits for a worker. Default 10,000. */
  readonly patienceMs?: number;
}

/** Which capture, and who takes its pages. */
export interface StartCaptureOptions extends CaptureKey {
  /** The host's own activity that pages are handed to. Absent: stays as it was; null: no more. */
  readonly handler?: HostHandler | null;
}

const PATIENCE_MS = 10_000;

/**
 * Starts and steers captures from a host's own services, over Temporal alone: no HTTP, no database.
 * Companies and certificates come by the HTTP API or the command line.
 */
export class MaloteClient {
  readonly #client: Client;
  readonly #messenger: WorkflowMessenger;
  readonly #patienceMs: number;

  constructor({ connection, namespace, dataConverter, patienceMs = PATIENCE_MS }: MaloteClientOptions) {
    this.#client = new Client({ connection, namespace, ...(dataConverter === undefined ? {} : { dataConverter }) });
    this.#messenger = new WorkflowMessenger(this.#client);
    this.#patienceMs = patienceMs;
  }

  /**
   * Starts a capture, or takes up the running one: a second start changes nothing but the handler. Waits until the
   * capture has read its company.
   *
   * @throws {CompanyUnknown} the company is not registered; nothing runs
   * @throws {EnvironmentInUse} it is captured in the other environment; nothing changes
   * @throws {NoWorkerAnswered} no worker took it up in time; the start itself is kept and will be
   * @throws {ServiceError} of `@temporalio/client`: Temporal does not answer; nothing is known to have been started
   */
  async startCapture({ companyId, documentType, environment, handler }: StartCaptureOptions): Promise<CaptureHandle> {
    const capture: CaptureKey = { companyId, documentType, environment };
    const started = await this.#messenger.startCapture(capture, { enable: handler === undefined ? {} : { handler } });
    const run = this.#client.workflow.getHandle(started.workflowId, started.signaledRunId, { followRuns: false });
    await startedOrRefused(this.#client.connection, run, capture, this.#patienceMs);
    return this.capture(capture);
  }

  /**
   * Says something about a received document: 210200, 210210 or 210220 of an NF-e, 610111 of a CT-e. A signal: it is kept by Temporal,
   * written down and sent by a worker, and what became of it is at `GET /v1/manifestations?key=…`. The same key and type again change
   * nothing. What needs a justification or fields goes through the HTTP API, since neither may stand in Temporal.
   *
   * @throws {ManifestationNotPossible} key or type cannot be meant, or do not travel through Temporal
   * @throws {EnvironmentUnknown} no environment was given, and not one capture of the company runs
   * @throws {ServiceError} of `@temporalio/client`: Temporal does not answer; nothing is known to have been requested
   */
  async requestManifestation({ companyId, key, type, environment }: ManifestationOptions): Promise<void> {
    const documentType = checkRequest(key, type);
    const capture: CaptureKey = {
      companyId,
      documentType,
      environment: environment ?? (await runningEnvironment(this.#client, companyId, documentType)),
    };
    await this.#messenger.requestManifestation(capture, { key, type });
  }

  /** A handle on a capture that was started before. Asks nothing: the methods of the handle say whether it is there. */
  capture({ companyId, documentType, environment }: CaptureKey): CaptureHandle {
    return new CaptureHandle(this.#client, { companyId, documentType, environment }, this.#patienceMs);
  }
}
