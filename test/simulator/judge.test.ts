import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseNsu } from '../../src/model/nsu.js';
import { NFE } from '../../src/simulator/distribution/dialect.js';
import {
  afterDistribution,
  afterOther,
  afterPointQuery,
  judgeDistribution,
  judgePointQuery,
  POINT_QUERIES_PER_HOUR,
  unseen,
} from '../../src/simulator/rules/judge.js';
import { timingOf, UNUSED, USUAL_POLICY, type UsageState } from '../../src/simulator/rules/state.js';

const HOUR = 3_600_000;
const circumstances = (at: number) => ({ at, timing: timingOf(1), policy: USUAL_POLICY, manners: NFE.manners });
const n = parseNsu;

test('a client that keeps the rules is never refused, whatever its pace (property)', () => {
  const step = fc.record({
    later: fc.nat(3 * HOUR),
    arrivals: fc.nat(200),
    point: fc.boolean(),
    returned: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.nat(1000), (steps, start) => {
      let state: UsageState = UNUSED;
      let at = Date.parse('2026-11-30T12:00:00Z');
      let max = start;
      // What an honest client knows.
      let cursor = start;
      let freeFrom = at;
      let granted: number[] = [];
      for (const { later, arrivals, point, returned } of steps) {
        at += later;
        max += arrivals;
        if (point) {
          granted = granted.filter((time) => time > at - HOUR);
          if (granted.length >= POINT_QUERIES_PER_HOUR) continue;
          const verdict = judgePointQuery(state, circumstances(at));
          assert.equal(verdict.refusal, null);
          state = afterPointQuery(state, returned, circumstances(at));
          if (returned) granted.push(at);
        } else if (at >= freeFrom) {
          const verdict = judgeDistribution(state, n(cursor), n(max), circumstances(at));
          assert.equal(verdict.refusal, null);
          assert.equal(verdict.rule, null);
          const ultNsu = Math.min(cursor + 50, max);
          state = afterDistribution(
            state,
            { askedFrom: n(cursor), ultNsu: n(ultNsu), maxNsu: n(max) },
            circumstances(at),
          );
          cursor = ultNsu;
          freeFrom = ultNsu === max ? at + HOUR : at;
        }
      }
    }),
  );
});

test('any call before the hour is over is refused, and none after it (property)', () => {
  fc.assert(
    fc.property(fc.nat(2 * HOUR), (later) => {
      const state = afterDistribution(UNUSED, { askedFrom: n(0), ultNsu: n(7), maxNsu: n(7) }, circumstances(0));
      const verdict = judgeDistribution(state, n(7), n(7), circumstances(later));
      assert.equal(verdict.rule, later < HOUR ? 'early' : null);
      assert.equal(verdict.refusal?.cStat, later < HOUR ? '656' : undefined);
    }),
  );
});

test('calls during a block move its end, however many (property)', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: HOUR - 1 }), { minLength: 1, maxLength: 20 }), (waits) => {
      let at = 0;
      let state = afterDistribution(UNUSED, { askedFrom: n(0), ultNsu: n(7), maxNsu: n(9) }, circumstances(at));
      ({ state } = judgeDistribution(state, n(3), n(9), circumstances(at)));
      for (const wait of waits) {
        at += wait;
        const verdict = judgeDistribution(state, n(7), n(9), circumstances(at));
        assert.equal(verdict.rule, 'during_block');
        assert.equal(verdict.state.blockedUntil, at + HOUR);
        state = verdict.state;
      }
      assert.equal(judgeDistribution(state, n(7), n(9), circumstances(at + HOUR)).refusal, null);
    }),
  );
});

describe('an answer that got lost', () => {
  const seen = afterDistribution(UNUSED, { askedFrom: n(0), ultNsu: n(50), maxNsu: n(90) }, circumstances(0));
  const lost = unseen(seen, n(0));

  test('the repeat is refused with the pointer, but nobody broke a rule', () => {
    const verdict = judgeDistribution(lost, n(0), n(90), circumstances(1));
    assert.equal(verdict.refusal?.cStat, '656');
    assert.equal(verdict.refusal?.ultNsu, n(50));
    assert.equal(verdict.rule, null);
  });

  test('any other cursor is as wrong as ever', () => {
    assert.equal(judgeDistribution(lost, n(20), n(90), circumstances(1)).rule, 'wrong_ultnsu');
  });

  test('the repeat of an answer that arrived breaks the rule', () => {
    const verdict = judgeDistribution(seen, n(0), n(90), circumstances(1));
    assert.equal(verdict.rule, 'wrong_ultnsu');
    assert.equal(verdict.detail, 'repeat of the last request');
  });

  test('a tolerant government answers the repeat', () => {
    const policy = { ...USUAL_POLICY, tolerateRepeat: true };
    const verdict = judgeDistribution(lost, n(0), n(90), { ...circumstances(1), policy });
    assert.equal(verdict.refusal, null);
  });
});

describe('another consumer that the client knows nothing of', () => {
  const drained = afterDistribution(UNUSED, { askedFrom: n(0), ultNsu: n(50), maxNsu: n(50) }, circumstances(0));

  test('the first call from the old cursor is refused and excused, the next one is not', () => {
    const moved = afterOther(drained, { ultNsu: n(60), maxNsu: n(60) }, circumstances(HOUR / 2));
    const verdict = judgeDistribution(moved, n(50), n(60), circumstances(HOUR + 1));
    assert.deepEqual([verdict.refusal?.cStat, verdict.refusal?.ultNsu, verdict.rule], ['656', n(60), null]);
    assert.equal(judgeDistribution(verdict.state, n(60), n(60), circumstances(HOUR + 2)).rule, 'during_block');
    assert.equal(judgeDistribution(moved, n(49), n(60), circumstances(HOUR + 1)).rule, 'early');
  });

  test('it takes several times: what the client knows stays the same', () => {
    const once = afterOther(drained, { ultNsu: n(60), maxNsu: n(70) }, circumstances(1));
    const twice = afterOther(once, { ultNsu: n(70), maxNsu: n(70) }, circumstances(2));
    assert.equal(twice.excusedFrom, n(50));
    const first = afterOther(UNUSED, { ultNsu: n(60), maxNsu: n(70) }, circumstances(1));
    assert.equal(afterOther(first, { ultNsu: n(70), maxNsu: n(70) }, circumstances(2)).excusedFrom, 'any');
  });
});

test('the time scale divides the hour', () => {
  const now = { at: 0, timing: timingOf(60), policy: USUAL_POLICY, manners: NFE.manners };
  const state = afterDistribution(UNUSED, { askedFrom: n(0), ultNsu: n(7), maxNsu: n(7) }, now);
  assert.equal(state.notBefore, 60_000);
});
