import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { cadenceOf, scaled } from '../../src/cadence/index.js';
import { type CaptureState, initialState, lag } from '../../src/model/capture-state.js';
import { ZERO_NSU } from '../../src/model/nsu.js';
import type { Outcome } from '../../src/model/outcome.js';
import { AT, documents, HOUR, MINUTE, none, nsu, standing, throttled, unknown } from './outcomes.js';

/** What differs from NF-e, beside its rule (design section 6), and what must not differ. */

const { next, callLimit } = cadenceOf('cte');
const at = (state: CaptureState, outcome: Outcome, more: { at?: number; minIntervalMinutes?: number } = {}) => {
  const when = more.at ?? AT;
  return next(state, outcome, { at: when, deadline: when + 5.5 * MINUTE, ...more });
};

describe('each outcome of CT-e, beside its rule', () => {
  test('137 moves the cursor to ultNSU, and waits 60 minutes', () => {
    const step = at(standing(5_000, 5_100), none(5_080, 9_999));
    assert.deepEqual([step.state.ultNsu, step.state.phase, step.state.nextQueryAt], [nsu(5_080), 'waiting', AT + HOUR]);
    assert.deepEqual(step.jumped, { from: nsu(5_001), to: nsu(5_080), cause: 'jump' });
    assert.equal(lag(step.state), 0, 'the service said that nothing follows');
  });

  test('137 never moves it back, nor anywhere without a pointer', () => {
    for (const outcome of [none(0), none(4_999), none(5_000), none(null)]) {
      const step = at(standing(5_000, 5_100), outcome);
      assert.deepEqual([step.state.ultNsu, step.jumped], [nsu(5_000), null]);
    }
  });

  test('137 before the first page: what the pointer passes was never promised, so it is no jump', () => {
    const step = at(initialState(), none(5_000));
    assert.deepEqual([step.state.ultNsu, step.jumped, step.state.hasPage], [nsu(5_000), null, false]);
  });

  test('queue drained → 60 minutes, more pending → at once', () => {
    assert.equal(at(standing(0, 50), documents(50, 50)).state.nextQueryAt, AT + HOUR);
    assert.equal(at(standing(0, 90), documents(50, 90)).state.nextQueryAt, AT);
  });

  test('the customer’s interval lengthens the wait and never shortens it', () => {
    assert.equal(at(standing(5), none(5), { minIntervalMinutes: 61 }).state.nextQueryAt, AT + 61 * MINUTE);
    assert.equal(at(standing(5), none(5), { minIntervalMinutes: 59 }).state.nextQueryAt, AT + HOUR);
  });

  test('656 blocks 60 min and 60 s and is recorded; the cursor stays, point queries go on, nobody is accused', () => {
    for (const pointer of [null, 4_000, 5_000, 5_400]) {
      const step = at(standing(5_000, 5_100), throttled(pointer));
      assert.deepEqual(
        [step.state.phase, step.state.blockedUntil, step.state.ultNsu, step.state.maxNsu, step.jumped],
        ['blocked', AT + 61 * MINUTE, nsu(5_000), nsu(5_100), null],
      );
      assert.equal(step.state.quota.suspendedUntil, null);
      assert.deepEqual(step.state.lastAnswer, { code: '656', at: AT });
      assert.match(step.state.reason, /656/);
      assert.deepEqual(step.alerts, []);
    }
  });

  test('a 656 during a suspension of point queries does not end it', () => {
    const suspended = { ...standing(5), quota: { grants: [AT - 1], suspendedUntil: AT + 5 } };
    assert.deepEqual(at(suspended, throttled(null)).state.quota, suspended.quota);
  });

  test('589 blocks 60 minutes with a critical alert; the cursor is not reset', () => {
    const step = at(standing(900), { kind: 'rejected', statusCode: '589' });
    assert.deepEqual([step.state.ultNsu, step.state.phase, step.state.blockedUntil], [nsu(900), 'blocked', AT + HOUR]);
    assert.deepEqual(
      step.alerts.map(({ code, open, severity }) => [code, open, severity]),
      [['cursor_ahead', true, 'critical']],
    );
    const nfe = cadenceOf('nfe').next(standing(900), { kind: 'rejected', statusCode: '589' }, { at: AT, deadline: AT });
    assert.deepEqual(
      nfe.alerts.map(({ severity }) => severity),
      ['warning'],
    );
    assert.ok(at(step.state, none(900), { at: AT + HOUR }).alerts.some((a) => a.code === 'cursor_ahead' && !a.open));
  });

  test('other rejections and a refused certificate block 60 minutes', () => {
    assert.equal(at(standing(1), { kind: 'rejected', statusCode: '215' }).state.blockedUntil, AT + HOUR);
    const refused = at(standing(1), { kind: 'certificate_refused', statusCode: '593' }).state;
    assert.deepEqual([refused.blockedUntil, refused.certificateRefusals], [AT + HOUR, 1]);
  });

  test('108 and 109 pause the service 5 and 20 minutes', () => {
    for (const [statusCode, minutes] of [
      ['108', 5],
      ['109', 20],
    ] as const) {
      const step = at(standing(5), { kind: 'paused', statusCode });
      assert.deepEqual(step.servicePause, { code: statusCode, until: AT + minutes * MINUTE });
    }
  });

  test('unknown: one try after 2 minutes if more was pending, then the whole hour from the deadline', () => {
    const first = at(standing(100, 200), unknown).state;
    assert.equal(first.nextQueryAt, AT + 2 * MINUTE);
    assert.equal(at(first, unknown).state.nextQueryAt, AT + 5.5 * MINUTE + HOUR);
  });

  test('a call may last 5 minutes', () => assert.equal(callLimit, 5 * MINUTE));
});

describe('against NF-e', () => {
  const nfe = cadenceOf('nfe').next;
  const outcome: fc.Arbitrary<Outcome> = fc.oneof(
    fc.record({ a: fc.nat(5_000), b: fc.nat(5_000) }).map(({ a, b }) => documents(a, b)),
    fc.option(fc.nat(5_000)).map((ult) => none(ult)),
    fc.option(fc.nat(5_000)).map(throttled),
    fc.constantFrom('108', '109').map((statusCode): Outcome => ({ kind: 'paused', statusCode })),
    fc.constantFrom('589', '215').map((statusCode): Outcome => ({ kind: 'rejected', statusCode })),
    fc.constant<Outcome>({ kind: 'certificate_refused', statusCode: '280' }),
    fc.constant<Outcome>({ kind: 'unreadable', statusCode: '502', reason: 'html' }),
    fc.constant<Outcome>({ kind: 'not_sent', reason: 'connect ECONNREFUSED' }),
    fc.constant(unknown),
  );
  const history = fc.array(fc.record({ outcome, late: fc.nat(3 * HOUR) }), { maxLength: 40 });

  test('every history keeps the invariants: never back, never early, blocks only extended', () => {
    fc.assert(
      fc.property(history, fc.constantFrom(1, 60, 3600), (steps, scale) => {
        let state: CaptureState = initialState(ZERO_NSU, scale);
        let now = AT;
        for (const { outcome, late } of steps) {
          now = Math.max(now, state.nextQueryAt ?? now) + late;
          const { state: after, jumped } = next(state, outcome, { at: now, deadline: now + 5.5 * MINUTE });
          assert.ok(after.ultNsu >= state.ultNsu && after.maxNsu >= after.ultNsu);
          const wait = (after.nextQueryAt ?? 0) - now;
          assert.ok(wait >= 0);
          if (state.blockedUntil !== null && state.blockedUntil > now) {
            assert.ok((after.blockedUntil ?? 0) >= state.blockedUntil);
          }
          if (outcome.kind === 'none') assert.ok(wait >= scaled(HOUR, scale));
          if (outcome.kind === 'throttled') assert.ok(wait >= scaled(61 * MINUTE, scale));
          if (outcome.kind === 'throttled') assert.equal(after.ultNsu, state.ultNsu);
          assert.equal(after.quota.suspendedUntil, null, 'no distribution answer suspends point queries');
          if (jumped) assert.deepEqual([BigInt(jumped.from), jumped.to], [BigInt(state.ultNsu) + 1n, after.ultNsu]);
          state = after;
        }
      }),
      { numRuns: 300 },
    );
  });

  test('apart from 137, 656, 589 and the two minutes, both do the same', () => {
    fc.assert(
      fc.property(outcome, fc.nat(100), fc.nat(100), (one, ult, ahead) => {
        fc.pre(!['none', 'throttled'].includes(one.kind) && !('statusCode' in one && one.statusCode === '589'));
        const before = standing(ult, ult + ahead);
        const cte = at(before, one);
        const other = nfe(before, one, { at: AT, deadline: AT + 5.5 * MINUTE });
        // The hour after an empty queue is the one wait that differs.
        const late = (other.state.nextQueryAt ?? 0) - (cte.state.nextQueryAt ?? 0);
        assert.ok(late === 0 || late === 2 * MINUTE);
        const same = { nextQueryAt: 0, lawfulFrom: 0 };
        assert.deepEqual({ ...cte.state, ...same }, { ...other.state, ...same });
        assert.deepEqual([cte.jumped, cte.servicePause, cte.alerts], [other.jumped, other.servicePause, other.alerts]);
      }),
    );
  });
});
