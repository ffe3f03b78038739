import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { layOut } from '../../src/pdf/print.js';
import { makeCast, makeNote } from '../../src/simulator/documents/note.js';
import { knownPerson } from '../../src/simulator/documents/people.js';
import { procNfe } from '../../src/simulator/documents/proc-nfe.js';
import { outsideOf, overlapsOn, textsOf, wordsOf } from './layout-text.js';
import { BUYER } from './nfe-sample.js';
import { OTHER_CASES } from './other-cases.js';

describe('receipts and correction letters', () => {
  for (const { name, kind, xml, situation, sheets: count, texts } of OTHER_CASES) {
    test(name, () => {
      const { sheets } = layOut({ kind, xml: Buffer.from(xml), situation });
      assert.equal(sheets.length, count);
      const page = sheets.map(wordsOf).join('\n');
      for (const text of texts) assert.ok(page.replaceAll('\n', ' ').includes(text), text);
      assert.doesNotMatch(page, /undefined|\bNaN\b|\bnull\b|\[object/);
      for (const sheet of sheets) {
        assert.deepEqual(overlapsOn(sheet), []);
        assert.deepEqual(outsideOf(sheet), []);
      }
    });
  }

  test('a receipt is as long as what stands on it, and has each item once', () => {
    const long = OTHER_CASES.find(({ name }) => name === '990 items on a receipt');
    const short = OTHER_CASES.find(({ name }) => name === 'offline receipt');
    assert.ok(long && short);
    const sheets = layOut({ kind: 'procNFe', xml: Buffer.from(long.xml), situation: long.situation }).sheets;
    const codes = [
      ...sheets
        .map(wordsOf)
        .join('\n')
        .matchAll(/COD-\d{4}/g),
    ].map(String);
    assert.deepEqual(
      codes,
      Array.from({ length: 990 }, (_, at) => `COD-${String(at + 1).padStart(4, '0')}`),
    );
    const [receipt] = layOut({ kind: 'procNFe', xml: Buffer.from(short.xml), situation: short.situation }).sheets;
    assert.ok(receipt);
    const lowest = Math.max(...textsOf(receipt).map(({ bottom }) => bottom));
    assert.ok(receipt.height - lowest < 20 && receipt.height < 600);
  });
});

describe('notes of the simulator, valid by the official schemas', () => {
  const cast = makeCast('pdf', knownPerson('pdf', BUYER, 'Compradora Fictícia S.A.', 'SP'), '1');
  for (const role of ['recipient', 'carrier', 'autXML'] as const) {
    test(`as ${role}: 25 of them, each item with its code, unit and value`, () => {
      for (let index = 0; index < 25; index++) {
        const note = makeNote(cast, { index, role, receivedAt: Date.UTC(2026, 10, 30, 12) });
        const { sheets } = layOut({
          kind: 'procNFe',
          xml: Buffer.from(procNfe(note)),
          situation: { state: 'authorized' },
        });
        const page = sheets.map(wordsOf).join('\n');
        for (const item of note.items) assert.ok(page.includes(item.code), item.code);
        assert.ok(page.replaceAll(/[\n ]/g, '').includes(note.key));
        for (const sheet of sheets) assert.deepEqual(overlapsOn(sheet), []);
      }
    });
  }
});
