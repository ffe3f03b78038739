import type { Clock } from '../../platform/clock.js';
import type { Database } from '../../storage/database.js';
import { isTransientDatabaseError } from '../../storage/database-error.js';
import { type LeasedDelivery, leaseDue, recordAttempts, releaseLeases } from '../../storage/delivery-queue.js';
import type { SecretBox } from '../../storage/endpoints.js';
import { readSendingEndpoint, type SendingEndpoint } from '../../storage/endpoints.js';
import type { WebhookSender } from '../../webhooks/sender.js';
import { BODY_TIMEOUT_MS, SEND_TIMEOUT_MS } from '../../webhooks/sender.js';
import { patiently } from '../call/patience.js';
import { limitsOf } from '../dependencies.js';
import { type Attempt, judge, recordOf, writeVerdict } from './endpoint-health.js';

/** What sending webhooks needs. */
export interface DeliveryDependencies {
  readonly database: Database;
  readonly clock: Clock;
  /** Opens endpoints' signing secrets. */
  readonly box: SecretBox;
  readonly sender: Pick<WebhookSender, 'send'>;
  /** Called after a commit with the endpoints that got deliveries (about a failing endpoint); returns at once. */
  readonly wakeEndpoints: (endpointIds: readonly string[]) => void;
  /** Most messages in the air to one endpoint. Default 8. */
  readonly concurrency?: number;
  /** How long one activity goes on taking up work, milliseconds. Default 50,000. */
  readonly budgetMs?: number;
}

/** One run over what is due at one endpoint. */
export interface DeliveryRunOptions extends Required<DeliveryDependencies> {
  readonly endpointId: string;
  readonly leaseId: string;
  /** Milliseconds of the one clock. */
  readonly now: () => number;
  /** What is in the air is finished, the rest is given back. */
  readonly stop: AbortSignal;
}

const LEASE_MS = 60_000;
/** A delivery that could not be started by then is given back: its attempt has to be on record before the lease runs out. */
const START_WITHIN_MS = LEASE_MS - SEND_TIMEOUT_MS - BODY_TIMEOUT_MS - 3_000;
const BATCH = 100;
/** While some are in the air, what becomes due meanwhile is looked for this often: nothing waits for a receiver that hangs. */
const LOOK_AGAIN_MS = 250;
/** An attempt is on record this soon after it ended: what a crash makes us send twice stays little. */
const RECORD_WITHIN_MS = 100;
/** Instants above are met to this precision. */
const TICK_MS = 50;

type Queued = LeasedDelivery & { readonly startBy: number };

/**
 * One stretch of sending for one endpoint: keeps `concurrency` messages in the air as long as something is due and the time
 * lasts. Messages start in commit order; none waits for another to end. Attempts are recorded in bulk, beside the sending.
 */
export class DeliveryRun {
  readonly #o: DeliveryRunOptions;
  readonly #endAt: number;
  #endpoint: SendingEndpoint | null = null;
  /** Ours from the first look on: the row is behind while attempts are being recorded. */
  #failingSince: number | null = null;
  #queue: Queued[] = [];
  #inFlight = 0;
  #ended: Attempt[] = [];
  #recordBy = 0;
  #recording = false;
  #recordingFails = false;
  #nextLook = 0;
  #attempts = 0;
  #gone = false;
  #failure: Error | null = null;
  #ring = () => {};

  constructor(options: DeliveryRunOptions) {
    this.#o = options;
    this.#endAt = performance.now() + options.budgetMs;
  }

  /**
   * @returns `gone`: the endpoint is deleted or disabled
   * @throws {DatabaseError} after what was in the air has ended; what could not be recorded is sent again
   */
  async run(): Promise<{ attempts: number; gone: boolean }> {
    try {
      while (this.#goesOn()) {
        if (this.#isLate(this.#queue[0])) await this.#giveBack();
        await this.#takeMore();
        this.#startWhatFits();
        this.#recordWhatEnded();
        if (this.#isIdle()) break;
        await this.#somethingHappens();
      }
    } catch (error) {
      this.#fail(error);
    }
    await this.#windDown();
    return { attempts: this.#attempts, gone: this.#gone };
  }

  #goesOn(): boolean {
    return !this.#gone && !this.#failure && !this.#o.stop.aborted && performance.now() < this.#endAt;
  }

  #isIdle(): boolean {
    return this.#inFlight === 0 && !this.#recording;
  }

  #isLate(delivery: Queued | undefined): boolean {
    return delivery !== undefined && performance.now() > delivery.startBy;
  }

  /** Leases the next batch before the queue runs dry; after one that was not full only every now and then. */
  async #takeMore(): Promise<void> {
    if (this.#queue.length >= this.#o.concurrency || this.#recordingFails) return;
    if (!this.#isIdle() && performance.now() < this.#nextLook) return;
    const { database, box, endpointId, leaseId, now } = this.#o;
    const endpoint = await readSendingEndpoint(database, box, endpointId, now());
    if (endpoint?.status !== 'enabled') {
      this.#gone = true;
      return;
    }
    if (!this.#endpoint) this.#failingSince = endpoint.failingSince;
    this.#endpoint = endpoint;
    const startBy = performance.now() + START_WITHIN_MS;
    const at = now();
    const leased = await leaseDue(database, { endpointId, leaseId, now: at, until: at + LEASE_MS, limit: BATCH });
    this.#queue.push(...leased.map((delivery) => ({ ...delivery, startBy })));
    this.#nextLook = leased.length === BATCH ? 0 : performance.now() + LOOK_AGAIN_MS;
  }

  #startWhatFits(): void {
    while (this.#endpoint && this.#goesOn() && !this.#recordingFails && this.#inFlight < this.#o.concurrency) {
      const [next] = this.#queue;
      if (!next || this.#isLate(next)) return;
      this.#queue.shift();
      void this.#send(next, this.#endpoint);
    }
  }

  async #send(delivery: LeasedDelivery, { url, secrets }: SendingEndpoint): Promise<void> {
    const at = this.#o.now();
    this.#inFlight += 1;
    try {
      const result = await this.#o.sender.send({ id: delivery.eventId, url, body: delivery.body, secrets });
      this.#attempts += 1;
      if (this.#ended.length === 0) this.#recordBy = performance.now() + RECORD_WITHIN_MS;
      this.#ended.push({ delivery, at, endedAt: this.#o.now(), result });
      // The receiver is gone for good: nothing more is started, not even of this batch.
      if (result.statusCode === 410) this.#gone = true;
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#inFlight -= 1;
      this.#ring();
    }
  }

  #recordWhatEnded(): void {
    if (this.#ended.length === 0 || this.#recording) return;
    const worthwhile = this.#ended.length >= BATCH || performance.now() >= this.#recordBy || this.#inFlight === 0;
    if (worthwhile) void this.#record(this.#ended.splice(0));
  }

  /** Tries for half a minute, and nothing new is started meanwhile: what is not recorded is sent again when its lease has run out. */
  async #record(batch: readonly Attempt[]): Promise<void> {
    this.#recording = true;
    try {
      await patiently(limitsOf({}), isTransientDatabaseError, () =>
        this.#recordOnce(batch).catch((error: unknown) => {
          this.#recordingFails = true;
          throw error;
        }),
      );
      this.#recordingFails = false;
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#recording = false;
      this.#ring();
    }
  }

  async #recordOnce(batch: readonly Attempt[]): Promise<void> {
    const { database, endpointId, leaseId, wakeEndpoints, now } = this.#o;
    const verdict = judge(batch, this.#failingSince);
    const records = batch.map((attempt) => recordOf(attempt, verdict, Math.random()));
    if (verdict.changed || verdict.recovered || verdict.notice) {
      const toWake = await database.transaction(async (tx) => {
        await recordAttempts(tx, leaseId, records);
        return writeVerdict(tx, endpointId, verdict, now());
      });
      wakeEndpoints(toWake);
    } else {
      await recordAttempts(database, leaseId, records);
    }
    this.#failingSince = verdict.failingSince;
    if (verdict.notice?.disabledReason) this.#gone = true;
  }

  #fail(error: unknown): void {
    this.#failure ??= error instanceof Error ? error : new Error(String(error));
  }

  #somethingHappens(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, TICK_MS);
      this.#ring = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #windDown(): Promise<void> {
    while (!this.#isIdle() || this.#ended.length > 0) {
      this.#recordWhatEnded();
      if (!this.#isIdle()) await this.#somethingHappens();
    }
    try {
      await this.#giveBack();
    } catch (error) {
      // The lease runs out by itself.
      this.#fail(error);
    }
    if (this.#failure) throw this.#failure;
  }

  async #giveBack(): Promise<void> {
    const ids = this.#queue.splice(0).map((delivery) => delivery.id);
    await releaseLeases(this.#o.database, this.#o.leaseId, ids);
  }
}
