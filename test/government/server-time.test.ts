import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseServerTime } from '../../src/government/server-time.js';

test('with an offset, in UTC, with fractions, and without an offset as Brasília’s (C61)', () => {
  const at = Date.UTC(2026, 8, 21, 13, 0, 5);
  for (const text of [
    '2026-09-21T10:00:05-03:00',
    '2026-09-21T13:00:05Z',
    '2026-09-21T09:00:05-04:00',
    '2026-09-21T10:00:05',
  ]) {
    assert.equal(parseServerTime(text), at, text);
  }
  assert.equal(parseServerTime('2026-09-21T10:00:05.250-03:00'), at + 250);
  assert.equal(parseServerTime('2026-09-21T10:00:05.1234567'), at + 123);
});

test('what is no time is none', () => {
  for (const text of [
    null,
    '',
    '21/09/2026 10:00:05',
    '2026-09-21',
    '2026-13-21T10:00:05-03:00',
    '2026-09-21T25:00:05Z',
    'x2026-09-21T10:00:05Z',
  ]) {
    assert.equal(parseServerTime(text), null, String(text));
  }
});
