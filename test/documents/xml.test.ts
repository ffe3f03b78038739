import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { XmlDocument } from 'libxml2-wasm';
import { DECODE_LIMITS } from '../../src/documents/index.js';
import { parse, XmlFault } from '../../src/documents/xml/parse.js';
import { compilePaths, Fields, type Found } from '../../src/documents/xml/paths.js';
import { scan } from '../../src/documents/xml/scan.js';
import { event, note, summary } from './samples.js';

const { root, fields } = compilePaths('r', {
  version: '@v',
  id: 'b@Id',
  text: 'b/t',
  deep: 'b/c/t',
  name: 'n',
  other: 'c/*/t',
  named: 'c/b/t',
});
const roots = [root];

function quick(xml: string | Buffer) {
  return scan(Buffer.from(xml), roots, DECODE_LIMITS.depth);
}

function thorough(xml: string) {
  return parse(xml, roots, DECODE_LIMITS);
}

function fault(xml: string): string {
  try {
    thorough(xml);
    return 'none';
  } catch (error) {
    assert.ok(error instanceof XmlFault);
    return error.failure;
  }
}

const show = (found: Found) => {
  const read = new Fields(fields, found);
  return Object.fromEntries(
    [...fields.keys()].map((name) => [name, read.all(name)]).filter(([, texts]) => texts?.length),
  );
};

describe('both ways of reading agree', () => {
  const plain: [string, string, Record<string, string[]>][] = [
    [
      'elements and attributes',
      '<r v="1"><b Id="x"><t>one</t><c><t>two</t></c></b><n>three</n></r>',
      { version: ['1'], id: ['x'], text: ['one'], deep: ['two'], name: ['three'] },
    ],
    ['prefixes', '<p:r xmlns:p="u" v="1"><q:b><z:t>one</z:t></q:b></p:r>', { version: ['1'], text: ['one'] }],
    [
      'the same name elsewhere is not meant',
      '<r><t>no</t><x><b><t>no</t></b></x><b><x><t>no</t></x><t>yes</t></b></r>',
      { text: ['yes'] },
    ],
    [
      'an element of any name, but one that another path names',
      '<r><c><x><t>one</t></x><t><t>two</t></t><b><t>three</t></b><t>no</t><x><x><t>no</t></x></x></c></r>',
      { other: ['one', 'two'], named: ['three'] },
    ],
    ['repeated', '<r><b><t>1</t><t>2</t></b><b><t>3</t></b></r>', { text: ['1', '2', '3'] }],
    ['empty, blank and self-closed are absent', '<r v=""><b Id=" "><t/><t></t><t> \n </t></b><n/></r>', {}],
    ['blanks around, line breaks inside', '<r><n>\n  one\r\n  two\t</n></r>', { name: ['one   two'] }],
    [
      'references',
      '<r><n>A &amp; B &lt;&gt;&quot;&apos; &#199;&#xE7; &amp;lt;</n></r>',
      { name: ['A & B <>"\' Çç &lt;'] },
    ],
    ['references in attributes', '<r v="&#49;&amp;"/>', { version: ['1&'] }],
    ['quotes of both kinds', `<r v='a"b'><b Id="c'd>"/></r>`, { version: ['a"b'], id: ["c'd>"] }],
    ['beyond ASCII', '<r><n>São João 😀 ﬁ</n></r>', { name: ['São João 😀 ﬁ'] }],
    ['blanks before, between and after', ' \n<r >\n<b\n Id = "1" ></b ></r >\n', { id: ['1'] }],
    ['a declaration', '<?xml version="1.0" encoding="utf-8"?>\n<r v="1"/>', { version: ['1'] }],
  ];
  for (const [name, xml, expected] of plain) {
    test(name, () => {
      assert.deepEqual(show(thorough(xml).found), expected);
      const scanned = quick(xml);
      if (scanned !== null) {
        assert.deepEqual(show(scanned.found), expected);
      }
    });
  }

  test('what services send goes the quick way', () => {
    for (const xml of [note(), summary(), event()]) {
      const name = /^<(\w+)/.exec(xml)?.[1] ?? '';
      assert.ok(scan(Buffer.from(xml), [compilePaths(name, {}).root], DECODE_LIMITS.depth));
    }
  });

  const unusual: [string, string, Record<string, string[]>][] = [
    ['a comment inside a value', '<r><n>12<!-- 99 -->34</n></r>', { name: ['1234'] }],
    ['CDATA', '<r><n><![CDATA[A & <B>]]></n></r>', { name: ['A & <B>'] }],
    ['CDATA beside text', '<r><n>1<![CDATA[2]]>3</n></r>', { name: ['123'] }],
    ['a processing instruction', '<?x y?><r><n>1<?x y?>2</n></r>', { name: ['12'] }],
    ['an unknown element inside a value', '<r><n>1<x>9</x>2</n></r>', { name: ['12'] }],
    ['names beyond ASCII', '<r><ção>1</ção><n>2</n></r>', { name: ['2'] }],
  ];
  for (const [name, xml, expected] of unusual) {
    test(`${name}: left to the thorough way`, () => {
      assert.equal(quick(xml), null);
      assert.deepEqual(show(thorough(xml).found), expected);
    });
  }
});

describe('what is not well-formed is refused by both', () => {
  const broken = [
    '<r>',
    '<r',
    '</r>',
    '</><r>',
    '</><r></r>',
    '<r></r></r>',
    '<r/><r/>',
    '<r></R>',
    '<r><b></r></b>',
    '<r>text',
    'text<r/>',
    '<r/>text',
    '<r>&</r>',
    '<r>&foo;</r>',
    '<r>& amp;</r>',
    '<r>&amp</r>',
    '<r>&#0;</r>',
    '<r>&#xD800;</r>',
    '<r>&#xFFFE;</r>',
    '<r>&#x110000;</r>',
    '<r>&#X41;</r>',
    '<r>]]></r>',
    '<r>\u0001</r>',
    '<r>\uFFFE</r>',
    '<r>\uFFFF</r>',
    '<r v=1/>',
    '<r v/>',
    '<r v="1"w="2"/>',
    '<r v="1" v="2"/>',
    '<r v="<"/>',
    '<r v="&"/>',
    '<r v="1/>',
    '<r / >',
    '<r/ >',
    '< r/>',
    '<1/>',
    '<r><!-- -- --></r>',
    '<r><![CDATA[</r>',
    '<r><?xml version="1.0"?></r>',
    ' <?xml version="1.0"?><r/>',
    '<?xml?><r/>',
    '<?xml version="1.0"><r/>',
    '<r><!DOCTYPE r></r>',
    '{"json":true}',
    'plain text',
    '<html><br></html>',
  ];
  for (const xml of broken) {
    test(JSON.stringify(xml), () => {
      assert.equal(quick(xml), null);
      assert.equal(fault(xml), 'not_well_formed');
    });
  }

  test('no document at all', () => {
    assert.equal(fault(''), 'empty');
    assert.equal(fault(' \n'), 'empty');
    assert.equal(quick(''), null);
  });

  test('every DOCTYPE before the root, behind whatever (case C51)', () => {
    for (const xml of [
      '<!DOCTYPE r><r/>',
      '<?xml version="1.0"?>\n<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>',
      '<!-- <r> --><?pi <r>?> <!DOCTYPE r><r/>',
    ]) {
      assert.equal(quick(xml), null);
      assert.equal(fault(xml), 'doctype');
    }
    assert.equal(fault('<r><!-- <!DOCTYPE r> --></r>'), 'none');
  });

  test('many comments before the root take no more than linear time', () => {
    assert.equal(fault(`${'<!-- -->'.repeat(100_000)}<r/>`), 'none');
  });

  test('too deep', () => {
    const nested = (depth: number) => `<r>${'<x>'.repeat(depth - 1)}${'</x>'.repeat(depth - 1)}</r>`;
    assert.equal(fault(nested(DECODE_LIMITS.depth)), 'none');
    assert.ok(quick(nested(DECODE_LIMITS.depth)));
    assert.equal(fault(nested(DECODE_LIMITS.depth + 1)), 'too_deep');
    assert.equal(quick(nested(DECODE_LIMITS.depth + 1)), null);
  });

  test('too slow', () => {
    assert.throws(
      () => parse('<r/>', roots, { ...DECODE_LIMITS, milliseconds: -1 }),
      (error) => error instanceof XmlFault && error.failure === 'too_slow',
    );
  });

  test('an error quotes nothing of the document', () => {
    assert.throws(
      () => thorough('<r><secret></r>'),
      (error) => error instanceof XmlFault && !/secret/.test(error.message),
    );
  });

  test('a long field is cut, and never in the middle of a character', () => {
    const [name] = show(thorough(`<r><n>${'😀'.repeat(400)}</n></r>`).found).name ?? [];
    assert.equal(name, '😀'.repeat(127));
  });
});

/** XML-like text: mostly well-formed pieces, some that are not, in any nesting. */
const markup = fc.letrec<{ node: string; element: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    { weight: 4, arbitrary: fc.constantFrom('1', 'text', ' ', '\n', '\r\n', 'é', '😀', ']]', '>', "'", '"', 'ﬁ') },
    { weight: 2, arbitrary: fc.constantFrom('&amp;', '&#65;', '&#xe7;', '&quot;', '&#10;') },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '<!--c-->',
        '<![CDATA[x]]>',
        '<?p?>',
        '&bad;',
        '&',
        '<',
        '\u0002',
        '\uFFFE',
        ']]>',
        '&#1;',
        '</b>',
        '<b>',
      ),
    },
    { weight: 6, arbitrary: tie('element') },
  ),
  element: fc
    .tuple(
      fc.constantFrom('b', 't', 'c', 'n', 'x', 'p:b', 'p:t', 'a:b:t', '_-.9'),
      fc.array(
        fc.constantFrom(
          ' v="1"',
          " v='2'",
          ' Id="3"',
          '\nw="&lt;"',
          ' xmlns="u"',
          ' w="a>b"',
          ' p:Id="4"',
          ' v = "5"',
          ' w',
          ' ',
        ),
        { maxLength: 3 },
      ),
      fc.array(tie('node'), { maxLength: 4 }),
      fc.constantFrom('close', 'close', 'close', 'self', 'blank'),
    )
    .map(([name, attributes, inner, end]) =>
      end === 'self'
        ? `<${name}${attributes.join('')}/>`
        : `<${name}${attributes.join('')}>${inner.join('')}</${name}${end === 'blank' ? ' ' : ''}>`,
    ),
}));
const document = fc
  .tuple(
    fc.constantFrom('', '', '<?xml version="1.0" encoding="UTF-8"?>', "<?xml version='1.0'?>\n", ' ', '<!--c-->'),
    fc.constantFrom('r', 'r', 'r', 'p:r', 'other'),
    fc.array(markup.node, { maxLength: 6 }),
    fc.constantFrom('', '', '\n', '<!--c-->', '<r/>'),
  )
  .map(([before, name, inner, after]) => `${before}<${name}>${inner.join('')}</${name}>${after}`);

describe('the quick way never accepts what the thorough way refuses', () => {
  const agree = (xml: Buffer) => {
    const scanned = quick(xml);
    if (scanned === null) {
      return false;
    }
    const parsed = thorough(xml.toString('utf8'));
    assert.equal(scanned.root, parsed.root);
    assert.deepEqual(show(scanned.found), show(parsed.found));
    return true;
  };

  test('documents of every shape', () => {
    let quickly = 0;
    fc.assert(
      fc.property(document, (xml) => {
        quickly += agree(Buffer.from(xml)) ? 1 : 0;
      }),
      { numRuns: 5_000 },
    );
    assert.ok(quickly > 300, `only ${quickly} documents went the quick way: this test tests nothing`);
  });

  const noteRoots = [compilePaths('nfeProc', { key: 'protNFe/infProt/chNFe', id: 'NFe/infNFe@Id' }).root];
  // Without namespaces, which libxml2 judges and we do not.
  const base = Buffer.from(note({ items: 1, info: 'A &amp; B &#199;' }).replaceAll(/ xmlns="[^"]*"/g, ''));
  const bytes = fc.oneof(
    fc.constantFrom(...Buffer.from('<>/&;="\'!?-[] \n\t\0x#')),
    fc.integer({ min: 0, max: 127 }).filter((byte) => byte !== 0x3a),
  );
  const edits = fc.array(fc.tuple(fc.nat(base.length - 1), fc.constantFrom('replace', 'insert', 'delete'), bytes), {
    minLength: 1,
    maxLength: 3,
  });
  const edited = (changes: [number, string, number][]): Buffer => {
    let xml = base;
    for (const [at, kind, byte] of changes) {
      xml = Buffer.concat([
        xml.subarray(0, at),
        ...(kind === 'delete' ? [] : [Buffer.of(byte)]),
        xml.subarray(kind === 'insert' ? at : at + 1),
      ]);
    }
    return xml;
  };

  test('a note with any bytes changed, against both other parsers', () => {
    let accepted = 0;
    let refused = 0;
    fc.assert(
      fc.property(edits, (changes) => {
        const xml = edited(changes as [number, string, number][]);
        const scanned = scan(xml, noteRoots, DECODE_LIMITS.depth);
        if (scanned === null) {
          refused++;
          return;
        }
        accepted++;
        assert.deepEqual(scanned.found, parse(xml.toString('utf8'), noteRoots, DECODE_LIMITS).found);
        XmlDocument.fromBuffer(xml).dispose();
      }),
      { numRuns: 3_000 },
    );
    assert.ok(accepted > 300 && refused > 300, `accepted ${accepted}, refused ${refused}: not a fair mixture`);
  });

  test('a note cut anywhere is refused', () => {
    for (let length = 0; length < base.length; length += 3) {
      assert.equal(scan(base.subarray(0, length), noteRoots, DECODE_LIMITS.depth), null);
      assert.throws(() => parse(base.subarray(0, length).toString('latin1'), noteRoots, DECODE_LIMITS), XmlFault);
    }
  });
});
