import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { ObjectNotFound, openObjectStore } from '../../src/storage/object-store/index.js';
import { type ExtractXml, readXml, XmlDamaged } from '../../src/storage/read-xml.js';

const folder = mkdtempSync(join(tmpdir(), 'malote-test-xml-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const extract: ExtractXml = (content, encoding) => {
  if (encoding === 'identity') return content;
  const bytes = Buffer.from(Buffer.from(content).toString('latin1'), 'base64');
  return encoding === 'base64' ? bytes : gunzipSync(bytes);
};

/** An answer with one document in the middle, and the row that points at it. */
async function archived(encoding: 'base64+gzip' | 'base64' | 'identity') {
  const xml = Buffer.from(`<nfeProc><xNome>Açougue São João</xNome>${'<det/>'.repeat(50)}</nfeProc>`);
  const encoded = { 'base64+gzip': gzipSync(xml).toString('base64'), base64: xml.toString('base64'), identity: xml }[
    encoding
  ];
  const before = Buffer.from('<env:Envelope>é');
  const key = `c/${encoding.replace('+', '-')}`;
  const store = await openObjectStore(pathToFileURL(folder).href);
  await store.put(key, Buffer.concat([before, Buffer.from(encoded), Buffer.from('</env:Envelope>')]));
  const row = {
    id: 'd1',
    archiveId: 'a1',
    objectKey: key,
    byteOffset: before.length,
    byteLength: encoded.length,
    encoding,
    xmlSha256: createHash('sha256').update(xml).digest('hex'),
  };
  return { store, row, xml, file: join(folder, key) };
}

describe('reading the XML of a document', () => {
  for (const encoding of ['base64+gzip', 'base64', 'identity'] as const) {
    test(`${encoding}: gives the exact bytes, and notices every flipped byte in their range`, async () => {
      const { store, row, xml, file } = await archived(encoding);
      assert.ok(xml.equals(await readXml(store, row, extract)));
      const whole = readFileSync(file);
      for (let i = 0; i < row.byteLength; i += 1) {
        const damaged = Buffer.from(whole);
        damaged.writeUInt8((damaged.readUInt8(row.byteOffset + i) ^ 0x55) & 0xff, row.byteOffset + i);
        writeFileSync(file, damaged);
        const read = await readXml(store, row, extract).catch((error: unknown) => error);
        // The header of a gzip stream has a few bytes (its time, its system) that change nothing of what is in it.
        if (Buffer.isBuffer(read)) assert.ok(read.equals(xml), `byte ${i} was flipped and other bytes came`);
        else assert.ok(read instanceof XmlDamaged && read.documentId === 'd1' && read.archiveId === 'a1', String(read));
      }
      const outside = Buffer.from(whole);
      outside.write('X', 0);
      writeFileSync(file, outside);
      assert.ok(xml.equals(await readXml(store, row, extract)), 'bytes outside of the range are not its concern');
    });
  }

  test('a cut archive is damage, a missing one is said to be missing', async () => {
    const { store, row, file } = await archived('identity');
    writeFileSync(file, readFileSync(file).subarray(0, row.byteOffset + 10));
    await assert.rejects(readXml(store, row, extract), XmlDamaged);
    await store.delete(row.objectKey);
    await assert.rejects(readXml(store, row, extract), ObjectNotFound);
  });
});
