import { type Client, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { CaptureKey } from '../model/words.js';
import {
  type CaptureStateAnswer,
  captureWorkflowId,
  type PauseSignal,
  QUERIES,
  SIGNALS,
} from '../workflows/messages.js';
import { ranOutOfTime } from './deadline.js';
import { CaptureNotFound, NoWorkerAnswered } from './errors.js';
import { type FoundDocuments, foundIn } from './found-documents.js';
import { CaptureBusy, MalformedQuestion } from './point-errors.js';
import { askCapture, type PointQuestion } from './point-question.js';

/** Ten questions in a row, each as slow as a government call may be, and a little. */
const ANSWER_LIMIT_MS = 60 * 60_000;

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

  /**
   * The document of an NSU: the one that is here, whose webhook is then sent again, or else asked for by a point query.
   *
   * @param nsu 1 to 15 digits
   * @throws {QuotaExhausted} with `retryAt`
   * @throws {PointQueryRefused} stopped, held, no certificate, service shut down …
   * @throws {PointQueryFailed} the government gave no usable answer
   * @throws {CaptureBusy} ten questions wait already
   * @throws {MalformedQuestion}
   * @throws {CaptureNotFound} it does not run
   * @throws {NoWorkerAnswered} no worker took the question; whether one will is not known
   */
  queryByNsu(nsu: string): Promise<FoundDocuments> {
    return this.#find({ nsu });
  }

  /**
   * As {@link queryByNsu}, for the NF-e of an access key (44 characters). The key stands in Temporal's history.
   */
  queryByKey(key: string): Promise<FoundDocuments> {
    return this.#find({ key });
  }

  async #find(question: PointQuestion): Promise<FoundDocuments> {
    const now = Date.now();
    const times = { takenBy: now + this.#patienceMs, answeredBy: now + ANSWER_LIMIT_MS };
    const asked = await askCapture(this.#client, this.capture, question, times);
    switch (asked.kind) {
      case 'answered':
        return foundIn(asked.answer);
      case 'busy':
        throw new CaptureBusy();
      case 'malformed':
        throw new MalformedQuestion(asked.problem);
      case 'not_running':
        throw new CaptureNotFound(this.capture);
      case 'taken':
        throw new NoWorkerAnswered(ANSWER_LIMIT_MS / 1000);
      case 'no_worker':
        throw new NoWorkerAnswered(this.#patienceMs / 1000);
    }
  }

  #run() {
    return this.#client.workflow.getHandle(this.workflowId);
  }

  async #ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await this.#client.connection.withDeadline(Date.now() + this.#patienceMs, question);
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw new CaptureNotFound(this.capture);
      // A query that no worker answers runs into its deadline, or the server knows that none has polled for long; it answers a signal
      // by itself.
      if (ranOutOfTime(error) || nobodyPolls(error)) throw new NoWorkerAnswered(this.#patienceMs / 1000);
      throw error;
    }
  }
}

/** gRPC's FAILED_PRECONDITION, which is how Temporal says "no poller seen for task queue recently". */
const FAILED_PRECONDITION = 9;

function nobodyPolls(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return isGrpcServiceError(cause) && cause.code === FAILED_PRECONDITION;
}
