import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Gap, gapsOf, LARGEST_UNATTENDED_GAP } from '../../src/storage/gaps.js';
import { nsu } from './government.js';

const move = fc.record({
  before: fc.integer({ min: 0, max: 300 }),
  length: fc.integer({ min: -20, max: 120 }),
  came: fc.array(fc.integer({ min: 0, max: 450 }), { maxLength: 60 }),
  firstPage: fc.boolean(),
  jumped: fc.constantFrom(null, 'jump' as const, 'lost_page' as const),
});

const numbers = ({ from, to }: Gap) =>
  Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => Number(from) + i);

describe('gaps', () => {
  test('with what came they are a partition of everything that the cursor passed', () => {
    fc.assert(
      fc.property(move, ({ before, length, came, firstPage, jumped }) => {
        const after = Math.max(before + length, 0);
        const gaps = gapsOf({ before: nsu(before), after: nsu(after), came: came.map(nsu), firstPage, jumped });
        const passed = new Set(Array.from({ length: Math.max(after - before, 0) }, (_, i) => before + 1 + i));
        const inside = new Set(came.filter((n) => passed.has(n)));
        const missing = gaps.flatMap(numbers);
        assert.equal(new Set(missing).size, missing.length, 'no NSU is in two gaps');
        assert.deepEqual(
          [...missing, ...inside].sort((a, b) => a - b),
          [...passed].sort((a, b) => a - b),
        );
        for (const { from, to } of gaps) assert.ok(from <= to);
      }),
      { numRuns: 2_000 },
    );
  });

  const cases: [string, Parameters<typeof gapsOf>[0], string[]][] = [
    ['none when all came', page(0, 3, [1, 2, 3]), []],
    ['in the middle and at the end', page(10, 20, [11, 12, 15, 16]), ['13-14 pending page', '17-20 pending page']],
    [
      'before the first document nothing was promised',
      page(0, 60, [51, 53, 60], true),
      ['1-50 before_onboarding first_page', '52-52 pending page', '54-59 pending page'],
    ],
    ['a first page that begins at the cursor has none before', page(0, 3, [1, 3], true), ['2-2 pending page']],
    [
      'a first answer without documents that moves the pointer',
      page(0, 500, [], true),
      ['1-500 before_onboarding first_page'],
    ],
    ['another program’s page', { ...page(5, 8, []), jumped: 'jump' }, ['6-8 pending jump']],
    ['our own lost page', { ...page(5, 55, []), jumped: 'lost_page' }, ['6-55 pending lost_page']],
    [
      'a lost first page: only as much as a page can hold is ours',
      { ...page(0, 16_264, [], true), jumped: 'lost_page' },
      ['1-16214 before_onboarding first_page', '16215-16264 pending lost_page'],
    ],
    ['a short lost first page', { ...page(0, 20, [], true), jumped: 'lost_page' }, ['1-20 pending lost_page']],
    [
      'another program was here before us',
      { ...page(0, 5_000, [], true), jumped: 'jump' },
      ['1-5000 awaiting_confirmation jump'],
    ],
    [
      'as large as may be worked off unattended',
      page(0, LARGEST_UNATTENDED_GAP + 1, [LARGEST_UNATTENDED_GAP + 1]),
      [`1-${LARGEST_UNATTENDED_GAP} pending page`],
    ],
    [
      'one larger',
      page(0, LARGEST_UNATTENDED_GAP + 2, [LARGEST_UNATTENDED_GAP + 2]),
      [`1-${LARGEST_UNATTENDED_GAP + 1} awaiting_confirmation page`],
    ],
    [
      'up to the highest number there is',
      page(999_999_999_999_997n, 999_999_999_999_999n, [999_999_999_999_998n]),
      ['999999999999999-999999999999999 pending page'],
    ],
    ['none when the cursor stays or goes back', page(9, 5, [3]), []],
  ];
  for (const [name, input, expected] of cases) {
    test(name, () => {
      const shown = gapsOf(input).map(
        ({ from, to, status, cause }) => `${BigInt(from)}-${BigInt(to)} ${status} ${cause}`,
      );
      assert.deepEqual(shown, expected);
    });
  }
});

function page(before: number | bigint, after: number | bigint, came: (number | bigint)[], firstPage = false) {
  return { before: nsu(before), after: nsu(after), came: came.map(nsu), firstPage, jumped: null };
}
