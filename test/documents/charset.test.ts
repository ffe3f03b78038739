import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { toUtf8 } from '../../src/documents/charset.js';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();

function read(bytes: Buffer): { text: string; warnings: readonly string[] } {
  const result = toUtf8(bytes);
  assert.ok(result.ok);
  return { text: result.utf8.toString('utf8'), warnings: result.warnings };
}

describe('encodings (case C40)', () => {
  test('UTF-8 is passed on without a copy', () => {
    const bytes = Buffer.from('<a>Rejeição</a>');
    const result = toUtf8(bytes);
    assert.ok(result.ok);
    assert.equal(result.utf8, bytes);
    assert.deepEqual(result.warnings, []);
  });

  test('a byte order mark goes', () => {
    assert.deepEqual(read(Buffer.from('\uFEFF<a>ç</a>')), { text: '<a>ç</a>', warnings: [] });
  });

  test('declared ISO-8859-1', () => {
    const xml = '<?xml version="1.0" encoding="ISO-8859-1"?><a>Rejeição</a>';
    assert.deepEqual(read(latin1(xml)), { text: xml, warnings: [] });
  });

  for (const [name, xml] of [
    ['nothing', '<a>Praça 123</a>'],
    ['UTF-8', '<?xml version="1.0" encoding="utf-8"?><a>Praça 123</a>'],
    ['UTF-16', '<?xml version="1.0" encoding="utf-16"?><a>Praça 123</a>'],
    ['an encoding that nobody knows', '<?xml version="1.0" encoding="x-mainframe"?><a>Praça 123</a>'],
    ['another encoding that the bytes are not', '<?xml version="1.0" encoding="euc-jp"?><a>Praça 123</a>'],
  ] as const) {
    test(`Latin-1 bytes declared as ${name}: read, with a warning`, () => {
      const { text, warnings } = read(latin1(xml));
      assert.equal(text, xml);
      assert.ok(warnings.some((warning) => warning.startsWith('charset:')));
    });
  }

  test('UTF-8 bytes whose declaration says UTF-16, as some serializers write: read, with a warning', () => {
    const xml = '<?xml version="1.0" encoding="utf-16"?><a>ç</a>';
    const { text, warnings } = read(Buffer.from(xml));
    assert.equal(text, xml);
    assert.equal(warnings.length, 1);
  });

  test('UTF-16 of both byte orders, with and without a mark', () => {
    const xml = '<?xml version="1.0" encoding="UTF-16"?><a>ç</a>';
    for (const bytes of [
      Buffer.from(xml, 'utf16le'),
      Buffer.from(`\uFEFF${xml}`, 'utf16le'),
      utf16be(xml),
      utf16be(`\uFEFF${xml}`),
    ]) {
      assert.deepEqual(read(bytes), { text: xml, warnings: [] });
    }
  });

  test('UTF-16 that ends within a character is refused', () => {
    assert.equal(toUtf8(Buffer.concat([Buffer.from('<a/>', 'utf16le'), Buffer.from([0x41])])).ok, false);
  });

  test('whatever the bytes, what comes out is UTF-8', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const result = toUtf8(Buffer.from(bytes));
        if (result.ok) {
          assert.equal(Buffer.from(result.utf8.toString('utf8')).equals(result.utf8), true);
        }
      }),
    );
  });
});
