import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { type Activities, createActivities, type Failpoint } from '../../src/activities/index.js';
import { nfeEventService } from '../../src/activities/manifestation/nfe-event-service.js';
import { createSendManifestations } from '../../src/activities/manifestation/send-manifestations.js';
import { FAILURES, type QueryResult } from '../../src/model/activity-contract.js';
import type { SendResult } from '../../src/model/manifestation-contract.js';
import type { PointAsk, PointResult, RecoveryResult } from '../../src/model/point-query.js';
import type { CaptureKey } from '../../src/model/words.js';
import { snapshotOf } from '../../src/storage/capture-rows.js';
import { outlookOf } from '../../src/storage/manifestation-queue.js';
import { planQuery, planRefused } from '../../src/workflows/capture-plan.js';
import { waitOf } from '../../src/workflows/manifestation-plan.js';
import { afterRecovery, recoveryDue } from '../../src/workflows/recovery.js';
import { MINUTE, rowOf, type World } from '../activities/support.js';
import type { InProcessGovernment } from './in-process-government.js';

/** Where the next attempt of an activity dies, and who goes on: a retry of it, or a run that knows nothing of it. */
export interface Death {
  readonly of: 'capture' | 'events';
  readonly at: Failpoint;
  readonly inNewRun: boolean;
}

const FOUND_AFTER = 2 * MINUTE;

/** What the activities threw that Temporal would retry. */
class Died extends Error {
  override readonly name = 'Died';
}

/**
 * The workflows of a capture and of its manifestations without Temporal: the same plans, waits and turns, over the real activities, with a
 * clock that jumps from one due instant to the next.
 */
export class CaptureDriver {
  readonly #activities: Activities;
  readonly #sendManifestations: ReturnType<typeof createSendManifestations>;
  readonly #deaths: Death[] = [];
  /** When the workflow of manifestations looks again; null: it has completed. */
  #sendAt: number | null = null;
  #queryNotBefore = 0;
  #recoveryNotBefore = 0;
  #recoveredLast = false;

  constructor(
    private readonly w: World,
    private readonly government: InProcessGovernment,
    readonly capture: CaptureKey,
    taxId: string,
  ) {
    const certificate = government.certificate(taxId);
    const openCertificate = () => certificate;
    this.#activities = createActivities({
      ...w.deps,
      services: { nfe: government.service },
      openCertificate,
      wakeManifestations: () => this.wakeManifestations(),
      failpoint: (name) => this.#dieAt('capture', name),
    });
    this.#sendManifestations = createSendManifestations({
      ...w.deps,
      eventServices: { nfe: nfeEventService(government.eventService, 'Malote test') },
      openCertificate,
      failpoint: (name) => this.#dieAt('events', name),
    });
  }

  #dieAt(of: Death['of'], at: Failpoint): void {
    const found = this.#deaths.findIndex((death) => death.of === of && death.at === at);
    const [death] = found < 0 ? [] : this.#deaths.splice(found, 1);
    if (death) throw new Died(`${of}: ${death.inNewRun ? 'new run' : 'retry'}`);
  }

  /** The next call dies there. */
  die(death: Death): void {
    this.#deaths.push(death);
  }

  /** There is something to send, or to wait for. */
  wakeManifestations(): void {
    this.#sendAt = 0;
  }

  now(): Promise<number> {
    return this.w.clock.now();
  }

  /** Time passes for us and for the government. */
  advance(ms: number): void {
    if (ms <= 0) return;
    this.w.clock.advance(ms);
    this.government.clock.advance(ms);
  }

  /** Does what the workflow does until an instant. */
  async runUntil(end: number): Promise<void> {
    for (;;) {
      const row = await rowOf(this.w, this.capture);
      const snapshot = snapshotOf(row, { taxId: '00000000000000', uf: 'SP' });
      const now = await this.now();
      const plan = planQuery(snapshot, now, Math.random());
      const queryAt = plan.until === null ? Number.POSITIVE_INFINITY : Math.max(plan.until, this.#queryNotBefore);
      const recoverAt = recoveryDue(snapshot, this.#recoveryNotBefore, now) ?? Number.POSITIVE_INFINITY;
      const sendAt = await this.#sendDueAt();
      const next = Math.max(Math.min(queryAt, recoverAt, sendAt), now);
      if (next > end) {
        this.advance(end - now);
        return;
      }
      this.advance(next - now);
      const [queryIsDue, recoveryIsDue] = [queryAt <= next, recoverAt <= next];
      if (sendAt <= next) await this.#send();
      else if (recoveryIsDue && !(queryIsDue && this.#recoveredLast)) await this.#recover();
      else await this.#query();
    }
  }

  /** Time passes to this instant, and only events are sent meanwhile. */
  async sendUntil(end: number): Promise<void> {
    for (;;) {
      const sendAt = await this.#sendDueAt();
      const now = await this.now();
      this.advance(Math.min(sendAt, end) - now);
      if (sendAt > end) return;
      await this.#send();
    }
  }

  /** Housekeeping wakes whoever has had something due for two minutes: a process may die between its commit and the wake. */
  async #sendDueAt(): Promise<number> {
    const { nextDueAt } = await outlookOf(this.w.db, this.capture);
    return Math.min(this.#sendAt ?? Number.POSITIVE_INFINITY, (nextDueAt ?? Number.POSITIVE_INFINITY) + FOUND_AFTER);
  }

  async #query(): Promise<void> {
    this.#recoveredLast = false;
    const { state, revision } = await rowOf(this.w, this.capture);
    const result = await this.#perform<QueryResult>((activities, environment) =>
      environment.run(activities.government.queryDistribution, {
        capture: this.capture,
        ultNsu: state.ultNsu,
        revision,
      }),
    );
    if (result.kind === 'committed') return;
    const { refusal, snapshot } = result;
    if (refusal.reason !== 'stale') {
      this.#queryNotBefore = planRefused(refusal, snapshot, await this.now(), Math.random()).until ?? 0;
    }
  }

  async #recover(): Promise<void> {
    this.#recoveredLast = true;
    const { revision } = await rowOf(this.w, this.capture);
    const result = await this.#perform<RecoveryResult>((activities, environment) =>
      environment.run(activities.government.recoverNext, { capture: this.capture, revision }),
    );
    this.#recoveryNotBefore = afterRecovery(result, await this.now(), Math.random());
  }

  /** As its own workflow does it: beside the capture, whose cursor, waits and quota it must leave alone. */
  async #send(): Promise<void> {
    const before = await this.#standing();
    const result = await this.#perform<SendResult>((_, environment) =>
      environment.run(this.#sendManifestations, { capture: this.capture }),
    );
    assert.deepEqual(await this.#standing(), before, 'sending events changed the capture');
    const now = await this.now();
    const wait = waitOf(result, now, Math.random());
    this.#sendAt = wait === null ? null : now + wait;
  }

  async #standing() {
    const { state, notBefore, callId, revision } = await rowOf(this.w, this.capture);
    const { rows } = await this.w.db.query<{ points: number }>(
      `select count(*)::int as points from calls where company_id = $1 and kind in ('consNSU', 'consChNFe')`,
      [this.capture.companyId],
    );
    return { state, notBefore, callId, revision, ...rows[0] };
  }

  /** A question of a person. */
  async ask(ask: PointAsk): Promise<PointResult> {
    const { revision } = await rowOf(this.w, this.capture);
    return this.#perform<PointResult>((activities, environment) =>
      environment.run(activities.government.queryPoint, { capture: this.capture, ask, revision }),
    );
  }

  /** One activity with as many attempts as it takes: Temporal's retries after a death or under a lease. */
  async #perform<T>(attempt: (activities: Activities, environment: MockActivityEnvironment) => Promise<T>): Promise<T> {
    let runId = randomUUID();
    for (;;) {
      const info = { workflowExecution: { workflowId: 'capture', runId }, activityId: '1' };
      const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
      environment.on('heartbeat', () => {});
      try {
        return await attempt(this.#activities, environment);
      } catch (error) {
        if (!(error instanceof ApplicationFailure)) throw error;
        if (error.type === FAILURES.leaseTaken) {
          const { callDeadline } = await rowOf(this.w, this.capture);
          this.advance((callDeadline ?? 0) - (await this.now()) + 1);
        } else if (error.type === 'Died') {
          if (error.message.includes('new run')) runId = randomUUID();
          // A dead worker is noticed within seconds. What it was to send can wait: no answer of a page depends on it.
          if (!error.message.includes('events')) this.advance(20_000);
        } else {
          throw error;
        }
      }
    }
  }
}
