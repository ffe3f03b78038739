import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { fromBufferPromise, openPromise, type ZipFile } from 'yauzl';
import { joinZips, type ZipPart } from '../../src/activities/exports/join-zip.js';
import { type ZipEntry, zipOf } from '../../src/activities/exports/write-zip.js';

const folder = mkdtempSync(join(tmpdir(), 'malote-test-zip-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const AT = Date.UTC(2026, 10, 2, 13, 15, 20);

async function gathered(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of source) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Given out in small pieces, as a store would. */
function partOf(bytes: Buffer, piece = 777): ZipPart {
  return {
    size: bytes.length,
    async *read(start, end) {
      for (let at = start; at < end; at += piece) yield Buffer.from(bytes.subarray(at, Math.min(at + piece, end)));
    },
  };
}

async function contentsOf(zip: ZipFile): Promise<[string, string][]> {
  const contents: [string, string][] = [];
  for await (const entry of zip.eachEntry()) {
    contents.push([entry.fileName, (await gathered(await zip.openReadStreamPromise(entry))).toString('base64')]);
  }
  return contents;
}

const entry = (name: string, content: Uint8Array, compress = true): ZipEntry => ({
  name,
  content: () => [content],
  at: AT,
  compress,
});

const PYTHON = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    bad = z.testzip() if sys.argv[2] == 'all' else None
    names = z.namelist()
    print(json.dumps([bad, len(names), names[:3], z.read(names[-1]).decode()]))
`;
const python = (file: string, how: 'all' | 'last'): unknown =>
  JSON.parse(execFileSync('python3', ['-c', PYTHON, file, how]).toString());

describe('joined ZIP files', () => {
  const name = fc
    .tuple(fc.nat(), fc.string({ unit: fc.constantFrom('a', 'é', 'ç', 'ã', 'Ü', '漢', '/'), maxLength: 12 }))
    .map(([number, text]) => `${text.replace(/\/+/g, '/').replace(/^\//, '')}${number}.xml`);
  const files = fc.array(fc.tuple(name, fc.uint8Array({ maxLength: 3_000 }), fc.boolean()), { maxLength: 8 });

  test('hold every entry of every part, byte for byte and in order, for any parts, also empty ones', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(files, { maxLength: 6 }), async (parts) => {
        const zips = await Promise.all(
          parts.map((part) => gathered(zipOf(part.map(([path, content, compress]) => entry(path, content, compress))))),
        );
        const joined = await gathered(joinZips(zips.map((zip) => partOf(zip))));
        const found = await contentsOf(await fromBufferPromise(joined));
        assert.deepEqual(
          found,
          parts.flat().map(([path, content]) => [path, Buffer.from(content).toString('base64')]),
        );
      }),
      { numRuns: 60 },
    );
  });

  test('are read by unzip and by Python as well', async () => {
    const zips = await Promise.all([
      gathered(zipOf([entry('índice.csv', Buffer.from('a;b\r\n'))])),
      gathered(zipOf([])),
      gathered(
        zipOf([
          entry('2026/11/nfe/açúcar.xml', Buffer.from('<a/>')),
          entry('2026/11/nfe/b.pdf', Buffer.from('%PDF'), false),
        ]),
      ),
    ]);
    const file = join(folder, 'small.zip');
    writeFileSync(file, await gathered(joinZips(zips.map((zip) => partOf(zip)))));
    assert.match(execFileSync('unzip', ['-t', file]).toString(), /No errors detected/);
    const names = ['índice.csv', '2026/11/nfe/açúcar.xml', '2026/11/nfe/b.pdf'];
    assert.deepEqual(python(file, 'all'), [null, 3, names, '%PDF']);
  });

  test('of more than 65,535 entries', async () => {
    const zips: Buffer[] = [];
    for (let i = 0; i < 66; i += 1) {
      const entries = Array.from({ length: 1_000 }, (_, n) => entry(`${i}/${n}.xml`, Buffer.from(`${i * n}`), false));
      zips.push(await gathered(zipOf(entries)));
    }
    const file = join(folder, 'many.zip');
    writeFileSync(file, await gathered(joinZips(zips.map((zip) => partOf(zip, 100_000)))));
    const zip = await openPromise(file, { lazyEntries: true, autoClose: false });
    assert.equal(zip.entryCount, 66_000);
    zip.close();
    assert.deepEqual(python(file, 'last'), [null, 66_000, ['0/0.xml', '0/1.xml', '0/2.xml'], String(65 * 999)]);
  });

  test('of more than 4 GB', async () => {
    const zeros = Buffer.alloc(1024 * 1024);
    const large = 2_200 * zeros.length;
    const file = join(folder, 'large.zip');
    // The entry's data is nothing but zeros that are never written: a sparse file of 4.4 GB takes some kB on the disk.
    const shell = await gathered(zipOf([{ ...entry('zeros', Buffer.alloc(0)), compress: false }]));
    const before = 30 + 'zeros'.length;
    const part: ZipPart = {
      size: shell.length + large,
      async *read(start, end) {
        if (start === 0) {
          yield shell.subarray(0, before);
          for (let i = 0; i < 2_200; i += 1) yield zeros;
          yield shell.subarray(before, end - large);
          return;
        }
        const tail = Buffer.from(shell.subarray(start - large, end - large));
        if (end - start === 22) tail.writeUInt32LE(tail.readUInt32LE(16) + large, 16);
        yield tail;
      },
    };
    const last = partOf(await gathered(zipOf([entry('último.xml', Buffer.from('<fim/>'))])));
    const out = await open(file, 'w');
    let at = 0;
    for await (const piece of joinZips([part, part, last])) {
      if (piece !== zeros) await out.write(piece, 0, piece.length, at);
      at += piece.length;
    }
    await out.close();
    assert.ok(at > 4 * 1024 ** 3);
    assert.deepEqual(python(file, 'last'), [null, 3, ['zeros', 'zeros', 'último.xml'], '<fim/>']);
    const zip = await openPromise(file, { lazyEntries: true, autoClose: false });
    const entries = [];
    for await (const one of zip.eachEntry()) entries.push(one);
    const [, second, third] = entries;
    assert.ok(
      second && third && third.relativeOffsetOfLocalHeader > 0xffffffff && second.relativeOffsetOfLocalHeader > large,
    );
    assert.equal((await gathered(await zip.openReadStreamPromise(third))).toString(), '<fim/>');
    zip.close();
  });

  test('a part that is none, or not whole, is refused', async () => {
    const zip = await gathered(zipOf([entry('a', Buffer.from('a'))]));
    const damaged = Buffer.from(zip);
    damaged.writeUInt32LE(0, damaged.readUInt32LE(damaged.length - 6));
    for (const bytes of [Buffer.alloc(0), Buffer.from('no zip at all, but long enough'), zip.subarray(1), damaged]) {
      await assert.rejects(gathered(joinZips([partOf(Buffer.from(bytes))])), /part/);
    }
  });
});

test('the same entries give the same bytes in every time zone, with the clock of Brasília', async () => {
  const script = `
    const { zipOf } = await import('./src/activities/exports/write-zip.ts');
    const { createHash } = await import('node:crypto');
    const hash = createHash('sha256');
    for await (const piece of zipOf([{ name: 'a.xml', content: () => [Buffer.from('<a/>')], at: ${AT} }])) hash.update(piece);
    console.log(hash.digest('hex'));`;
  const inZone = (zone: string) =>
    execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      env: { ...process.env, TZ: zone },
    }).toString();
  const hashes = ['UTC', 'America/Sao_Paulo', 'Asia/Tokyo'].map(inZone);
  assert.equal(new Set(hashes).size, 1);
  const zip = await fromBufferPromise(await gathered(zipOf([entry('a', Buffer.from('a'))])));
  for await (const { lastModFileDate, lastModFileTime } of zip.eachEntry()) {
    assert.deepEqual([(lastModFileDate >> 9) + 1980, (lastModFileDate >> 5) & 15, lastModFileDate & 31], [2026, 11, 2]);
    assert.deepEqual([lastModFileTime >> 11, (lastModFileTime >> 5) & 63, (lastModFileTime & 31) * 2], [10, 15, 20]);
  }
});
