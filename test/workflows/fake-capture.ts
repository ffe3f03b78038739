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
import type { CaptureKey } from '../../src/model/words.js';

/** What the next call brings: an outcome, a refusal of the guard, or whatever a function makes of the call. */
export type Script = Outcome | { readonly refuse: Refusal } | (() => Outcome | { readonly refuse: Refusal });

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
    nextHandover: async () => this.pages.find((page) => page.ultNsu > this.row.handedNsu) ?? null,
    recordHandover: async ({ page, answer }) => {
      this.log.push(`handed ${Number(page.ultNsu)}`);
      return this.change({ handedNsu: answer?.ultNsu ? parseNsu(answer.ultNsu) : page.ultNsu });
    },
    queryDistribution: async ({ ultNsu, revision }): Promise<QueryResult> => {
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
  };
}
