import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeItem } from '../../src/documents/index.js';
import type { DecodedDocument } from '../../src/model/document.js';
import { key, type NoteOptions, note, PEOPLE, summary } from './samples.js';

function decode(xml: string): DecodedDocument {
  const decoded = decodeItem({ content: Buffer.from(xml), encoding: 'identity', schema: null }, 'nfe');
  assert.ok(decoded.ok, JSON.stringify(decoded));
  return decoded.document;
}

const decodeNote = (options: NoteOptions = {}) => decode(note(options));

/** Nothing empty, undefined or NaN anywhere (case C47). */
function assertNothingEmpty(value: unknown): void {
  assert.notEqual(value, undefined);
  assert.notEqual(value, '');
  assert.ok(!Number.isNaN(value));
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(assertNothingEmpty);
  }
}

describe('procNFe', () => {
  test('everything that a note tells', () => {
    const document = decodeNote({
      transport: `<transporta><CNPJ>${PEOPLE.carrier}</CNPJ><xNome>Transportes Inventados</xNome><IE>ISENTO</IE><UF>MG</UF></transporta>`,
      thirdParties: `<autXML><CNPJ>${PEOPLE.accountant}</CNPJ></autXML><autXML><CPF>${PEOPLE.farmer}</CPF></autXML>`,
    });
    assert.deepEqual(document, {
      kind: 'procNFe',
      root: 'nfeProc',
      key: key(1234),
      metadata: {
        uf: 'SP',
        model: '55',
        series: '1',
        number: '1234',
        layout: '4.00',
        issuedAt: '2026-10-02T10:15:00-03:00',
        total: '1234.56',
        operationType: 'outbound',
        environment: 'homologation',
        statusCode: '100',
        protocol: '135260000000123',
        authorizedAt: '2026-10-02T10:16:01-03:00',
        digestValue: 'q83vEjRWeJCrze8SNFZ4kKvN7xI=',
        issuer: { taxId: PEOPLE.seller, name: 'Vendedora Inventada Ltda', uf: 'SP', stateRegistration: '123456789110' },
        recipient: {
          taxId: PEOPLE.buyer,
          name: 'Compradora Inventada SA',
          uf: 'SP',
          stateRegistration: '123456789110',
        },
        carrier: { taxId: PEOPLE.carrier, name: 'Transportes Inventados', uf: 'MG', stateRegistration: 'ISENTO' },
        authorizedThirdParties: [PEOPLE.accountant, PEOPLE.farmer],
      },
      event: null,
      implies: 'authorized',
      warnings: [],
    });
  });

  test('absent is absent: no carrier for <transporta/>, no recipient for <dest/>, nothing empty (case C47)', () => {
    const { metadata } = decodeNote({ transport: '<transporta/>', recipient: '<dest/>', thirdParties: '<autXML/>' });
    for (const field of ['carrier', 'recipient', 'authorizedThirdParties']) {
      assert.ok(!(field in metadata), field);
    }
    assertNothingEmpty(metadata);
  });

  test('a note of which hardly anything is left is still a note', () => {
    const document = decode('<nfeProc/>');
    assert.deepEqual(document, {
      kind: 'procNFe',
      root: 'nfeProc',
      key: null,
      metadata: {},
      event: null,
      implies: null,
      warnings: ['key_missing: the document names no key'],
    });
  });

  test('NFC-e without recipient', () => {
    const nfce = key(9, { model: '65' });
    const { metadata } = decodeNote({ key: nfce, model: '65', recipient: '' });
    assert.equal(metadata.model, '65');
    assert.ok(!('recipient' in metadata));
  });

  test('a foreign recipient, by an id that may be empty (case C37)', () => {
    const foreign = { name: 'Foreign Inc', uf: 'EX', foreign: true };
    const abroad = '<xNome>Foreign Inc</xNome><enderDest><UF>EX</UF></enderDest>';
    for (const id of ['<idEstrangeiro/>', '<idEstrangeiro></idEstrangeiro>', '<idEstrangeiro>P-1</idEstrangeiro>']) {
      assert.deepEqual(decodeNote({ recipient: `<dest>${id}${abroad}</dest>` }).metadata.recipient, foreign);
    }
    // A traveller with a passport and an address in Brazil.
    assert.deepEqual(
      decodeNote({ recipient: '<dest><idEstrangeiro>P-1</idEstrangeiro><enderDest><UF>SP</UF></enderDest></dest>' })
        .metadata.recipient,
      { uf: 'SP', foreign: true },
    );
    // Layout 2.00: an empty CNPJ and UF EX.
    assert.deepEqual(decodeNote({ recipient: `<dest><CNPJ/>${abroad}</dest>` }).metadata.recipient, foreign);
    // A Brazilian without tax ID is not foreign.
    assert.deepEqual(decodeNote({ recipient: '<dest><xNome>Ana</xNome></dest>' }).metadata.recipient, { name: 'Ana' });
  });

  test('a calendar date stays one (case C39)', () => {
    const { metadata } = decodeNote({ layout: '2.00', issued: '<dEmi>2013-09-18</dEmi><dSaiEnt>2013-09-19</dSaiEnt>' });
    assert.equal(metadata.issuedAt, '2013-09-18');
    assert.equal(metadata.layout, '2.00');
  });

  const states: [string, string | null][] = [
    ['100', 'authorized'],
    ['120', 'authorized'],
    ['150', 'authorized'],
    ['110', 'denied'],
    ['205', 'denied'],
    ['301', 'denied'],
    ['302', 'denied'],
    ['303', 'denied'],
    ['204', null],
    ['9999', null],
  ];
  for (const [cStat, implies] of states) {
    test(`protocol ${cStat} implies ${implies} (case C48)`, () => {
      const document = decodeNote({ cStat });
      assert.equal(document.implies, implies);
      assert.equal(document.metadata.statusCode, cStat);
    });
  }

  test('the issuer comes from emit, never from the key (contract section 5)', () => {
    const byOffice = key(3, { taxId: PEOPLE.accountant, series: '890' });
    const { metadata } = decodeNote({
      key: byOffice,
      issuer: `<emit><CPF>${PEOPLE.farmer}</CPF><xNome>Lavradora</xNome></emit>`,
    });
    assert.deepEqual(metadata.issuer, { taxId: PEOPLE.farmer, name: 'Lavradora' });
    assert.ok(!('issuer' in decodeNote({ key: byOffice, issuer: '' }).metadata));
  });

  test('letters in tax IDs and keys pass unchanged (case C49)', () => {
    const withLetters = key(5, { taxId: PEOPLE.letters });
    const document = decodeNote({
      key: withLetters,
      issuer: `<emit><CNPJ>${PEOPLE.letters}</CNPJ></emit>`,
    });
    assert.equal(document.key, withLetters);
    assert.equal(document.metadata.issuer?.taxId, PEOPLE.letters);
    assert.deepEqual(document.warnings, []);
  });

  test('1200 escaped quotes, 990 items with inch marks (case C100)', () => {
    assert.equal(decodeNote({ info: '1/2&quot; '.repeat(1200) }).metadata.total, '1234.56');
    const xml = note({ items: 990 }).replaceAll('</xProd>', ' 3/4&quot; x 1&quot;</xProd>');
    assert.equal(decode(xml).key, key(1234));
  });

  test('the key in the protocol stands in for a broken Id', () => {
    const document = decode(note().replace(`NFe${key(1234)}`, `NFe${key(1234).slice(0, 43)}X`));
    assert.equal(document.key, key(1234));
    assert.equal(document.warnings.length, 1);
    assert.match(document.warnings[0] ?? '', /^key_invalid: …\w{4} /);
  });

  test('two different keys: the signed one counts, and nothing is said about its state', () => {
    const document = decodeNote({ protocolKey: key(77) });
    assert.equal(document.key, key(1234));
    assert.equal(document.implies, null);
    assert.match(document.warnings.join(), /^key_differs: /);
  });

  test('a protocol for other bytes than the signed ones is a warning', () => {
    const document = decodeNote({ digVal: 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=' });
    assert.match(document.warnings.join(), /^digest_differs: /);
  });

  test('values that the layout does not know stay as written', () => {
    const { metadata } = decode(
      note().replace('<tpNF>1</tpNF>', '<tpNF>7</tpNF>').replaceAll('<tpAmb>2</tpAmb>', '<tpAmb>9</tpAmb>'),
    );
    assert.equal(metadata.operationType, '7');
    assert.equal(metadata.environment, '9');
  });
});

describe('resNFe', () => {
  test('everything that a summary tells; number and series come from its key', () => {
    assert.deepEqual(decode(summary()), {
      kind: 'resNFe',
      root: 'resNFe',
      key: key(1234),
      metadata: {
        uf: 'SP',
        model: '55',
        series: '1',
        number: '1234',
        layout: '1.01',
        issuedAt: '2026-10-02T10:15:00-03:00',
        total: '1234.56',
        operationType: 'outbound',
        statusCode: '1',
        protocol: '135260000000123',
        authorizedAt: '2026-10-02T10:16:01-03:00',
        digestValue: 'q83vEjRWeJCrze8SNFZ4kKvN7xI=',
        issuer: { taxId: PEOPLE.seller, name: 'Vendedora Inventada Ltda', stateRegistration: '123456789110' },
      },
      event: null,
      implies: 'authorized',
      warnings: [],
    });
  });

  test('edges: CPF, ISENTO or no IE, no digest, situations 2 and 3 (case C33)', () => {
    const ofFarmer = key(4, { taxId: PEOPLE.farmer, series: '921' });
    const denied = decode(
      summary({ key: ofFarmer, issuer: `<CPF>${PEOPLE.farmer}</CPF>`, ie: 'ISENTO', situation: '2' }).replace(
        /<digVal>.*<\/digVal>/,
        '',
      ),
    );
    assert.equal(denied.key, ofFarmer);
    assert.equal(denied.implies, 'denied');
    assert.deepEqual(denied.metadata.issuer, {
      taxId: PEOPLE.farmer,
      name: 'Vendedora Inventada Ltda',
      stateRegistration: 'ISENTO',
    });
    assert.ok(!('digestValue' in denied.metadata));
    const cancelled = decode(summary({ ie: '', situation: '3' }));
    assert.equal(cancelled.implies, 'cancelled');
    assert.equal(cancelled.metadata.statusCode, '3');
    assertNothingEmpty(cancelled);
    assert.equal(decode(summary({ situation: '4' })).implies, null);
  });

  test('a wrong check digit leaves no key, and a warning', () => {
    const wrong = key(1234).slice(0, 43) + ((Number(key(1234).slice(43)) + 1) % 10);
    const document = decode(summary({ key: wrong }));
    assert.equal(document.key, null);
    assert.ok(!('number' in document.metadata));
    assert.deepEqual(document.warnings, [`key_invalid: …${wrong.slice(-4)} is no access key`]);
  });
});
