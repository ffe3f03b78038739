import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { DECODE_LIMITS, extractXml } from '../../src/documents/index.js';
import { docZip, note, summary } from './samples.js';

const text = (bytes: string) => Buffer.from(bytes, 'latin1');

describe('from the archive to the XML', () => {
  test('any bytes come back as they were packed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 5000 }), (bytes) => {
        const extracted = extractXml(docZip(bytes), 'base64+gzip');
        assert.ok(extracted.ok);
        assert.deepEqual(Uint8Array.from(extracted.xml), Uint8Array.from(bytes));
      }),
    );
  });

  test('base64 without gzip, and no encoding at all', () => {
    const xml = Buffer.from(summary());
    for (const extracted of [extractXml(text(xml.toString('base64')), 'base64'), extractXml(xml, 'identity')]) {
      assert.ok(extracted.ok);
      assert.deepEqual(extracted.xml, xml);
    }
  });

  test('only its own part of a shared buffer is read', () => {
    const item = docZip(summary());
    const page = Buffer.concat([text('garbage<docZip>'), item, text('</docZip>')]);
    const extracted = extractXml(page.subarray(15, 15 + item.length), 'base64+gzip');
    assert.ok(extracted.ok);
    assert.equal(extracted.xml.toString(), summary());
  });

  test('line breaks and blanks in base64 are fine', () => {
    const lines = docZip(note())
      .toString('latin1')
      .replace(/(.{76})/g, '$1\r\n');
    const extracted = extractXml(text(`\n\t ${lines} \n`), 'base64+gzip');
    assert.ok(extracted.ok);
    assert.equal(extracted.xml.toString(), note());
  });

  test('two gzip members are one document', () => {
    const both = Buffer.concat([gzipSync('<a>'), gzipSync('</a>')]);
    const extracted = extractXml(text(both.toString('base64')), 'base64+gzip');
    assert.ok(extracted.ok);
    assert.equal(extracted.xml.toString(), '<a></a>');
  });

  const whole = docZip(summary()).toString('latin1');
  const faults: [string, Buffer, string][] = [
    ['nothing', text(''), 'empty'],
    ['only blanks', text(' \n'), 'empty'],
    ['no base64 (case C28)', text('this is not base64!!'), 'base64'],
    ['one character outside the alphabet', text(`${whole.slice(0, 40)}*${whole.slice(41)}`), 'base64'],
    ['one character missing', text(whole.slice(0, 40) + whole.slice(41)), 'base64'],
    ['one character too many', text(`${whole}A`), 'base64'],
    ['text behind the padding', text('AAA=AAAA'), 'base64'],
    ['the URL alphabet', text(whole.replaceAll('/', '_').replaceAll('+', '-').replace(/.$/, '-')), 'base64'],
    ['bytes above ASCII', Buffer.from([0xc3, 0xa7, 0x41, 0x41]), 'base64'],
    ['base64 that is no gzip', text(Buffer.from('<a/>').toString('base64')), 'gzip'],
    ['a cut gzip stream (case C28)', text(gzipSync(note()).subarray(0, 900).toString('base64')), 'gzip'],
    [
      'garbage behind the gzip stream',
      text(Buffer.concat([gzipSync('<a/>'), Buffer.from('rest')]).toString('base64')),
      'gzip',
    ],
    ['a gzip stream of nothing', docZip(''), 'empty'],
  ];
  for (const [name, content, failure] of faults) {
    test(`${name}: ${failure}`, () => {
      const extracted = extractXml(content, 'base64+gzip');
      assert.equal(extracted.ok ? 'ok' : extracted.failure, failure);
    });
  }

  test('a wrong checksum of the gzip stream is noticed', () => {
    const stream = gzipSync(summary());
    stream.writeUInt8(stream.readUInt8(stream.length - 8) ^ 1, stream.length - 8);
    const extracted = extractXml(text(stream.toString('base64')), 'base64+gzip');
    assert.equal(extracted.ok ? 'ok' : extracted.failure, 'gzip');
  });

  test('a bomb is stopped, whatever size its trailer tells', () => {
    const bomb = gzipSync(Buffer.alloc(2 * DECODE_LIMITS.expandedBytes));
    const lying = Buffer.from(bomb);
    lying.writeUInt32LE(10, lying.length - 4);
    for (const stream of [bomb, lying]) {
      const extracted = extractXml(text(stream.toString('base64')), 'base64+gzip');
      assert.equal(extracted.ok ? 'ok' : extracted.failure, 'too_large');
    }
  });

  test('limits hold exactly, for the compressed and the expanded size and without gzip', () => {
    const xml = Buffer.from(summary());
    const stream = gzipSync(xml);
    const compressed = (limit: number) =>
      extractXml(text(stream.toString('base64')), 'base64+gzip', { ...DECODE_LIMITS, compressedBytes: limit }).ok;
    const expanded = (limit: number) =>
      extractXml(text(stream.toString('base64')), 'base64+gzip', { ...DECODE_LIMITS, expandedBytes: limit }).ok;
    const plain = (limit: number) => extractXml(xml, 'identity', { ...DECODE_LIMITS, expandedBytes: limit }).ok;
    assert.deepEqual([compressed(stream.length), compressed(stream.length - 1)], [true, false]);
    assert.deepEqual([expanded(xml.length), expanded(xml.length - 1)], [true, false]);
    assert.deepEqual([plain(xml.length), plain(xml.length - 1)], [true, false]);
  });

  test('random bytes never throw', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.constantFrom('base64+gzip', 'base64', 'identity'),
        (bytes, encoding) => {
          assert.equal(typeof extractXml(bytes, encoding as 'base64').ok, 'boolean');
        },
      ),
    );
  });
});
