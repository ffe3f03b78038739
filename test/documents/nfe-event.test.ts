import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeItem, isRegisteredEvent } from '../../src/documents/index.js';
import type { DecodedDocument } from '../../src/model/document.js';
import { event, eventSummary, key, PEOPLE } from './samples.js';

function decode(xml: string): DecodedDocument {
  const decoded = decodeItem({ content: Buffer.from(xml), encoding: 'identity', schema: null }, 'nfe');
  assert.ok(decoded.ok, JSON.stringify(decoded));
  return decoded.document;
}

describe('procEventoNFe', () => {
  test('a cancellation: its own protocol and status, not the cancelled note’s', () => {
    assert.deepEqual(decode(event({ cStat: '155' })), {
      kind: 'procEventoNFe',
      root: 'procEventoNFe',
      key: key(1234),
      metadata: { uf: 'SP', model: '55', series: '1', number: '1234', layout: '1.00', environment: 'homologation' },
      event: {
        type: '110111',
        description: 'Cancelamento',
        sequence: 1,
        occurredAt: '2026-10-03T08:00:00-03:00',
        registeredAt: '2026-10-03T08:00:02-03:00',
        author: PEOPLE.seller,
        protocol: '135260000000789',
        statusCode: '155',
      },
      implies: 'cancelled',
      warnings: [],
    });
  });

  const implied: [string, string, string | null][] = [
    ['110111', '135', 'cancelled'],
    ['110111', '136', 'cancelled'],
    ['110112', '155', 'cancelled'],
    ['110111', '573', null],
    ['110111', '501', null],
    ['110110', '135', null],
    ['210210', '135', null],
    ['110001', '135', null],
    ['211110', '135', null],
  ];
  for (const [type, cStat, implies] of implied) {
    test(`event ${type} with ${cStat} implies ${implies} (cases C48, C60)`, () => {
      assert.equal(decode(event({ type, cStat })).implies, implies);
    });
  }

  test('elements of no schema, and keys and protocols of other documents, are passed over (case C31)', () => {
    const cte = key(416, { model: '57' });
    const document = decode(
      event({
        type: '610130',
        details: `<descEvento>Comprovante de Entrega do CT-e</descEvento><nProt>999</nProt><CTe><chCTe>${cte}</chCTe><nProt>888</nProt></CTe>`,
        result:
          `<retEvento versao="1.00"><infEvento><cStat>135</cStat><chNFe>${key(1234)}</chNFe><tpEvento>610130</tpEvento><chCTe>${cte}</chCTe>` +
          '<novo><cStat>999</cStat><nProt>777</nProt></novo><dhRegEvento>2026-10-03T08:00:02-03:00</dhRegEvento><nProt>135260000000789</nProt></infEvento></retEvento>',
      }),
    );
    assert.equal(document.key, key(1234));
    assert.equal(document.event?.protocol, '135260000000789');
    assert.equal(document.event?.statusCode, '135');
    assert.deepEqual(document.warnings, []);
  });

  test('an unknown type is data (case C30)', () => {
    const document = decode(event({ type: '999999', sequence: 7 }));
    assert.equal(document.kind, 'procEventoNFe');
    assert.equal(document.event?.type, '999999');
    assert.equal(document.event?.sequence, 7);
  });

  test('an event without registration implies nothing', () => {
    const document = decode(event({ result: '' }));
    assert.equal(document.event?.type, '110111');
    assert.ok(document.event && !('statusCode' in document.event));
    assert.equal(document.implies, null);
  });

  test('a registration for another key implies nothing', () => {
    const document = decode(event({ resultKey: key(88) }));
    assert.equal(document.key, key(1234));
    assert.equal(document.implies, null);
    assert.match(document.warnings.join(), /^key_differs: /);
  });

  test('type, key and sequence stand in its Id too', () => {
    const xml = event({ sequence: 2 })
      .replace(/<chNFe>.*?<\/chNFe>/g, '')
      .replace(/<tpEvento>.*?<\/tpEvento>/g, '')
      .replace(/<nSeqEvento>.*?<\/nSeqEvento>/g, '');
    const document = decode(xml);
    assert.equal(document.key, key(1234));
    assert.equal(document.event?.type, '110111');
    assert.equal(document.event?.sequence, 2);
  });

  test('an event that says not what it is stays a document', () => {
    const document = decode('<procEventoNFe><evento><infEvento/></evento></procEventoNFe>');
    assert.equal(document.event, null);
    assert.equal(document.implies, null);
    assert.deepEqual(
      document.warnings.map((warning) => warning.split(':')[0]),
      ['key_missing', 'event_type_missing'],
    );
  });
});

describe('resEvento', () => {
  test('everything that a summary tells; it is registered by definition', () => {
    assert.deepEqual(decode(eventSummary()), {
      kind: 'resEvento',
      root: 'resEvento',
      key: key(1234),
      metadata: { uf: 'SP', model: '55', series: '1', number: '1234', layout: '1.01' },
      event: {
        type: '110111',
        description: 'Cancelamento',
        sequence: 1,
        occurredAt: '2026-10-03T08:00:00-03:00',
        registeredAt: '2026-10-03T08:00:02-03:00',
        author: PEOPLE.seller,
        protocol: '135260000000789',
      },
      implies: 'cancelled',
      warnings: [],
    });
  });

  test('an event of transport says nothing of the note’s state', () => {
    assert.equal(decode(eventSummary({ type: '610600' })).implies, null);
  });
});

test('registered: 135, 136, 155 and nothing else', () => {
  assert.deepEqual(['135', '136', '155', '128', '573', '', undefined].map(isRegisteredEvent), [
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});
