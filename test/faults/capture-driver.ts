import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { type Activities, createActivities, type Failpoint } from '../../src/activities/index.js';
import { FAILURES, type QueryResult } from '../../src/model/activity-contract.js';
import type { PointAsk, PointResult, RecoveryResult } from '../../src/model/point-query.js';
import type { CaptureKey } from '../../src/model/words.js';
import { snapshotOf } from '../../src/storage/capture-rows.js';
import { planQuery, planRefused } from '../../src/workflows/capture-plan.js';
import { afterRecovery, recoveryDue } from '../../src/workflows/recovery.js';
import { rowOf, type World } from '../activities/support.js';
import type { InProcessGovernment } from './in-process-government.js';

/** Where the next attempt of an activity dies, and who goes on: a retry of it, or a run that knows nothing of it. */
export interface Death {
  readonly at: Failpoint;
  readonly inNewRun: boolean;
}

/** What the activities threw that Temporal would retry. */
class Died extends Error {
  override readonly name = 'Died';
}

/**
 * The capture workflow without Temporal: the same plans, waits and turns, over the real activities, with a clock that jumps from one due
 * instant to the next.
 */
export class CaptureDriver {
  readonly #activities: Activities;
  #death: Death | null = null;
  #queryNotBefore = 0;
  #recoveryNotBefore = 0;
  #recoveredLast = false;

  constructor(
    private readonly w: World,
    private readonly government: InProcessGovernment,
    readonly capture: CaptureKey,
    taxId: string,
  ) {
    this.#activities = createActivities({
      ...w.deps,
      services: { nfe: government.service },
      openCertificate: ({ thumbprint }) => ({ keyPem: '', chainPem: taxId, thumbprint }),
      failpoint: (name) => {
        if (this.#death?.at !== name) return;
        const { inNewRun } = this.#death;
        this.#death = null;
        throw inNewRun ? new Died('new run') : new Died('retry');
      },
    });
  }

  /** The next call dies there. */
  die(death: Death): void {
    this.#death = death;
  }

  now(): Promise<number> {
    return this.w.clock.now();
  }

  /** Time passes for us and for the government. */
  skip(ms: number): void {
    if (ms <= 0) return;
    this.w.clock.skip(ms);
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
      const next = Math.max(Math.min(queryAt, recoverAt), now);
      if (next > end) {
        this.skip(end - now);
        return;
      }
      this.skip(next - now);
      const [queryIsDue, recoveryIsDue] = [queryAt <= next, recoverAt <= next];
      if (recoveryIsDue && !(queryIsDue && this.#recoveredLast)) await this.#recover();
      else await this.#query();
    }
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
          this.skip((callDeadline ?? 0) - (await this.now()) + 1);
        } else if (error.type === 'Died') {
          if (error.message.includes('new run')) runId = randomUUID();
          // A dead worker is noticed within seconds.
          this.skip(20_000);
        } else {
          throw error;
        }
      }
    }
  }
}
