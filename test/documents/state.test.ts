import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodeItem, fullXmlOf, instantOf, stateOf } from '../../src/documents/index.js';
import type { DocumentState } from '../../src/model/document.js';
import { event, eventSummary, note, summary } from './samples.js';

const states: DocumentState[] = ['authorized', 'denied', 'cancelled', 'replaced', 'blocked', 'unknown'];
const statement = fc.constantFrom<DocumentState | null>(null, ...states);

function implied(xml: string): DocumentState | null {
  const decoded = decodeItem({ content: Buffer.from(xml), encoding: 'identity', schema: null }, 'nfe');
  assert.ok(decoded.ok);
  return decoded.document.implies;
}

describe('state of a key', () => {
  test('the cancellation wins, before or after its note (case C32)', () => {
    const stories = [
      [note(), event()],
      [event(), note()],
      [eventSummary(), summary(), note()],
      [note({ cStat: '150' }), event({ cStat: '155' })],
    ];
    for (const story of stories) {
      assert.equal(stateOf(story.map(implied)), 'cancelled');
    }
  });

  test('a refused cancellation and a correction letter change nothing', () => {
    assert.equal(stateOf([note(), event({ cStat: '573' }), event({ type: '110110' })].map(implied)), 'authorized');
  });

  test('nothing known, nothing said', () => {
    assert.equal(stateOf([]), 'unknown');
    assert.equal(stateOf([null, null]), 'unknown');
  });

  test('order, repetition and grouping do not matter', () => {
    const shuffled = fc.array(statement, { maxLength: 8 }).chain((story) =>
      fc.tuple(
        fc.constant(story),
        fc
          .shuffledSubarray([...story.keys()], { minLength: story.length })
          .map((order) => order.map((at) => story[at] ?? null)),
        fc.nat(story.length),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([story, otherOrder, cut]) => {
        const state = stateOf(story);
        assert.equal(stateOf(otherOrder), state);
        assert.equal(stateOf([...story, ...otherOrder]), state);
        // A row keeps only the state so far: folding the rest into it must give the same.
        assert.equal(stateOf([stateOf(story.slice(0, cut)), ...story.slice(cut)]), state);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('full XML', () => {
  const about = { state: 'authorized', received: false, overdue: false } as const;

  test('a summary awaits its XML until it came, or never will', () => {
    assert.equal(fullXmlOf('resNFe', about), 'awaited');
    assert.equal(fullXmlOf('resNFe', { ...about, state: 'unknown' }), 'awaited');
    assert.equal(fullXmlOf('resNFe', { ...about, overdue: true }), 'overdue');
    assert.equal(fullXmlOf('resNFe', { ...about, received: true, overdue: true }), 'present');
    assert.equal(fullXmlOf('resNFe', { ...about, state: 'cancelled', received: true }), 'present');
    assert.equal(fullXmlOf('resNFe', { ...about, state: 'cancelled' }), 'not_applicable');
    assert.equal(fullXmlOf('resNFe', { ...about, state: 'denied', overdue: true }), 'not_applicable');
  });

  test('a whole document is present, events have none', () => {
    for (const kind of ['procNFe', 'procCTe', 'procCTeSimp', 'NFSe'] as const) {
      assert.equal(fullXmlOf(kind, about), 'present');
    }
    for (const kind of ['procEventoNFe', 'resEvento', 'evento', 'unknown'] as const) {
      assert.equal(fullXmlOf(kind, { ...about, received: true }), 'not_applicable');
    }
  });
});

describe('instants of written times', () => {
  const cases: [string, string | null][] = [
    ['2026-10-02T10:15:00-03:00', '2026-10-02T13:15:00.000Z'],
    ['2026-10-02T10:15:00.1234567-04:00', '2026-10-02T14:15:00.123Z'],
    ['2026-10-02T10:15:00Z', '2026-10-02T10:15:00.000Z'],
    ['2026-10-02T10:15:00', '2026-10-02T13:15:00.000Z'],
    ['2013-09-18', '2013-09-18T03:00:00.000Z'],
    ['2013-13-40', null],
    ['2026-10-02 10:15', null],
    ['18/09/2013', null],
    ['', null],
  ];
  for (const [written, expected] of cases) {
    test(`${JSON.stringify(written)}: ${expected}`, () => {
      const instant = instantOf(written);
      assert.equal(instant === null ? null : new Date(instant).toISOString(), expected);
    });
  }
});
