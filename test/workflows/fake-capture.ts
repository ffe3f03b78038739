import assert from 'node:assert/strict';
import { Context } from '@temporalio/activity';
import { cadenceOf } from '../../src/cadence/index.js';
import type {
  CaptureRowActivities,
  GovernmentActivities,
  HandoverPage,
  QueryResult,
  Refusal,
} from '../../src/model/activity-contract.js';
import { type CaptureSnapshot, initialState } from '../../src/model/capture-state.js';
import { type Nsu, parseNsu, ZERO_NSU } from '../../src/model/nsu.js';
import type { Outcome } from '../../src/model/outcome.js';
import type { PointAnswer, PointRefusal, PointResult } from '../../src/model/point-query.js';
import type { CaptureKey } from '../../src/model/words.js';

/** What the next call brings: an outcome, a refusal of the guard, or whatever a function makes of the call. */
export type Script = Outcome | { readonly refuse: Refusal } | (() => Outcome | { readonly refuse: Refusal });

/** What the next point query brings; `block`: a 656. */
export type PointScript =
  | Partial<Extract<PointAnswer, { kind: 'asked' }>>
  | { readonly refuse: PointRefusal }
  | 'block';

/**
 * Row and government of one capture in memory, with the real cadence, for tests of the workflow's own conduct. Everything else
 * (guard, archive, transaction) is tested with real parts in test/activities and test/e2e.
 */
export class FakeCapture {
  readonly calls: { readonly at: number; readonly ultNsu: Nsu; readonly revision: number }[] = [];
  readonly log: string[] = [];
  readonly script: Script[] = [];
  /** After the script: the queue is empty. */
  row: CaptureSnapshot;
  pages: HandoverPage[] = [];
  /** Point queries in the order in which they were asked; `recovery` names none. */
  readonly points: { readonly at: number; readonly asked: string }[] = [];
  /** After the script: one document comes. */
  readonly pointScript: PointScript[] = [];
  /** Numbers that recovery has to ask for. */
  due = 0;
  /** Runs while a call of either kind is in the air, of which there is one at most. */
  meanwhile: () => void | Promise<void> = () => undefined;
  #inTheAir = 0;

  constructor(
    readonly key: CaptureKey,
    startNsu: Nsu = ZERO_NSU,
  ) {
    this.row = {
      state: initialState(startNsu),
      revision: 1,
      enabled: true,
      generation: 1,
      handler: null,
      handedNsu: ZERO_NSU,
      heldUntil: null,
      recovery: null,
      taxIdEnding: '0181',
      uf: 'SP',
    };
  }

  /** The time-skipping server's clock, as an activity can know it. */
  now(): number {
    return Context.current().info.currentAttemptScheduledTimestampMs;
  }

  change(change: Partial<CaptureSnapshot>): CaptureSnapshot {
    this.row = { ...this.row, ...change, revision: this.row.revision + 1 };
    return this.row;
  }

  readonly activities: CaptureRowActivities & GovernmentActivities = {
    openCapture: async ({ start }) => {
      this.log.push(start ? 'enable' : 'open');
      return start ? this.change({ enabled: true, generation: this.row.generation + 1 }) : this.row;
    },
    closeCapture: async ({ generation }) => {
      this.log.push('close');
      const closed = generation === this.row.generation;
      if (closed) this.change({ enabled: false, state: { ...this.row.state, phase: 'stopped', reason: 'stopped' } });
      return { closed, snapshot: this.row };
    },
    holdCapture: async ({ until }) => {
      this.log.push(`hold ${until}`);
      return this.change({ heldUntil: until });
    },
    resumeCapture: async () => {
      this.log.push('resume');
      return this.change({
        heldUntil: null,
        state: { ...this.row.state, failures: 0, phase: 'waiting', nextQueryAt: this.now() },
      });
    },
    markCapture: async ({ phase, reason, alert }) => {
      this.log.push(`mark ${phase}${alert ? ` ${alert.code} ${alert.open ? 'open' : 'closed'}` : ''}`);
      return this.change({ state: { ...this.row.state, phase, reason } });
    },
    nextHandover: async () => {
      const late = this.row.late ? this.pages.find((page) => page.ultNsu === this.row.handedNsu) : undefined;
      if (late) return { ...late, late: true };
      return this.pages.find((page) => page.ultNsu > this.row.handedNsu) ?? null;
    },
    recordHandover: async ({ page, answer }) => {
      this.log.push(`handed ${Number(page.ultNsu)}`);
      if (page.late) return this.change({ late: false });
      return this.change({ handedNsu: answer?.ultNsu ? parseNsu(answer.ultNsu) : page.ultNsu });
    },
    queryDistribution: async ({ ultNsu, revision }): Promise<QueryResult> => {
      await this.#fly();
      const at = this.now();
      const next = this.script.shift() ?? ({ kind: 'none', statusCode: '137', ultNsu: null, maxNsu: null } as const);
      const what = typeof next === 'function' ? next() : next;
      if ('refuse' in what) {
        this.log.push(`refused ${what.refuse.reason}`);
        return { kind: 'refused', refusal: what.refuse, snapshot: this.row };
      }
      this.calls.push({ at, ultNsu, revision });
      const step = cadenceOf('nfe').next(this.row.state, what, { at, deadline: at + 330_000 });
      return {
        kind: 'committed',
        outcome: what.kind,
        statusCode: 'statusCode' in what ? what.statusCode : null,
        documents: what.kind === 'documents' ? what.items : 0,
        snapshot: this.change({ state: step.state }),
      };
    },
    queryPoint: async ({ ask, revision }) => {
      assert.ok(revision <= this.row.revision);
      return this.#point('nsu' in ask ? `nsu ${Number(ask.nsu)}` : `key ${ask.key}`);
    },
    recoverNext: async () => {
      if (this.due === 0) return { kind: 'nothing_due', snapshot: this.row };
      const result = await this.#point('recovery');
      if (result.kind === 'asked' && result.outcome === 'documents') this.due -= 1;
      return { ...result, snapshot: this.change({ recovery: this.due > 0 ? { nextAt: this.now() } : null }) };
    },
  };

  async #fly(): Promise<void> {
    this.#inTheAir += 1;
    assert.equal(this.#inTheAir, 1, 'two calls at once');
    await this.meanwhile();
    this.#inTheAir -= 1;
  }

  async #point(asked: string): Promise<Exclude<PointResult, { kind: 'local' }>> {
    await this.#fly();
    const next = this.pointScript.shift() ?? {};
    if (typeof next === 'object' && 'refuse' in next) {
      this.log.push(`refused ${asked} ${next.refuse.reason}`);
      return { kind: 'refused', refusal: next.refuse, snapshot: this.row };
    }
    const at = this.now();
    this.points.push({ at, asked });
    const outcome: Outcome | null =
      next === 'block' ? { kind: 'throttled', statusCode: '656', ultNsu: null, retryAfterMs: null } : null;
    const state = outcome ? cadenceOf('nfe').point.next(this.row.state, outcome, at).state : this.row.state;
    const answer = {
      kind: 'asked',
      outcome: outcome?.kind ?? 'documents',
      statusCode: outcome ? '656' : '138',
    } as const;
    return { ...answer, documentIds: [], ...(outcome ? {} : (next as object)), snapshot: this.change({ state }) };
  }
}
