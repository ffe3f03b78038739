import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { cadenceOf, jitter, STOPPING, scaled } from '../../src/cadence/index.js';
import { type CaptureState, initialState, lag } from '../../src/model/capture-state.js';
import { ZERO_NSU } from '../../src/model/nsu.js';
import type { Outcome } from '../../src/model/outcome.js';
import { AT, documents, HOUR, MINUTE, none, nsu, standing, throttled, unknown } from './outcomes.js';

const { next } = cadenceOf('nfe');
const at = (
  state: CaptureState,
  outcome: Outcome,
  more: { at?: number; outage?: boolean; minIntervalMinutes?: number } = {},
) => {
  const when = more.at ?? AT;
  return next(state, outcome, { at: when, deadline: when + 5.5 * MINUTE, ...more });
};
const empty = none(5_100);
const notSent: Outcome = { kind: 'not_sent', reason: 'connect ECONNREFUSED' };
/** Repeats an outcome, each time at the instant that the state allows. */
const repeat = (state: CaptureState, outcome: Outcome, times: number): CaptureState => {
  let now = state;
  for (let i = 0; i < times; i++) now = at(now, outcome, { at: Math.max(AT, now.nextQueryAt ?? 0) }).state;
  return now;
};

describe('each outcome, beside its rule', () => {
  test('C09: more pending → next page at once', () => {
    const { state } = at(standing(59_025, 61_722), documents(59_075, 61_722));
    assert.deepEqual([state.phase, state.nextQueryAt, state.ultNsu, lag(state)], ['querying', AT, nsu(59_075), 2_647]);
  });

  test('C08: ultNSU = maxNSU → the chain ends and an hour passes', () => {
    const { state } = at(standing(0, 50), documents(50, 50));
    assert.deepEqual([state.phase, state.nextQueryAt, lag(state)], ['waiting', AT + 62 * MINUTE, 0]);
  });

  test('C11: ultNSU above maxNSU also ends the chain', () => {
    const { state } = at(standing(850, 850), documents(901, 900));
    assert.deepEqual([state.phase, state.ultNsu, state.maxNsu], ['waiting', nsu(901), nsu(901)]);
  });

  test('C01: 137 keeps the cursor, whatever pointers it prints, and leaves nothing pending', () => {
    const { state } = at(standing(5_000, 5_100), {
      kind: 'none',
      statusCode: '137',
      ultNsu: ZERO_NSU,
      maxNsu: nsu(9_999),
    });
    assert.deepEqual(
      [state.ultNsu, state.maxNsu, state.phase, state.nextQueryAt],
      [nsu(5_000), nsu(5_000), 'waiting', AT + 62 * MINUTE],
    );
  });

  test('the customer’s interval lengthens the wait and never shortens it', () => {
    assert.equal(at(standing(5_100), empty, { minIntervalMinutes: 180 }).state.nextQueryAt, AT + 3 * HOUR);
    assert.equal(at(standing(5_100), empty, { minIntervalMinutes: 5 }).state.nextQueryAt, AT + 62 * MINUTE);
  });

  test('a page that does not move the cursor is no reason to ask at once; the third raises an alert, once', () => {
    const first = at(standing(100, 200), documents(100, 200));
    assert.deepEqual(
      [first.state.phase, first.state.nextQueryAt, first.alerts.length],
      ['waiting', AT + 62 * MINUTE, 0],
    );
    const third = at(at(first.state, documents(100, 200)).state, documents(100, 200));
    assert.deepEqual(
      third.alerts.map((a) => [a.code, a.open]),
      [['page_without_progress', true]],
    );
    assert.deepEqual(
      at(third.state, documents(100, 200)).alerts.filter((a) => a.open),
      [],
    );
    assert.ok(at(third.state, documents(150, 200)).alerts.some((a) => a.code === 'page_without_progress' && !a.open));
  });

  test('C16: 108 and 109 pause the service for 5 and 20 minutes, the cursor stays', () => {
    for (const [code, minutes] of [
      ['108', 5],
      ['109', 20],
    ] as const) {
      const step = at(standing(5_000, 6_000), { kind: 'paused', statusCode: code });
      assert.deepEqual(step.servicePause, { code, until: AT + minutes * MINUTE });
      assert.deepEqual([step.state.phase, step.state.ultNsu, step.state.maxNsu], ['paused', nsu(5_000), nsu(6_000)]);
    }
  });

  test('C03: 656 with a pointer ahead → adopt it, keep the range, block an hour and a minute, say who', () => {
    const step = at(standing(505_344), throttled(505_511));
    assert.deepEqual(step.jumped, { from: nsu(505_345), to: nsu(505_511), cause: 'jump' });
    assert.deepEqual(
      [step.state.ultNsu, step.state.phase, step.state.blockedUntil],
      [nsu(505_511), 'blocked', AT + 61 * MINUTE],
    );
    assert.equal(step.state.quota.suspendedUntil, AT + 61 * MINUTE);
    assert.deepEqual(
      step.alerts.map((a) => [a.code, a.open]),
      [['other_consumer', true]],
    );
  });

  test('C04: 656 with a pointer behind never lowers the cursor', () => {
    const step = at(standing(5_000), throttled(4_100));
    assert.deepEqual([step.state.ultNsu, step.jumped, step.state.blockedUntil], [nsu(5_000), null, AT + 61 * MINUTE]);
  });

  test('a 656 after an unknown, at most a page ahead, is our own lost page: no alert', () => {
    const lost = at(standing(100, 400), unknown).state;
    const step = at(lost, throttled(150));
    assert.deepEqual(step.jumped, { from: nsu(101), to: nsu(150), cause: 'lost_page' });
    assert.deepEqual(step.alerts, []);
    const far = at(lost, throttled(151));
    assert.deepEqual([far.jumped?.cause, far.alerts.map((a) => a.code)], ['jump', ['other_consumer']]);
  });

  test('a pause between an unknown and its 656 does not forget whose page it was', () => {
    const paused = at(at(standing(100, 400), unknown).state, { kind: 'paused', statusCode: '108' }).state;
    assert.equal(at(paused, throttled(150)).jumped?.cause, 'lost_page');
  });

  test('maxNSU is never taken from a refusal', () => {
    const { state } = at(standing(5_000, 6_000), throttled(5_100));
    assert.deepEqual([state.maxNsu, lag(state)], [nsu(6_000), 900]);
  });

  test('C11: 589 blocks and alerts, the cursor is not reset', () => {
    const step = at(standing(900), { kind: 'rejected', statusCode: '589' });
    assert.deepEqual([step.state.ultNsu, step.state.phase, step.state.blockedUntil], [nsu(900), 'blocked', AT + HOUR]);
    assert.deepEqual(
      step.alerts.map((a) => a.code),
      ['cursor_ahead'],
    );
    const over = at(step.state, documents(950, 950), { at: AT + HOUR });
    assert.ok(
      over.alerts.some((a) => a.code === 'cursor_ahead' && !a.open),
      'an ordinary answer closes it',
    );
  });

  test('other rejections and a refused certificate block for an hour', () => {
    assert.equal(at(standing(1), { kind: 'rejected', statusCode: '215' }).state.blockedUntil, AT + HOUR);
    const refused = at(standing(1), { kind: 'certificate_refused', statusCode: '280' }).state;
    assert.deepEqual([refused.blockedUntil, refused.certificateRefusals], [AT + HOUR, 1]);
  });

  test('communication failures wait 1, 2, 4, 8, 16, 30, 30 … minutes at the same cursor; the tenth asks for people', () => {
    let state = standing(77, 99);
    const waits: number[] = [];
    for (let i = 0; i < 9; i++) {
      const step = at(state, notSent);
      waits.push(((step.state.nextQueryAt ?? 0) - AT) / MINUTE);
      state = step.state;
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 30, 30, 30, 30]);
    const tenth = at(state, notSent);
    assert.deepEqual(
      [tenth.state.phase, tenth.state.nextQueryAt, tenth.alerts[0]?.code],
      ['attention', AT + 6 * HOUR, 'capture_attention'],
    );
    assert.deepEqual([tenth.state.ultNsu, tenth.state.maxNsu], [nsu(77), nsu(99)]);
    assert.equal(tenth.state.lawfulFrom, null, 'no rule forbids an operator to try at once');
    const back = at(tenth.state, empty);
    assert.ok(back.state.failures === 0 && back.alerts.some((a) => a.code === 'capture_attention' && !a.open));
  });

  test('during an outage failures count against nobody', () => {
    assert.equal(at(standing(1), notSent, { outage: true }).state.failures, 0);
  });

  test('a call dropped because the process stops counts as nothing', () => {
    const before = { ...standing(10, 20), nextQueryAt: AT - 5 };
    assert.deepEqual(at(before, { kind: 'not_sent', reason: STOPPING }).state, before);
  });

  test('unknown: one try after 2 minutes if more than a page was pending, then the whole hour from the deadline', () => {
    const first = at(standing(100, 200), unknown).state;
    assert.equal(first.nextQueryAt, AT + 2 * MINUTE);
    assert.equal(at(first, unknown).state.nextQueryAt, AT + 5.5 * MINUTE + 62 * MINUTE);
    assert.equal(at(standing(100), unknown).state.nextQueryAt, AT + 5.5 * MINUTE + 62 * MINUTE);
    // The lost page may have been the last one, and then the hour runs.
    assert.equal(at(standing(100, 150), unknown).state.nextQueryAt, AT + 5.5 * MINUTE + 62 * MINUTE);
    assert.equal(at(standing(100, 151), unknown).state.nextQueryAt, AT + 2 * MINUTE);
  });
});

const drained = (outcome: Outcome, before: CaptureState, after: CaptureState) =>
  outcome.kind === 'none' ||
  (outcome.kind === 'documents' && (after.ultNsu >= after.maxNsu || after.ultNsu === before.ultNsu));

describe('what holds for every history', () => {
  const outcome: fc.Arbitrary<Outcome> = fc.oneof(
    fc.record({ a: fc.nat(5_000), b: fc.nat(5_000) }).map(({ a, b }) => documents(a, b)),
    fc
      .record({ a: fc.nat(5_000), b: fc.nat(5_000) })
      .map(({ a, b }): Outcome => ({ kind: 'none', statusCode: '137', ultNsu: nsu(a), maxNsu: nsu(b) })),
    fc.option(fc.nat(5_000)).map(throttled),
    fc.constantFrom('108', '109').map((statusCode): Outcome => ({ kind: 'paused', statusCode })),
    fc.constantFrom('589', '215', '999').map((statusCode): Outcome => ({ kind: 'rejected', statusCode })),
    fc.constant<Outcome>({ kind: 'certificate_refused', statusCode: '280' }),
    fc.constant<Outcome>({ kind: 'unreadable', statusCode: '502', reason: 'html' }),
    fc.constant(notSent),
    fc.constant(unknown),
  );
  const history = fc.array(fc.record({ outcome, late: fc.nat(3 * HOUR), outage: fc.boolean() }), { maxLength: 40 });

  test('cursor never back, lag never negative, blocks only extended, waits at least the rule’s', () => {
    fc.assert(
      fc.property(history, fc.constantFrom(1, 60, 3600), (steps, scale) => {
        let state: CaptureState = initialState(ZERO_NSU, scale);
        let now = AT;
        for (const { outcome, late, outage } of steps) {
          now = Math.max(now, state.nextQueryAt ?? now) + late;
          const { state: after, jumped } = next(state, outcome, { at: now, deadline: now + 5.5 * MINUTE, outage });
          assert.ok(after.ultNsu >= state.ultNsu && after.maxNsu >= after.ultNsu);
          assert.ok(after.nextQueryAt !== null && after.nextQueryAt >= now);
          assert.ok(after.nextQueryAt >= (after.lawfulFrom ?? 0), 'never before the rules allow');
          if (drained(outcome, state, after)) assert.ok((after.lawfulFrom ?? 0) - now >= HOUR / scale);
          if (state.blockedUntil !== null && state.blockedUntil > now)
            assert.ok((after.blockedUntil ?? 0) >= state.blockedUntil);
          if (drained(outcome, state, after))
            assert.ok(after.nextQueryAt - now >= HOUR / scale, 'one hour after an empty queue (NT 2014.002 3.11.4)');
          if (outcome.kind === 'throttled') assert.ok(after.nextQueryAt - now >= HOUR / scale, 'one hour after a 656');
          if (outcome.kind === 'unknown' && state.unknowns > 0) assert.ok(after.nextQueryAt - now >= HOUR / scale);
          if (jumped) assert.deepEqual([BigInt(jumped.from), jumped.to], [BigInt(state.ultNsu) + 1n, after.ultNsu]);
          assert.equal(JSON.parse(JSON.stringify(after)).ultNsu, after.ultNsu, 'the state survives JSON');
          state = after;
        }
      }),
      { numRuns: 500 },
    );
  });

  test('jitter is 0 to 10 %, at most 3 minutes, never negative; scaling never shortens below its share', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -HOUR, max: 24 * HOUR }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (wait, random) => {
          const added = jitter(wait, random);
          assert.ok(added >= 0 && added <= Math.max(0, wait) / 10 + 1 && added <= 3 * MINUTE);
          assert.ok(scaled(Math.max(wait, 0), 60) * 60 >= wait);
        },
      ),
    );
  });

  test('ten refusals to connect and a recovery leave no trace but the alert’s end', () => {
    const attention = repeat(standing(5_100), notSent, 12);
    assert.equal(attention.phase, 'attention');
    assert.equal(at(attention, empty, { at: attention.nextQueryAt ?? 0 }).state.phase, 'waiting');
  });
});
