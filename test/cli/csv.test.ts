import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { readCsv } from '../../src/cli/csv.js';

describe('a table', () => {
  const text = fc.stringMatching(/^[a-zç0-9;,"\n |-]{0,12}$/).map((value) => value.trim());

  for (const delimiter of [',', ';']) {
    test(`that was written with "${delimiter}" is read as it was meant`, () => {
      const row = fc.tuple(
        text.filter((value) => value !== ''),
        text,
        text,
      );
      fc.assert(
        fc.property(fc.array(row), fc.boolean(), (rows, windows) => {
          const written = stringify([['a', 'b', 'c'], ...rows], {
            delimiter,
            quoted_match: /\n/,
            record_delimiter: windows ? 'windows' : 'unix',
          });
          const read = readCsv(written, ['a', 'b', 'c'], ['a']);
          assert.deepEqual(
            read.map(({ values }) => [values.a, values.b, values.c]),
            rows,
          );
        }),
      );
    });
  }

  test('lines are counted over breaks inside values; the last one may be without an end', () => {
    const read = readCsv('a,b\r\n"x\r\ny",1\r\n\r\nz,2', ['a', 'b'], ['a']);
    assert.deepEqual(
      read.map(({ number, values }) => [number, values.a, values.b]),
      [
        [2, 'x\r\ny', '1'],
        [5, 'z', '2'],
      ],
    );
    assert.deepEqual(readCsv('a', ['a'], []), []);
  });

  for (const [what, text, message] of [
    ['a quote that is not closed', 'a\n"x', /line 2: a double quote is not closed/],
    ['text behind a quote', 'a\n"x"y', /line 2: a double quote is not closed, or something follows it/],
    ['nothing at all', '', /the column "a" is missing/],
  ] as const) {
    test(`${what} is refused`, () => assert.throws(() => readCsv(text, ['a'], ['a']), message));
  }
});
