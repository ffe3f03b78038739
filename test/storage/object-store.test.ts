import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import {
  archiveKey,
  companyPrefix,
  InvalidObjectStore,
  ObjectNotFound,
  type ObjectStore,
  ObjectStoreUnavailable,
  openObjectStore,
  readBlocks,
} from '../../src/storage/object-store/index.js';
import { testBuckets } from '../support/buckets.js';

const folder = mkdtempSync(join(tmpdir(), 'malote-test-objects-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const s3 = await testBuckets();
const { skip } = s3;

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What every store must do, whatever it is made of. */
function conformance(open: () => Promise<ObjectStore>) {
  const opened = { store: undefined as ObjectStore | undefined };
  const it = (name: string, work: (store: ObjectStore) => Promise<void>) =>
    test(name, async () => {
      opened.store ??= await open();
      await work(opened.store);
    });
  const keysOf = async (store: ObjectStore, prefix: string) => {
    const keys: string[] = [];
    for await (const object of store.list(prefix)) keys.push(object.key);
    return keys.sort();
  };

  it('says that it works', async (store) => {
    await store.check();
  });

  it('gives back the exact bytes, any of them, also none', async (store) => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    for (const bytes of [all, Buffer.alloc(0), Buffer.from('é'), randomBytes(3_000_000)]) {
      const key = `exact/${randomUUID()}`;
      await store.put(key, bytes, { contentType: 'application/soap+xml; charset=utf-8' });
      assert.ok(bytes.equals(await store.get(key)));
      assert.deepEqual(await store.head(key), { size: bytes.length });
    }
  });

  it('reads any range, cut where the object ends', async (store) => {
    const bytes = randomBytes(1000);
    await store.put('ranges/a', bytes);
    for (const [offset, length] of [
      [0, 1000],
      [0, 1],
      [999, 1],
      [10, 20],
      [990, 100],
      [1000, 1],
      [5000, 5],
      [3, 0],
    ] as const) {
      const read = await store.getRange('ranges/a', offset, length);
      assert.ok(read.equals(bytes.subarray(offset, offset + length)), `${offset}+${length}`);
    }
  });

  it('replaces an object whole', async (store) => {
    await store.put('replaced/a', Buffer.from('longer than the next'));
    await store.put('replaced/a', Buffer.from('next'));
    assert.equal((await store.get('replaced/a')).toString(), 'next');
  });

  it('says what is not there, in every way of asking', async (store) => {
    const missing = (error: unknown) => error instanceof ObjectNotFound && error.key === 'missing/one';
    await assert.rejects(store.get('missing/one'), missing);
    await assert.rejects(store.getRange('missing/one', 0, 10), missing);
    await assert.rejects(store.getRange('missing/one', 0, 0), missing);
    assert.equal(await store.head('missing/one'), null);
    await store.delete('missing/one');
    await store.put('missing/whole/below', Buffer.from('x'));
    assert.equal(await store.head('missing/whole'), null, 'a folder is no object');
    await assert.rejects(store.get('missing/whole'), ObjectNotFound);
    const accessKey = '5'.repeat(44);
    await assert.rejects(store.get(`missing/run.1.210210-${accessKey}-1`), (error) => {
      assert.ok(error instanceof ObjectNotFound && error.key.includes(accessKey));
      assert.equal(error.message, 'no object missing/run.1.210210-…-1 in the object store');
      return true;
    });
  });

  it('deletes one', async (store) => {
    await store.put('deleted/a', Buffer.from('x'));
    await store.put('deleted/b', Buffer.from('x'));
    await store.delete('deleted/a');
    assert.deepEqual(await keysOf(store, 'deleted/'), ['deleted/b']);
  });

  it('deletes and lists what is below a prefix, and nothing whose name only begins alike', async (store) => {
    const [mine, other] = ['11111111-aaaa', '11111111-aaaa-2'];
    for (let i = 0; i < 12; i += 1) await store.put(`${mine}/nfe/2026/11/${i % 3}/call.${i}`, Buffer.from(String(i)));
    await store.put(`${other}/nfe/x`, Buffer.from('stays'));
    assert.equal((await keysOf(store, `${mine}/`)).length, 12);
    for await (const object of store.list(`${mine}/nfe/2026/11/0`)) {
      assert.match(object.key, /\/11\/0\/call\.\d+$/);
      assert.ok(object.size > 0 && Math.abs(object.writtenAt - Date.now()) < 60_000);
    }
    assert.equal(await store.deletePrefix(`${mine}/`), 12);
    assert.deepEqual(await keysOf(store, `${mine}/`), []);
    assert.equal(await store.deletePrefix(`${mine}/`), 0);
    assert.deepEqual(await keysOf(store, `${other}/`), [`${other}/nfe/x`]);
    assert.ok((await keysOf(store, '')).includes(`${other}/nfe/x`));
  });

  it('refuses keys that would leave their place, and to delete everything', async (store) => {
    const bad = [
      '',
      '/',
      '..',
      '../a',
      'a/../../b',
      'a//b',
      '/a',
      'a/',
      'a\\b',
      'a b',
      'á',
      'a\0b',
      'x'.repeat(201),
      './a',
    ];
    for (const key of bad) {
      await assert.rejects(async () => store.put(key, Buffer.from('x')), InvalidObjectStore, key);
      await assert.rejects(async () => store.get(key), InvalidObjectStore, key);
      await assert.rejects(async () => store.delete(key), InvalidObjectStore, key);
    }
    for (const prefix of ['', '/', '../', 'a//']) {
      await assert.rejects(async () => store.deletePrefix(prefix), InvalidObjectStore, prefix);
    }
  });

  it('takes a stream of any length, and gives it back block by block', async (store) => {
    for (const size of [0, 1, 5_000_000, 21_000_000]) {
      const bytes = randomBytes(size);
      const key = `streamed/${size}`;
      await store.putStream(key, inChunks(bytes, 70_000), { contentType: 'application/zip' });
      assert.deepEqual(await store.head(key), { size });
      const [start, end] = [Math.min(size, 3), Math.max(size - 2, 0)];
      for (const [from, to] of [
        [0, size],
        [start, end],
      ] as const) {
        const read: Buffer[] = [];
        for await (const block of readBlocks(store, key, from, to)) read.push(block);
        assert.ok(Buffer.concat(read).equals(bytes.subarray(from, Math.max(from, to))), `${size}: ${from}-${to}`);
      }
    }
  });

  it('throws what the source threw, and has no object then', async (store) => {
    for (const size of [10, 12_000_000]) {
      const failing = async function* () {
        yield* inChunks(randomBytes(size), 1_000_000);
        throw new RangeError('the source is broken');
      };
      await assert.rejects(store.putStream('broken/a', failing()), RangeError);
      assert.equal(await store.head('broken/a'), null);
    }
  });

  it('says that an object ends before the end that was asked for', async (store) => {
    await store.put('short/a', Buffer.from('four'));
    await assert.rejects(async () => {
      for await (const _ of readBlocks(store, 'short/a', 0, 5));
    }, /ends at 4, before 5/);
  });

  it('writes and reads many at once', async (store) => {
    const made = Array.from({ length: 40 }, (_, i) => ({ key: `many/${i % 5}/${i}`, bytes: randomBytes(100 + i) }));
    await Promise.all(made.map(({ key, bytes }) => store.put(key, bytes)));
    const read = await Promise.all(made.map(({ key }) => store.get(key)));
    for (const [i, { bytes }] of made.entries()) assert.ok(read[i]?.equals(bytes));
  });
}

describe('file system', () => conformance(() => openObjectStore(pathToFileURL(join(folder, 'store')).href)));
describe('S3', { skip }, () => conformance(async () => openObjectStore(await s3.newUrl('/some/prefix'))));

test('S3: a store that is not there, a bucket that is not there and wrong credentials are unavailable, without secrets', {
  skip,
}, async () => {
  const url = await s3.newUrl('/some/prefix');
  const nowhere = await openObjectStore('s3://bucket?endpoint=http://127.0.0.1:1');
  const noBucket = await openObjectStore(url.replace('s3://bucket-', 's3://no-bucket-'));
  await assert.rejects(nowhere.put('a', Buffer.from('x')), ObjectStoreUnavailable);
  for (const store of [nowhere, noBucket]) await assert.rejects(store.check(), ObjectStoreUnavailable);
  process.env.AWS_SECRET_ACCESS_KEY = 'wrong-and-long-enough';
  const denied = await openObjectStore(url);
  await assert.rejects(denied.put('a', Buffer.from('x')), (error) => {
    assert.ok(error instanceof ObjectStoreUnavailable);
    assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)}`, /wrong-and-long/);
    return true;
  });
});

test('addresses that are none say what is wrong', async () => {
  const cases: [string, RegExp][] = [
    ['/var/lib', /file: or s3:/],
    ['https://host/bucket', /https:/],
    ['file:relative', /absolute path/],
    ['s3://', /s3:\/\/bucket/],
    ['s3://key:secret@bucket', /AWS_ACCESS_KEY_ID/],
    ['s3://bucket?endpoint=host:9000', /https:\/\/ or http/],
    ['s3://bucket?region=a&path=b', /unknown parameter "path"/],
    ['s3://bucket/pre fix', /object key/],
  ];
  for (const [url, message] of cases) {
    await assert.rejects(
      openObjectStore(url),
      (error) => {
        assert.ok(error instanceof InvalidObjectStore);
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      },
      url,
    );
  }
});

describe('archive keys', () => {
  const capture = { companyId: randomUUID(), documentType: 'nfe', environment: 'production' } as const;

  test('stand under the company, by the UTC day of the call', () => {
    assert.equal(
      archiveKey(capture, Date.UTC(2026, 10, 30, 23, 59, 59), '0198-run:7'),
      `${capture.companyId}/nfe/production/2026/11/30/0198-run.7`,
    );
    assert.ok(archiveKey(capture, 0, 'x').startsWith(companyPrefix(capture.companyId)));
  });

  test('are usable and different for different calls, whatever the id', () => {
    const used = new Map<string, string>();
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 20, unit: 'binary' }), (callId) => {
        const key = archiveKey(capture, 0, callId);
        assert.match(key, /^[A-Za-z0-9._=/-]+$/);
        assert.equal(used.get(key) ?? callId, callId);
        used.set(key, callId);
      }),
    );
  });
});
