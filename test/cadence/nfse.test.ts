import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { cadenceOf } from '../../src/cadence/index.js';
import { type CaptureState, initialState, lag } from '../../src/model/capture-state.js';
import { HELD_BACK, type Outcome } from '../../src/model/outcome.js';
import { AT, HOUR, MINUTE, nsu, SECOND, unknown } from './outcomes.js';

/** The column NFS-e of design section 6, and what holds whatever happens. */

const { next, callLimit, pacing, point } = cadenceOf('nfse');
const after = (
  state: CaptureState,
  outcome: Outcome,
  more: { at?: number; minIntervalMinutes?: number; outage?: boolean } = {},
) => {
  const when = more.at ?? AT;
  return next(state, outcome, { at: when, deadline: when + 90 * SECOND, ...more });
};
const documents = (ult: number, items = 50): Outcome => ({
  kind: 'documents',
  statusCode: 'DOCUMENTOS_LOCALIZADOS',
  ultNsu: nsu(ult),
  maxNsu: nsu(ult),
  items,
});
const none: Outcome = { kind: 'none', statusCode: 'E2220', ultNsu: null, maxNsu: null };
const rejected: Outcome = { kind: 'rejected', statusCode: 'E2242' };
const throttled = (retryAfterMs: number | null = null): Outcome => ({
  kind: 'throttled',
  statusCode: 'HTTP 429',
  ultNsu: null,
  retryAfterMs,
});
const refused: Outcome = { kind: 'certificate_refused', statusCode: 'HTTP 496' };
const unreadable: Outcome = { kind: 'unreadable', statusCode: 'HTTP 502', reason: 'HTML' };
const notSent: Outcome = { kind: 'not_sent', reason: 'ECONNREFUSED' };
const standing = (ult: number): CaptureState => ({ ...initialState(nsu(ult)), hasPage: true });
const waitOf = (state: CaptureState, at = AT) => (state.nextQueryAt ?? 0) - at;

describe('each outcome of NFS-e, beside its rule', () => {
  test('a call that was held back by an open breaker counts as nothing, and waits as after the last failure', () => {
    const heldBack: Outcome = { kind: 'not_sent', reason: HELD_BACK };
    const failed = after(after(standing(0), unreadable).state, unreadable).state;
    const { state } = after(failed, heldBack);
    assert.deepEqual([state.failures, waitOf(state), state.reason], [2, 2 * MINUTE, HELD_BACK]);
    assert.deepEqual(
      [after(standing(0), heldBack).state.failures, waitOf(after(standing(0), heldBack).state)],
      [0, MINUTE],
    );
  });

  test('a page: the next one after the pacing; there is no lag to know', () => {
    const { state } = after(standing(0), documents(50));
    assert.deepEqual([state.ultNsu, state.phase, waitOf(state), lag(state)], [nsu(50), 'querying', 2 * SECOND, 0]);
    assert.equal(pacing, 2 * SECOND);
    assert.equal(callLimit, MINUTE);
  });

  test('2,500 documents in one run: the 51st page comes after 30 s', () => {
    let state = standing(0);
    const waits: number[] = [];
    for (let page = 1; page <= 51; page++) {
      ({ state } = after(state, documents(page * 50)));
      waits.push(waitOf(state));
    }
    assert.deepEqual(waits.slice(0, 49), Array(49).fill(2 * SECOND));
    assert.equal(waits[49], 30 * SECOND);
    assert.deepEqual([waits[50], state.run], [2 * SECOND, { pages: 1, documents: 50 }]);
  });

  test('a page of one document is no end', () => {
    assert.equal(after(standing(0), documents(1, 1)).state.phase, 'querying');
  });

  test('none found: an hour, longer only if the customer says so', () => {
    const { state } = after(standing(50), none);
    assert.deepEqual([state.phase, state.ultNsu, waitOf(state)], ['waiting', nsu(50), HOUR]);
    assert.equal(waitOf(after(standing(50), none, { minIntervalMinutes: 180 }).state), 3 * HOUR);
    assert.equal(waitOf(after(standing(50), none, { minIntervalMinutes: 5 }).state), HOUR);
    assert.equal(after(standing(50), none, { minIntervalMinutes: 180 }).state.lawfulFrom, AT + HOUR);
  });

  test('after a page that leaves the cursor where it was no page follows at once; the third in a row is told', () => {
    let state = standing(50);
    for (const alerts of [0, 0, 1, 0]) {
      const step = after(state, documents(50, 1));
      assert.deepEqual([waitOf(step.state), step.alerts.length], [HOUR, alerts]);
      state = step.state;
    }
    assert.deepEqual(after(state, documents(51, 1)).alerts, [
      { code: 'page_without_progress', open: false, detail: '' },
    ]);
  });

  test('429: as long as it says, else an hour; the cursor stays, and it is no failure', () => {
    for (const [retryAfter, wait] of [
      [30 * SECOND, 30 * SECOND],
      [null, HOUR],
    ] as const) {
      const { state } = after(standing(50), throttled(retryAfter));
      assert.deepEqual([waitOf(state), state.ultNsu, state.failures, state.phase], [wait, nsu(50), 0, 'blocked']);
    }
    const storm = after(after(standing(50), throttled(2 * HOUR)).state, throttled(30 * SECOND), { at: AT + MINUTE });
    assert.equal(storm.state.nextQueryAt, AT + 2 * HOUR, 'a block is only ever extended');
  });

  test('REJEICAO: 10 minutes if the run captured nothing, else 30 s, which ends the run', () => {
    assert.equal(waitOf(after(standing(50), rejected).state), 10 * MINUTE);
    const running = after(standing(50), documents(100)).state;
    const step = after(running, rejected);
    assert.deepEqual([waitOf(step.state), step.state.run.documents], [30 * SECOND, 0]);
    assert.equal(waitOf(after(step.state, rejected, { at: AT + MINUTE }).state, AT + MINUTE), 10 * MINUTE);
  });

  test('a refused certificate: an hour each time, disabled with an alert at the tenth', () => {
    let state = standing(50);
    for (let refusal = 1; refusal <= 10; refusal++) {
      const step = after(state, refused, { at: AT + refusal * HOUR });
      state = step.state;
      assert.equal(state.nextQueryAt, AT + (refusal + 1) * HOUR);
      assert.equal(state.phase, refusal < 10 ? 'blocked' : 'disabled');
      assert.deepEqual(
        step.alerts.map(({ code, open }) => [code, open]),
        refusal < 10 ? [] : [['capture_disabled', true]],
      );
    }
    assert.equal(after({ ...state, certificateRefusals: 9 }, none).state.certificateRefusals, 0, 'in a row');
    assert.deepEqual(after(state, none, { at: AT + 20 * HOUR }).alerts, [
      { code: 'capture_disabled', open: false, detail: '' },
    ]);
  });

  test('failures: 1 minute doubling to 60, for ever; an answer ends the row; an outage counts against nobody', () => {
    let state = standing(50);
    const waits = [
      unreadable,
      unknown,
      notSent,
      unreadable,
      unknown,
      notSent,
      unreadable,
      unknown,
      notSent,
      unreadable,
      unknown,
    ].map((outcome) => {
      ({ state } = after(state, outcome));
      return waitOf(state) / MINUTE;
    });
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60]);
    assert.equal(state.phase, 'backing-off');
    assert.equal(after(state, none).state.failures, 0);
    assert.equal(after(state, unreadable, { outage: true }).state.failures, state.failures);
  });

  test('a call that was dropped because the process stops counts as nothing', () => {
    const { state } = after(standing(50), { kind: 'not_sent', reason: 'stopping' });
    assert.deepEqual([state.failures, waitOf(state)], [0, 0]);
  });

  test('a single number asked for touches the sequence by a 429 only', () => {
    for (const outcome of [documents(9_999, 1), none, rejected, unreadable, unknown, refused]) {
      assert.deepEqual(point.next(standing(50), outcome, AT).state, standing(50));
    }
    assert.equal(point.next(standing(50), throttled(), AT).state.blockedUntil, AT + HOUR);
    assert.equal(point.next({ ...standing(50), phase: 'disabled' }, throttled(), AT).state.phase, 'disabled');
  });
});

describe('whatever happens', () => {
  const outcome = fc.oneof(
    fc.tuple(fc.nat(3_000), fc.integer({ min: 0, max: 50 })).map(([ult, items]) => documents(ult, items)),
    fc.option(fc.nat(3 * HOUR), { nil: null }).map(throttled),
    fc.constantFrom<Outcome>(none, rejected, refused, unreadable, unknown, notSent, {
      kind: 'paused',
      statusCode: '108',
    }),
  );
  const story = fc.array(fc.tuple(outcome, fc.nat(5 * MINUTE), fc.boolean()), { maxLength: 80 });

  test('the cursor never goes back, a block never shrinks, a wait is never early', () => {
    fc.assert(
      fc.property(story, fc.constantFrom(1, 60, 3600), (events, timeScale) => {
        let state: CaptureState = { ...standing(0), timeScale };
        let at = AT;
        for (const [outcome, late, outage] of events) {
          at = Math.max(at, state.nextQueryAt ?? 0, state.blockedUntil ?? 0) + late;
          const before = state;
          ({ state } = after(before, outcome, { at, outage }));
          assert.ok(state.ultNsu >= before.ultNsu && state.maxNsu >= state.ultNsu);
          assert.ok((state.blockedUntil ?? 0) >= (before.blockedUntil ?? 0) || (before.blockedUntil ?? 0) <= at);
          assert.ok(
            (state.nextQueryAt ?? 0) >= at + Math.ceil((2 * SECOND) / timeScale) || outcome.kind === 'throttled',
          );
          assert.ok((state.nextQueryAt ?? 0) >= (state.blockedUntil ?? 0));
          assert.ok((state.lawfulFrom ?? 0) <= (state.nextQueryAt ?? 0));
          assert.ok(state.run.pages < 50);
          if (outcome.kind === 'none') assert.ok((state.nextQueryAt ?? 0) - at >= HOUR / timeScale);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('pages in any split: never 51 without a rest of 30 s', () => {
    fc.assert(
      fc.property(story, (events) => {
        let state = standing(0);
        let at = AT;
        let chain = 0;
        for (const [outcome] of events.flatMap((event) => Array<typeof event>(3).fill(event))) {
          at = Math.max(at, state.nextQueryAt ?? 0);
          ({ state } = after(state, outcome, { at }));
          chain = (state.nextQueryAt ?? 0) - at >= 30 * SECOND ? 0 : chain + Number(outcome.kind === 'documents');
          assert.ok(chain < 50);
        }
      }),
    );
  });
});
