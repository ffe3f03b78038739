import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodeWithin } from '../../src/documents/decode.js';
import { DECODE_LIMITS, decodeItem, isAccessKey } from '../../src/documents/index.js';
import { type DecodedItem, DOCUMENT_KINDS } from '../../src/model/document.js';
import { damaged } from './damage.js';
import { docZip, event, eventSummary, key, note, PEOPLE, summary } from './samples.js';

const zipped = (xml: string | Uint8Array, schema: string | null = null): DecodedItem =>
  decodeItem({ content: docZip(xml), encoding: 'base64+gzip', schema }, 'nfe');

function document(decoded: DecodedItem) {
  assert.ok(decoded.ok, JSON.stringify(decoded));
  return decoded.document;
}

const failure = (decoded: DecodedItem) => (decoded.ok ? 'ok' : decoded.failure);

describe('an item', () => {
  test('keeps the SHA-256 and length of its XML as the government packed it', () => {
    fc.assert(
      fc.property(fc.constantFrom('', '\uFEFF', '<?xml version="1.0"?>\r\n'), fc.nat(99_999), (before, number) => {
        const xml = Buffer.from(before + summary({ key: key(number) }));
        const decoded = zipped(xml);
        assert.ok(decoded.ok);
        assert.equal(decoded.xmlSha256, createHash('sha256').update(xml).digest('hex'));
        assert.equal(decoded.xmlLength, xml.length);
        assert.equal(decoded.document.key, key(number));
      }),
    );
  });

  test('in Latin-1: the hash is of the bytes, the text is right, the numbers are there (case C40)', () => {
    const xml = `<?xml version="1.0" encoding="ISO-8859-1"?>${summary().replace('Vendedora', 'Comércio São João')}`;
    const bytes = Buffer.from(xml, 'latin1');
    const decoded = zipped(bytes);
    assert.ok(decoded.ok);
    assert.equal(decoded.xmlSha256, createHash('sha256').update(bytes).digest('hex'));
    assert.equal(decoded.document.metadata.issuer?.name, 'Comércio São João Inventada Ltda');
    const lying = zipped(Buffer.from(xml.replace('ISO-8859-1', 'UTF-8'), 'latin1'));
    assert.deepEqual(document(lying).metadata, decoded.document.metadata);
    assert.match(document(lying).warnings.join(), /^charset: /);
  });

  test('with prefixes, comments and CDATA inside values', () => {
    const plain = document(zipped(note()));
    const odd = note()
      .replaceAll(/<(\/?)(infNFe|ide|emit|CNPJ)\b/g, '<$1nfe:$2')
      .replace('<nNF>1234', '<nNF>12<!-- 9 -->34')
      .replace('Vendedora Inventada Ltda', '<![CDATA[Vendedora Inventada]]> Ltda');
    assert.deepEqual(document(zipped(odd)), plain);
  });

  const faults: [string, DecodedItem, string][] = [
    ['nothing', zipped(''), 'empty'],
    ['blanks', zipped(' \r\n'), 'empty'],
    ['a DOCTYPE (case C51)', zipped(`<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>${summary()}`), 'doctype'],
    ['an entity that nobody declared', zipped(summary().replace('Ltda', '&x;')), 'not_well_formed'],
    ['a cut document', zipped(note().slice(0, -20)), 'not_well_formed'],
    ['a second root', zipped(summary() + summary()), 'not_well_formed'],
    ['JSON', zipped('{"a":1}'), 'not_well_formed'],
    ['nesting', zipped(`${'<a>'.repeat(200)}${'</a>'.repeat(200)}`), 'too_deep'],
    ['half a UTF-16 character', zipped(Buffer.from([0x3c, 0x00, 0x61])), 'encoding'],
    ['no base64', decodeItem({ content: Buffer.from('***'), encoding: 'base64+gzip', schema: null }, 'nfe'), 'base64'],
    ['no gzip', decodeItem({ content: Buffer.from('AAAA'), encoding: 'base64+gzip', schema: null }, 'nfe'), 'gzip'],
  ];
  for (const [name, decoded, expected] of faults) {
    test(`${name}: ${expected}`, () => assert.equal(failure(decoded), expected));
  }

  test('time and size limits', () => {
    const item = {
      content: docZip(summary().replace('<chNFe>', '<!-- --><chNFe>')),
      encoding: 'base64+gzip',
      schema: null,
    } as const;
    assert.equal(failure(decodeWithin({ ...DECODE_LIMITS, milliseconds: -1 }, item, 'nfe')), 'too_slow');
    assert.equal(failure(decodeWithin({ ...DECODE_LIMITS, expandedBytes: 100 }, item, 'nfe')), 'too_large');
    assert.equal(failure(decodeWithin({ ...DECODE_LIMITS, compressedBytes: 100 }, item, 'nfe')), 'too_large');
  });

  test('10 MB of the worst kinds end soon: no work grows with the square of the size', () => {
    const size = 9 * 1024 * 1024;
    for (const worst of [
      '<a/>'.repeat(size / 4),
      '&#65;'.repeat(size / 5),
      ' '.repeat(size),
      '<!-- -->'.repeat(size / 8),
    ]) {
      // Processor time, which a busy machine does not stretch.
      const start = process.cpuUsage();
      zipped(`<resNFe><chNFe>${worst}</chNFe></resNFe>`);
      const { user, system } = process.cpuUsage(start);
      assert.ok(user + system < 60_000_000, `${(user + system) / 1e6} s`);
    }
  });

  test('details quote nothing of the document', () => {
    for (const [, decoded] of faults) {
      assert.ok(!decoded.ok && !decoded.detail.includes(PEOPLE.seller) && !decoded.detail.includes('Vendedora'));
    }
  });
});

describe('the kind', () => {
  test('comes from the root element, whatever its prefix and schema say (case C25)', () => {
    const kinds: [string, string, string][] = [
      [note(), 'procNFe', 'procNFe_v3.10.xsd'],
      [summary(), 'resNFe', 'resNFe_v1.00.xsd'],
      [event(), 'procEventoNFe', 'procEventoNFe_v1.00.xsd'],
      [eventSummary(), 'resEvento', 'resEvento_1.00.xsd'],
    ];
    for (const [xml, kind, schema] of kinds) {
      assert.equal(document(zipped(xml, schema)).kind, kind);
      assert.deepEqual(document(zipped(xml, schema)).warnings, []);
      assert.deepEqual(document(zipped(xml, kind)).warnings, []);
      assert.deepEqual(document(zipped(xml, null)).warnings, []);
    }
  });

  test('a schema that says otherwise is a warning', () => {
    const decoded = document(zipped(summary(), 'procNFe_v4.00.xsd'));
    assert.equal(decoded.kind, 'resNFe');
    assert.deepEqual(decoded.warnings, ['schema_differs: announced as procNFe, is resNFe']);
  });

  test('an unknown root is kept as unknown, with no warning for a schema that is unknown too (case C30)', () => {
    const decoded = document(zipped('<resNovoDocumento><x>1</x></resNovoDocumento>', 'resNovoDocumento_v1.00.xsd'));
    assert.deepEqual(decoded, {
      kind: 'unknown',
      root: 'resNovoDocumento',
      key: null,
      metadata: {},
      event: null,
      implies: null,
      warnings: [],
    });
  });

  test('the key of an unknown document: any inf…/@Id, any ch… element, an event’s Id', () => {
    const cte = key(5, { model: '57' });
    for (const xml of [
      `<cteSimpProc><CTeSimp><infCte Id="CTe${cte}"/></CTeSimp></cteSimpProc>`,
      `<p:novo xmlns:p="u"><p:chCTe>${cte}</p:chCTe></p:novo>`,
      `<procEventoCTe><eventoCTe><infEvento Id="ID610110${cte}001"/></eventoCTe></procEventoCTe>`,
      `<novo><infCte Id="CTe123"/><chCTe> ${cte} </chCTe></novo>`,
    ]) {
      const decoded = document(zipped(xml));
      assert.equal(decoded.key, cte);
      assert.deepEqual(decoded.metadata, { uf: 'SP', model: '57', series: '1', number: '5' });
    }
  });

  test('a masked key of 44 nines is none, nor is one with a wrong check digit', () => {
    assert.equal(document(zipped(`<novo><chNFe>${'9'.repeat(44)}</chNFe></novo>`)).key, null);
    const wrong = key(1).slice(0, 43) + ((Number(key(1).slice(43)) + 1) % 10);
    assert.equal(document(zipped(`<novo><infX Id="NFe${wrong}"/></novo>`)).key, null);
  });

  test('__proto__ and constructor are names like any other (case C51)', () => {
    const decoded = document(
      zipped(
        '<resNFe __proto__="x"><__proto__><polluted>1</polluted></__proto__><constructor><prototype/></constructor></resNFe>',
      ),
    );
    assert.equal(decoded.kind, 'resNFe');
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
    assert.equal(document(zipped('<__proto__/>')).root, '__proto__');
  });

  test('key, kind, event type and sequence tell the documents of one note apart (case C98)', () => {
    const documents = [
      summary(),
      note(),
      event({ type: '110110' }),
      event({ type: '110110', sequence: 2 }),
      event(),
    ].map((xml) => document(zipped(xml)));
    assert.deepEqual(new Set(documents.map((each) => each.key)), new Set([key(1234)]));
    const names = documents.map(({ kind, event: info }) => [kind, info?.type, info?.sequence].join());
    assert.equal(new Set(names).size, documents.length);
  });

  test('documents of a type without a reader are unknown', () => {
    const decoded = decodeItem({ content: docZip(summary()), encoding: 'base64+gzip', schema: null }, 'nfse');
    assert.ok(decoded.ok && decoded.document.kind === 'unknown');
  });
});

describe('whatever the bytes', () => {
  test('random bytes in any encoding have an answer', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 400 }),
          fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
        ),
        fc.constantFrom('base64+gzip' as const, 'base64' as const, 'identity' as const),
        fc.option(fc.string()),
        (content, encoding, schema) => {
          const decoded = decodeItem({ content, encoding, schema }, 'nfe');
          assert.notEqual(failure(decoded), 'internal');
        },
      ),
      { numRuns: 1_000 },
    );
  });

  const originals = [note({ items: 1 }), summary(), event(), eventSummary()].map((xml) => Buffer.from(xml));

  test('a document with bytes changed, removed or cut has a typed answer, and never another key', () => {
    fc.assert(
      fc.property(damaged(originals), (xml) => {
        const decoded = zipped(xml);
        if (!decoded.ok) {
          assert.notEqual(decoded.failure, 'internal');
          return;
        }
        assert.ok(DOCUMENT_KINDS.includes(decoded.document.kind));
        const found = decoded.document.key;
        // Modulo 11 maps remainders 0 and 1 to one digit, so a changed key may stay a key; it then stands in the document as such.
        assert.ok(found === null || found === key(1234) || (isAccessKey(found) && xml.includes(found)));
      }),
      { numRuns: 3_000 },
    );
  });

  test('a document cut anywhere fails', () => {
    for (const original of originals) {
      for (let length = 1; length < original.length; length += 7) {
        assert.equal(failure(zipped(original.subarray(0, length))), 'not_well_formed');
      }
    }
  });
});
