import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { addNsu, compareNsu, InvalidNsu, maxNsu, nsuDistance, parseNsu, tryParseNsu } from '../../src/model/nsu.js';
import { sharedFile } from '../support/shared.js';

/** What is no NSU is an error that says so, never another NSU (case C12). */
function refused(input: unknown): void {
  assert.throws(() => parseNsu(input), InvalidNsu, String(input));
  assert.equal(tryParseNsu(input), null);
}

describe('an NSU from outside', () => {
  test('gets its 15 digits', () => {
    for (const input of ['34000', 34000, 34000n, ' 000000000034000 ', '034000', '\t34000\n']) {
      assert.equal(parseNsu(input), '000000000034000');
    }
    assert.equal(parseNsu('0'), '000000000000000');
    assert.equal(parseNsu('999999999999999'), '999999999999999');
  });

  test('is refused when it is none', () => {
    const none = ['', ' ', null, undefined, '12a', '-1', '+1', '1e3', '1.0', '0x1F', '1 2', '٣٤', true, {}, ['1']];
    for (const input of [...none, '1234567890123456', -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, -1n, 10n ** 15n]) {
      refused(input);
    }
  });

  test('as a number that JSON has already rounded is refused, and the error says how to send it', () => {
    assert.throws(() => parseNsu(JSON.parse('9007199254740993')), /send it as a string of 1 to 15 digits/);
  });

  test('the table of the cases', (context) => {
    const file = sharedFile('cases/12-nsu-inputs.json');
    if (file === null) return context.skip('the folder shared/ is not beside the project');
    for (const { input, expect } of JSON.parse(readFileSync(file, 'utf8')) as { input: unknown; expect: string }[]) {
      if (expect.startsWith('error')) refused(input);
      else assert.equal(parseNsu(input), expect);
    }
  });
});

test('NSUs order, add and subtract as the numbers they are, beyond what a float holds', () => {
  const number = fc.bigInt({ min: 0n, max: 10n ** 15n - 1n });
  fc.assert(
    fc.property(number, number, (a, b) => {
      const [one, other] = [parseNsu(a), parseNsu(b)];
      assert.equal(Math.sign(compareNsu(one, other)), a < b ? -1 : a > b ? 1 : 0);
      assert.equal(maxNsu(one, other), [one, other].toSorted(compareNsu)[1]);
      assert.equal(addNsu(one, nsuDistance(one, other)), other);
    }),
  );
  assert.equal(addNsu(parseNsu(3), -5), '000000000000000', 'never below zero');
  assert.throws(() => addNsu(parseNsu('999999999999999'), 1), InvalidNsu);
});
