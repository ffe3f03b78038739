import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { nextAttemptAt, RETRY, retryAfterMs } from '../../src/webhooks/retry.js';

const MINUTE = 60_000;
const START = Date.UTC(2026, 10, 30);
const failed = (attempts: number, after = 0, retryAfter: number | null = null) => ({
  attempts,
  firstAttemptAt: START,
  failedAt: START + after,
  retryAfterMs: retryAfter,
});

describe('when a failed delivery is tried again', () => {
  test('1 minute, doubling to 1 hour', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 70].map((n) => (nextAttemptAt(failed(n), 0) ?? 0) - START);
    assert.deepEqual(
      waits.map((wait) => wait / MINUTE),
      [1, 2, 4, 8, 16, 32, 60, 60, 60],
    );
  });

  test('later by up to a tenth, never earlier', () => {
    assert.equal(nextAttemptAt(failed(1), 0.5), START + 63_000);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 90 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (n, random) => {
          const base = (nextAttemptAt(failed(n), 0) ?? 0) - START;
          const wait = (nextAttemptAt(failed(n), random) ?? 0) - START;
          assert.ok(wait >= base && wait <= base * 1.1 + 1);
        },
      ),
    );
  });

  test('a longer Retry-After is honoured, a shorter one is not', () => {
    assert.equal(nextAttemptAt(failed(1, 0, 10 * MINUTE), 0), START + 10 * MINUTE);
    assert.equal(nextAttemptAt(failed(4, 0, 1000), 0), START + 8 * MINUTE);
  });

  test('the last attempt is at the end of 3 days, also when Retry-After says longer', () => {
    const end = START + RETRY.horizonMs;
    assert.equal(nextAttemptAt(failed(70, RETRY.horizonMs - 10 * MINUTE), 0), end);
    assert.equal(nextAttemptAt(failed(1, 0, 30 * 24 * 60 * MINUTE), 0), end);
    assert.equal(nextAttemptAt(failed(71, RETRY.horizonMs), 0), null);
  });

  test('a receiver that always fails is tried some 77 times over exactly 3 days', () => {
    let [attempts, at] = [0, START];
    for (let next: number | null = START; next !== null; ) {
      at = next;
      attempts += 1;
      next = nextAttemptAt({ attempts, firstAttemptAt: START, failedAt: at, retryAfterMs: null }, 0);
    }
    assert.equal(at, START + RETRY.horizonMs);
    assert.ok(attempts > 70 && attempts < 80, `${attempts}`);
  });
});

describe('Retry-After', () => {
  const table: [string | null, number | null][] = [
    [null, null],
    ['120', 120_000],
    [' 5 ', 5_000],
    ['0', null],
    ['-5', null],
    ['soon', null],
    ['', null],
    ['1e9', null],
    ['Mon, 30 Nov 2026 00:10:00 GMT', 10 * MINUTE],
    ['Sun, 29 Nov 2026 00:10:00 GMT', null],
  ];
  for (const [header, expected] of table) {
    test(`${header === null ? 'absent' : `"${header}"`} is ${expected}`, () => {
      assert.equal(retryAfterMs(header, START), expected);
    });
  }
});
