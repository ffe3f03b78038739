import { type Client, isGrpcDeadlineError, WorkflowNotFoundError } from '@temporalio/client';
import type { CaptureKey } from '../model/words.js';
import {
  type CaptureStateAnswer,
  captureWorkflowId,
  type PauseSignal,
  QUERIES,
  SIGNALS,
} from '../workflows/messages.js';
import { CaptureNotFound, NoWorkerAnswered } from './errors.js';

/** One capture. Every method also throws `ServiceError` of `@temporalio/client` when Temporal does not answer. */
export class CaptureHandle {
  readonly workflowId: string;
  readonly #client: Client;
  readonly #patienceMs: number;

  constructor(
    client: Client,
    readonly capture: CaptureKey,
    patienceMs: number,
  ) {
    this.#client = client;
    this.#patienceMs = patienceMs;
    this.workflowId = captureWorkflowId(capture);
  }

  /**
   * Where the capture stands: cursor, phase, next query. Of a stopped one, where it stood at its end (as long as
   * Temporal keeps it).
   *
   * @throws {CaptureNotFound} it was never started
   * @throws {NoWorkerAnswered}
   */
  state(): Promise<CaptureStateAnswer> {
    return this.#ask(() => this.#run().query<CaptureStateAnswer>(QUERIES.state));
  }

  /**
   * Stops after the call in hand. A later `startCapture` goes on where it stopped.
   *
   * @throws {CaptureNotFound} it does not run
   */
  stop(): Promise<void> {
    return this.#ask(() => this.#run().signal(SIGNALS.stop));
  }

  /**
   * Leaves `attention`, `disabled` or a hold. Never shortens a wait that the government's rules ask for.
   *
   * @throws {CaptureNotFound} it does not run
   */
  resume(): Promise<void> {
    return this.#ask(() => this.#run().signal(SIGNALS.resume));
  }

  /**
   * Holds the capture until an instant, or until it is resumed. The government stops numbering documents for a tax ID
   * that nobody queries for 60 days: do not hold longer.
   *
   * @throws {CaptureNotFound} it does not run
   */
  pause(until?: Date): Promise<void> {
    const argument: PauseSignal = until === undefined ? {} : { until: until.toISOString() };
    return this.#ask(() => this.#run().signal(SIGNALS.pause, argument));
  }

  #run() {
    return this.#client.workflow.getHandle(this.workflowId);
  }

  async #ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await this.#client.connection.withDeadline(Date.now() + this.#patienceMs, question);
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw new CaptureNotFound(this.capture);
      // A query that no worker answers runs into its deadline; the server answers a signal by itself.
      if (isGrpcDeadlineError(error)) throw new NoWorkerAnswered(this.#patienceMs / 1000);
      throw error;
    }
  }
}
