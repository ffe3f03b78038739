import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type AnswerContext, readDistributionAnswer } from '../../src/government/distribution-answer.js';
import type { Nsu } from '../../src/model/nsu.js';
import { answer, docZip, envelope, escaped, lote, retDistDFeInt, zipped } from './answers.js';

const nsu = (value: number) => String(value).padStart(15, '0') as Nsu;
const DIST: AnswerContext = {
  contentType: 'application/soap+xml; charset=utf-8',
  httpStatus: 200,
  query: { distNSU: nsu(5) },
};
const CONS_NSU: AnswerContext = { ...DIST, query: { consNSU: nsu(7) } };
const CONS_KEY: AnswerContext = { ...DIST, query: { consChNFe: '3'.repeat(44) } };

const read = (bytes: string | Uint8Array, context = DIST) => readDistributionAnswer(Buffer.from(bytes), context);
const RES = zipped('<resNFe/>');

describe('statuses of the service', () => {
  test('137: nothing, with the pointer as given', () => {
    const { outcome, statusText, serverTime, items, warnings } = read(
      answer({ cStat: '137', xMotivo: 'Nenhum documento localizado' }),
    );
    assert.deepEqual(outcome, { kind: 'none', statusCode: '137', ultNsu: nsu(10), maxNsu: nsu(10) });
    assert.equal(statusText, 'Nenhum documento localizado');
    assert.equal(serverTime, Date.parse('2026-11-30T13:00:05Z'));
    assert.deepEqual([items, warnings], [[], []]);
  });

  test('138: documents', () => {
    const { outcome, items } = read(
      answer({ cStat: '138', maxNSU: nsu(70), lote: lote(docZip(nsu(9), RES), docZip(nsu(10), RES)) }),
    );
    assert.deepEqual(outcome, { kind: 'documents', statusCode: '138', ultNsu: nsu(10), maxNsu: nsu(70), items: 2 });
    assert.deepEqual(
      items.map((item) => item.nsu),
      [nsu(9), nsu(10)],
    );
    assert.equal(items[0]?.schema, 'resNFe_v1.01.xsd');
    assert.equal(items[0]?.encoding, 'base64+gzip');
  });

  test('656: the server’s pointer for distribution, none for point queries (C03, C22)', () => {
    const bytes = answer({ cStat: '656', ultNSU: nsu(505511), maxNSU: nsu(0) });
    assert.deepEqual(read(bytes).outcome, {
      kind: 'throttled',
      statusCode: '656',
      ultNsu: nsu(505511),
      retryAfterMs: null,
    });
    for (const context of [CONS_NSU, CONS_KEY]) {
      assert.deepEqual(read(bytes, context).outcome, {
        kind: 'throttled',
        statusCode: '656',
        ultNsu: null,
        retryAfterMs: null,
      });
    }
    const without = read(answer({ cStat: '656', ultNSU: null, maxNSU: null }));
    assert.deepEqual(without.outcome, { kind: 'throttled', statusCode: '656', ultNsu: null, retryAfterMs: null });
  });

  test('every other status has its kind', () => {
    const kinds: [string, string][] = [
      ...['108', '109'].map((code): [string, string] => [code, 'paused']),
      ...['280', '281', '282', '283', '284', '285', '286', '472', '473', '593'].map((code): [string, string] => [
        code,
        'certificate_refused',
      ]),
      ...['214', '215', '217', '236', '252', '402', '404', '489', '589', '632', '640', '641', '653', '777', '1115'].map(
        (code): [string, string] => [code, 'rejected'],
      ),
      ['999', 'unreadable'],
    ];
    for (const [code, kind] of kinds) {
      for (const context of [DIST, CONS_NSU, CONS_KEY]) {
        const { outcome, items } = read(answer({ cStat: code, lote: lote(docZip(nsu(1), RES)) }), context);
        assert.equal(outcome.kind, kind, code);
        assert.equal('statusCode' in outcome ? outcome.statusCode : '', code);
        assert.deepEqual(items, []);
      }
    }
  });

  test('a status that is none is unreadable', () => {
    for (const cStat of [null, '', 'abc', '12', '13 7', '13777']) {
      assert.equal(read(answer({ cStat })).outcome.kind, 'unreadable', String(cStat));
    }
  });

  test('an answer of the service counts whatever the HTTP status', () => {
    for (const httpStatus of [200, 403, 500, null]) {
      assert.equal(read(answer({ cStat: '109' }), { ...DIST, httpStatus }).outcome.kind, 'paused');
    }
  });
});

describe('pointers', () => {
  test('fields that are missing or no number are absent, never zero (C14)', () => {
    for (const bad of [null, '', 'x', '-1', '1.5', '1234567890123456']) {
      const { outcome } = read(answer({ cStat: '137', ultNSU: bad, maxNSU: bad }));
      assert.deepEqual(outcome, { kind: 'none', statusCode: '137', ultNsu: null, maxNsu: null }, String(bad));
    }
    assert.deepEqual(read(answer({ cStat: '640', ultNSU: null, maxNSU: null })).outcome, {
      kind: 'rejected',
      statusCode: '640',
    });
  });

  test('an unpadded number is padded', () => {
    const { outcome } = read(answer({ cStat: '137', ultNSU: '34000', maxNSU: ' 34001 ' }));
    assert.deepEqual(outcome, { kind: 'none', statusCode: '137', ultNsu: nsu(34000), maxNsu: nsu(34001) });
  });

  test('ultNSU above maxNSU raises maxNSU and is recorded; maxNSU zero is only raised (C11)', () => {
    const page = (maxNSU: string) =>
      read(answer({ cStat: '138', ultNSU: nsu(901), maxNSU, lote: lote(docZip(nsu(901), RES)) }));
    for (const maxNSU of [nsu(900), nsu(0)]) {
      const { outcome } = page(maxNSU);
      assert.deepEqual(outcome, { kind: 'documents', statusCode: '138', ultNsu: nsu(901), maxNsu: nsu(901), items: 1 });
    }
    assert.deepEqual(page(nsu(900)).warnings, ['ultNSU above maxNSU']);
    assert.deepEqual(page(nsu(0)).warnings, []);
  });

  test('a page without ultNSU goes as far as its documents', () => {
    const page = lote(docZip(nsu(8), RES), docZip(nsu(12), RES), docZip(null, RES));
    const { outcome, warnings } = read(answer({ cStat: '138', ultNSU: null, maxNSU: null, lote: page }));
    assert.deepEqual(outcome, { kind: 'documents', statusCode: '138', ultNsu: nsu(12), maxNsu: nsu(12), items: 3 });
    assert.match(warnings.join(), /no ultNSU/);
    const nowhere = read(answer({ cStat: '138', ultNSU: null, lote: lote(docZip(null, RES)) }));
    assert.deepEqual(nowhere.outcome, { kind: 'unreadable', statusCode: '138', reason: '138 without any NSU' });
  });

  test('a page that ends before the NSU asked from is recorded', () => {
    const { warnings } = read(answer({ cStat: '138', ultNSU: nsu(3), lote: lote(docZip(nsu(3), RES)) }));
    assert.deepEqual(warnings, ['ultNSU below the one asked from']);
  });

  test('138 without documents that leaves the cursor where it is stands still, and is no failure', () => {
    const { outcome } = read(answer({ cStat: '138', ultNSU: nsu(5), maxNSU: nsu(90), lote: '' }));
    assert.deepEqual(outcome, {
      kind: 'documents',
      statusCode: '138',
      ultNsu: nsu(5),
      maxNsu: nsu(90),
      items: 0,
    });
  });

  test('138 without documents is not believed: the cursor must not pass them', () => {
    for (const context of [DIST, CONS_NSU, CONS_KEY]) {
      for (const content of ['', lote(), '<loteDistDFeInt/>']) {
        const { outcome } = read(answer({ cStat: '138', ultNSU: nsu(60), maxNSU: nsu(90), lote: content }), context);
        assert.deepEqual(outcome, { kind: 'unreadable', statusCode: '138', reason: '138 without documents' });
      }
    }
  });

  test('answers of point queries hold no cursor (C15, C23)', () => {
    for (const context of [CONS_NSU, CONS_KEY]) {
      assert.deepEqual(read(answer({ cStat: '137', ultNSU: nsu(51), maxNSU: nsu(20175) }), context).outcome, {
        kind: 'none',
        statusCode: '137',
        ultNsu: null,
        maxNsu: null,
      });
      const found = read(
        answer({ cStat: '138', ultNSU: nsu(51), maxNSU: nsu(20175), lote: lote(docZip(null, RES)) }),
        context,
      );
      assert.deepEqual(found.outcome, {
        kind: 'documents',
        statusCode: '138',
        ultNsu: nsu(0),
        maxNsu: nsu(0),
        items: 1,
      });
    }
  });
});

describe('items', () => {
  test('an NSU that is missing or zero is none (C15); one that is no number is recorded', () => {
    const page = lote(docZip(null, RES), docZip(nsu(0), RES), docZip('0', RES), docZip('abc', RES), docZip('42', RES));
    const { items, warnings } = read(answer({ cStat: '138', lote: page }));
    assert.deepEqual(
      items.map((item) => item.nsu),
      [null, null, null, null, nsu(42)],
    );
    assert.deepEqual(warnings, ['docZip 4: NSU is no number']);
  });

  test('broken, empty and unknown items stay items', () => {
    const page = lote(
      docZip(nsu(1), '!!!'),
      docZip(nsu(2), ''),
      `<docZip NSU="${nsu(3)}"/>`,
      docZip(nsu(4), RES, 'novo_v9.99.xsd'),
    );
    const { items, outcome } = read(answer({ cStat: '138', lote: page }));
    assert.equal(outcome.kind === 'documents' && outcome.items, 4);
    assert.deepEqual(
      items.map((item) => Buffer.from(item.content).toString()),
      ['!!!', '', '', RES],
    );
    assert.deepEqual(
      items.map((item) => item.schema),
      ['resNFe_v1.01.xsd', 'resNFe_v1.01.xsd', null, 'novo_v9.99.xsd'],
    );
  });

  test('one docZip is one item, two hundred are two hundred (C27)', () => {
    for (const count of [1, 200]) {
      const page = lote(...Array.from({ length: count }, (_, index) => docZip(nsu(index + 1), RES)));
      assert.equal(read(answer({ cStat: '138', lote: page })).items.length, count);
    }
  });

  test('comments and references inside the Base64 are recorded, and the range still holds it', () => {
    const { items, warnings } = read(
      answer({ cStat: '138', lote: lote(docZip(nsu(1), `${RES}<!-- x -->`), docZip(nsu(2), `AAAA&#xD;\nBBBB`)) }),
    );
    assert.deepEqual(warnings, ['docZip 1: interrupted by markup', 'docZip 2: interrupted by markup']);
    assert.equal(Buffer.from(items[1]?.content ?? []).toString(), 'AAAA&#xD;\nBBBB');
  });
});

/** How an answer may be wrapped, as bytes around what is inside. */
const SHAPES: [string, (xml: string) => Buffer][] = [
  ['an envelope', (xml) => Buffer.from(envelope(xml))],
  ['nothing', (xml) => Buffer.from(xml)],
  ['a byte order mark', (xml) => Buffer.from(`\uFEFF${envelope(xml)}`)],
  ['line breaks and indentation', (xml) => Buffer.from(envelope(xml).replaceAll('><', '>\r\n  <'))],
  [
    'a header and multi-byte text before',
    (xml) =>
      Buffer.from(
        envelope(xml).replace(
          '<soap:Body>',
          '<soap:Header><x:WSCorIDSOAPHeader xmlns:x="http://www.ca.com/apm" CorID="ção €">日本</x:WSCorIDSOAPHeader></soap:Header><soap:Body>',
        ),
      ),
  ],
  [
    'other prefixes',
    (xml) =>
      Buffer.from(
        envelope(xml)
          .replace(/<(\/?)(retDist|docZip|loteDist|cStat|ultNSU|maxNSU)/g, '<$1ns2:$2')
          .replace('versao=', 'xmlns:ns2="urn:x" ns2:versao=')
          .replaceAll(' NSU=', ' ns2:NSU='),
      ),
  ],
  ['CDATA', (xml) => Buffer.from(envelope(`<![CDATA[${xml}]]>`))],
  [
    'CDATA with a declaration',
    (xml) => Buffer.from(envelope(`\n<![CDATA[<?xml version="1.0" encoding="utf-16"?>\n${xml}]]>\n`)),
  ],
  ['escaped text', (xml) => Buffer.from(envelope(escaped(xml)))],
  [
    'escaped text with multi-byte text before',
    (xml) => Buffer.from(envelope(escaped(xml.replace('<tpAmb>', '<verAplic>ção 日本</verAplic><tpAmb>')))),
  ],
  [
    'Latin-1, declared',
    (xml) =>
      Buffer.from(
        envelope(xml)
          .replace('utf-8', 'ISO-8859-1')
          .replace('<soap:Body>', '<soap:Header>ação</soap:Header><soap:Body>'),
        'latin1',
      ),
  ],
  [
    'Latin-1, said to be UTF-8',
    (xml) => Buffer.from(envelope(xml).replace('<soap:Body>', '<soap:Header>ação</soap:Header><soap:Body>'), 'latin1'),
  ],
  [
    'comments and instructions',
    (xml) => Buffer.from(envelope(`<!-- <docZip>no</docZip> --><?pi <docZip>no</docZip> ?>${xml}`)),
  ],
  ['a trailing line break and zeros', (xml) => Buffer.from(`${envelope(xml)}\n\0\0`)],
];

describe('where items stand in the bytes', () => {
  const base64 = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes).toString('base64'));
  const lines = fc.constantFrom('', '\n', '\r\n', '\n    ');
  /** A docZip's content and the text in it that a ranged read must give back. */
  const content = fc.oneof(
    base64.map((text) => ({ written: text, text })),
    fc.tuple(base64, lines, lines, fc.integer({ min: 1, max: 76 })).map(([text, outer, inner, width]) => {
      const broken = text.replace(new RegExp(`(.{${width}})(?=.)`, 'g'), `$1${inner}`);
      return { written: outer + broken + outer, text: broken };
    }),
  );
  const document = fc.array(content, { minLength: 1, maxLength: 12 });

  for (const [shape, wrap] of SHAPES) {
    test(`exactly the Base64 is at the offset: in ${shape}`, () => {
      fc.assert(
        fc.property(document, (contents) => {
          const page = lote(...contents.map(({ written }, index) => docZip(nsu(index + 6), written)));
          const xml = retDistDFeInt({ cStat: '138', ultNSU: nsu(50), maxNSU: nsu(99), lote: page });
          const bytes = wrap(xml);
          const { outcome, items, warnings } = readDistributionAnswer(bytes, DIST);
          assert.deepEqual(outcome, {
            kind: 'documents',
            statusCode: '138',
            ultNsu: nsu(50),
            maxNsu: nsu(99),
            items: contents.length,
          });
          assert.deepEqual(
            items.map((item) => item.nsu),
            contents.map((_, index) => nsu(index + 6)),
          );
          for (const [index, { text }] of contents.entries()) {
            const item = items[index];
            assert.ok(item);
            const there = bytes.subarray(item.offset, item.offset + item.length);
            assert.deepEqual(Buffer.from(item.content), there);
            assert.equal(there.toString('latin1').replaceAll(/\s+/g, '\n'), text.replaceAll(/\s+/g, '\n'));
            assert.equal(
              Buffer.from(there.toString(), 'base64').toString('hex'),
              Buffer.from(text, 'base64').toString('hex'),
            );
          }
          assert.deepEqual(
            warnings.filter((warning) => warning.startsWith('docZip')),
            [],
          );
        }),
        { numRuns: 60 },
      );
    });
  }

  test('CDATA inside a docZip', () => {
    fc.assert(
      fc.property(base64, lines, (text, space) => {
        const bytes = answer({
          cStat: '138',
          lote: lote(docZip(nsu(1), `${space}<![CDATA[${space}${text}${space}]]>${space}`)),
        });
        const [item] = read(bytes).items;
        assert.equal(Buffer.from(item?.content ?? []).toString(), text);
        assert.equal(bytes.subarray(item?.offset, (item?.offset ?? 0) + (item?.length ?? 0)).toString(), text);
      }),
    );
  });
});

describe('encodings of the text (C40)', () => {
  const words = 'Rejeição: código não conferido – “ç”';
  const latin = 'Rejeição: código não conferido';
  const inEncoding = (text: string, encoding: BufferEncoding, declared: string) =>
    Buffer.from(envelope(retDistDFeInt({ cStat: '593', xMotivo: text })).replace('utf-8', declared), encoding);

  test('UTF-8, with references, CDATA and comments in it', () => {
    assert.equal(read(inEncoding(words, 'utf8', 'utf-8')).statusText, words);
    assert.equal(
      read(inEncoding('Rejei&#231;&#xE3;o <!-- x -->&amp; <![CDATA[<b>]]> &quot;ção&quot;', 'utf8', 'utf-8'))
        .statusText,
      'Rejeição & <b> "ção"',
    );
  });

  test('Latin-1, whoever says so or nobody', () => {
    const contentTypes = [
      'text/xml',
      'text/xml; charset=ISO-8859-1',
      'text/xml; charset="utf-8"',
      'text/xml; charset=nonsense',
      null,
    ];
    for (const contentType of contentTypes) {
      for (const declared of ['ISO-8859-1', 'utf-8', 'windows-1252', 'nonsense']) {
        const { statusText, outcome } = read(inEncoding(latin, 'latin1', declared), { ...DIST, contentType });
        assert.equal(statusText, latin, `${contentType}, ${declared}`);
        assert.deepEqual(outcome, { kind: 'certificate_refused', statusCode: '593' });
      }
    }
  });

  test('UTF-8 said to be Latin-1 is read as what it is', () => {
    for (const contentType of [null, 'text/xml; charset=ISO-8859-1']) {
      const { statusText } = read(inEncoding(words, 'utf8', 'ISO-8859-1'), { ...DIST, contentType });
      assert.equal(statusText, words);
    }
  });

  test('another encoding is read as declared', () => {
    const bytes = Buffer.concat([
      Buffer.from('<?xml version="1.0" encoding="ibm866"?><retDistDFeInt><cStat>137</cStat><xMotivo>'),
      Buffer.of(0x8f, 0xe0, 0xa8),
      Buffer.from('</xMotivo></retDistDFeInt>'),
    ]);
    assert.equal(read(bytes, { ...DIST, contentType: null }).statusText, 'При');
  });

  test('faults inside text lose no numbers', () => {
    for (const xMotivo of ['zero \u0001 byte', 'unknown &ccedil; entity', 'bare &; here', 'end ]]> of nothing']) {
      const { outcome, warnings } = read(answer({ cStat: '137', xMotivo }));
      assert.equal(outcome.kind, 'none', xMotivo);
      assert.match(warnings.join(), /not well-formed/);
    }
  });

  test('UTF-16 is unreadable, and says so', () => {
    const { outcome } = read(Buffer.from(`\uFEFF${envelope(retDistDFeInt({}))}`, 'utf16le'));
    assert.deepEqual(outcome, { kind: 'unreadable', statusCode: 'HTTP 200', reason: 'answer in UTF-16' });
  });
});

describe('what is not the service’s answer', () => {
  const unreadable = (bytes: string | Uint8Array, reason: RegExp, context = DIST) => {
    const { outcome, items } = read(bytes, context);
    assert.equal(outcome.kind, 'unreadable');
    assert.match(outcome.kind === 'unreadable' ? outcome.reason : '', reason);
    assert.deepEqual(items, []);
    return outcome;
  };

  test('SOAP faults of both versions, with their reason (C42)', () => {
    const fault12 =
      '<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body><s:Fault><s:Code><s:Value>s:Receiver</s:Value></s:Code><s:Reason><s:Text xml:lang="pt-BR">Tempo limite expirado.</s:Text></s:Reason></s:Fault></s:Body></s:Envelope>';
    const fault11 =
      '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><soap:Fault><faultcode>soap:Server</faultcode><faultstring>Tempo limite expirado.</faultstring></soap:Fault></soap:Body></soap:Envelope>';
    for (const fault of [fault12, fault11]) {
      unreadable(fault, /^SOAP fault$/, { ...DIST, httpStatus: 500 });
      const { statusText, outcome } = read(fault, { ...DIST, httpStatus: 500 });
      assert.equal(statusText, 'SOAP fault: Tempo limite expirado.');
      assert.equal('statusCode' in outcome ? outcome.statusCode : '', 'HTTP 500');
    }
  });

  test('HTML, nothing, plain text, JSON, another service’s XML', () => {
    unreadable('', /empty/);
    unreadable('<!DOCTYPE html><html><head><title>Manutenção</title></head><body><br></body></html>', /HTML/);
    assert.equal(read('<html><head><title> Fora do ar </title></head></html>').statusText, 'HTML page: Fora do ar');
    unreadable('Service Unavailable', /not well-formed/, { ...DIST, httpStatus: 503 });
    unreadable('{"erro":"x"}', /not well-formed/);
    unreadable(envelope('<retEnvEvento/>'), /no retDistDFeInt/);
    unreadable(envelope(''), /no retDistDFeInt/);
    unreadable(Buffer.alloc(1000), /./);
  });

  test('403, 495 and 496 without an answer are about our certificate (C44)', () => {
    const html = '<!DOCTYPE html><html><head><title>403 - Forbidden</title></head><body><h2>403</h2></body></html>';
    for (const httpStatus of [403, 495, 496]) {
      for (const body of [html, '']) {
        const { outcome, statusText } = read(body, { ...DIST, httpStatus });
        assert.deepEqual(outcome, { kind: 'certificate_refused', statusCode: `HTTP ${httpStatus}` });
        assert.ok(statusText.length > 0);
      }
    }
    for (const httpStatus of [400, 401, 404, 429, 500, 502, 503, 200, 301])
      unreadable(html, /HTML/, { ...DIST, httpStatus });
    assert.deepEqual(read(html, { ...DIST, httpStatus: null }).outcome, {
      kind: 'unreadable',
      statusCode: 'HTTP unknown',
      reason: 'HTML page',
    });
  });

  test('cut anywhere inside the answer: unreadable; cut behind it: nothing is lost', () => {
    const bytes = answer({
      cStat: '138',
      xMotivo: 'ção',
      ultNSU: nsu(7),
      lote: lote(docZip(nsu(6), RES), docZip(nsu(7), RES)),
    });
    const whole = bytes.indexOf('</retDistDFeInt>') + '</retDistDFeInt>'.length;
    for (let length = 1; length < bytes.length; length++) {
      const { outcome, warnings } = read(bytes.subarray(0, length));
      assert.equal(outcome.kind, length < whole ? 'unreadable' : 'documents', `${length} of ${bytes.length} bytes`);
      if (length >= whole) assert.match(warnings.join(), /not well-formed/);
    }
  });

  test('wrong nesting inside the answer is unreadable', () => {
    const broken = envelope(
      retDistDFeInt({
        cStat: '138',
        lote: `<loteDistDFeInt>${docZip(nsu(6), RES).replace('</docZip>', '')}</loteDistDFeInt>`,
      }),
    );
    unreadable(broken, /not well-formed/);
  });

  test('nested a million levels deep: unreadable, at once', () => {
    unreadable('<a>'.repeat(1_000_000), /nested too deep/);
  });

  test('no entity is expanded', () => {
    const bomb = `<!DOCTYPE x [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>${retDistDFeInt({ xMotivo: '&b;' })}`;
    assert.equal(read(bomb).statusText, '&b;');
  });
});

test('whatever the bytes, it never throws, and no item points outside', () => {
  const good = answer({ cStat: '138', ultNSU: nsu(7), lote: lote(docZip(nsu(6), RES), docZip(nsu(7), RES)) });
  const mutated = fc
    .array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 })
    .map((changes) => {
      const bytes = Buffer.from(good);
      for (const [at, value] of changes) bytes[at] = value;
      return bytes;
    });
  const pieces = fc
    .array(
      fc.constantFrom(
        '<',
        '>',
        '</',
        '/>',
        '<retDistDFeInt>',
        '</retDistDFeInt>',
        '<docZip NSU="1">',
        '</docZip>',
        '<cStat>138</cStat>',
        '<![CDATA[',
        ']]>',
        '<!--',
        '-->',
        '&lt;',
        '&#0;',
        '&#x10ffff;',
        '&#9999999;',
        '<?',
        '?>',
        ' ',
        'x',
        '\xff',
      ),
    )
    .map((parts) => Buffer.from(parts.join(''), 'latin1'));
  fc.assert(
    fc.property(
      fc.oneof(
        mutated,
        pieces,
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      ),
      (bytes) => {
        const { items, statusText } = readDistributionAnswer(bytes, DIST);
        for (const { offset, length, content } of items) {
          assert.ok(offset >= 0 && length >= 0 && offset + length <= bytes.length && content.length === length);
        }
        assert.ok(statusText.length <= 500);
      },
    ),
    { numRuns: 3000 },
  );
});

test('a page of 50 documents is read within milliseconds', () => {
  const large = Buffer.alloc(15_000, 'x').toString('base64');
  const bytes = answer({
    cStat: '138',
    lote: lote(...Array.from({ length: 50 }, (_, index) => docZip(nsu(index), large))),
  });
  read(bytes);
  // 1 MB; some 10 ms. The processor's time of the best round, so that a machine with other work to do is not what is measured.
  const rounds = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    assert.equal(read(bytes).items.length, 50);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  assert.ok(Math.min(...rounds) < 300, `${rounds}`);
});
