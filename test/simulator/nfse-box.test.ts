import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Box } from '../../src/simulator/nfse/box.js';

const AT = Date.UTC(2026, 10, 30);

function filled(taxId: string): Box {
  const box = new Box(taxId, 'homologation');
  box.arrive({ count: 24, eventsEvery: 4, strangersEvery: 3, issuedEvery: 5, at: AT });
  return box;
}

const keysOf = (box: Box, type: 'NFSE' | 'EVENTO') =>
  box.items.filter((item) => item.type === type).map(({ key }) => key);

test('companies share no key, whoever issued and took the note; the same arrivals give the same keys', () => {
  const [one, two] = [filled('98765432000198'), filled('12345678909')];
  const keys = [...keysOf(one, 'NFSE'), ...keysOf(two, 'NFSE')];
  assert.equal(new Set(keys).size, keys.length);
  assert.deepEqual(filled('98765432000198').items, one.items);
});

test('every cancellation is of a note of its box, also of one between strangers', () => {
  const box = filled('98765432000198');
  const notes = new Set(keysOf(box, 'NFSE'));
  assert.deepEqual(
    keysOf(box, 'EVENTO').filter((key) => !notes.has(key)),
    [],
  );
});

test('… also of one that the company issued, and where the months change between note and cancellation', () => {
  const box = new Box('98765432000198', 'homologation');
  box.arrive({ count: 90, eventsEvery: 3, issuedEvery: 4, at: AT, spreadMs: 100 * 86_400_000 });
  box.arrive({ count: 2, at: AT });
  box.arrive({ count: 2, eventsEvery: 2, at: AT + 20 * 86_400_000 });
  const notes = new Set(keysOf(box, 'NFSE'));
  assert.deepEqual(
    keysOf(box, 'EVENTO').filter((key) => !notes.has(key)),
    [],
  );
});
