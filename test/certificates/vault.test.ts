import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { parseKeyring } from '../../src/certificates/keyring.js';
import { SealBroken } from '../../src/certificates/seal.js';
import { createVault, type StoredCertificate, sealKey } from '../../src/certificates/vault.js';

const keyring = parseKeyring(randomBytes(32).toString('base64'));

/** Rows by id, and a count of how often they were read. */
function rows() {
  const stored = new Map<string, StoredCertificate>();
  const reads: string[] = [];
  return {
    reads,
    put: (id: string, keyPem: string) =>
      stored.set(id, { ...sealKey(keyring, { keyPem }, id), chain: `chain of ${id}`, thumbprint: id }),
    move: (from: string, to: string) => stored.set(to, stored.get(from) as StoredCertificate),
    remove: (id: string) => stored.delete(id),
    load: async (id: string) => {
      reads.push(id);
      return stored.get(id) ?? null;
    },
  };
}

test('gives the opened key and reads its row once, for callers at the same time too', async () => {
  const { put, load, reads } = rows();
  put('a', 'key of a');
  const vault = createVault({ keyring, load });
  const opened = await Promise.all([vault.get('a'), vault.get('a')]);
  assert.deepEqual(opened, Array(2).fill({ keyPem: 'key of a', chainPem: 'chain of a', thumbprint: 'a' }));
  await vault.get('a');
  assert.deepEqual(reads, ['a']);
});

test('no row is null, and is asked for again', async () => {
  const { put, load } = rows();
  const vault = createVault({ keyring, load });
  assert.equal(await vault.get('a'), null);
  put('a', 'key of a');
  assert.equal((await vault.get('a'))?.keyPem, 'key of a');
});

test('after its time a key is read again', async () => {
  const { put, remove, load } = rows();
  put('a', 'key of a');
  const vault = createVault({ keyring, load, ttlMs: 1 });
  await vault.get('a');
  remove('a');
  const limit = Date.now() + 2000;
  while ((await vault.get('a')) !== null) {
    assert.ok(Date.now() < limit, 'a deleted certificate lives on');
    await setImmediate();
  }
});

test('holds only so many keys', async () => {
  const { put, load, reads } = rows();
  for (const id of ['a', 'b', 'c']) put(id, id);
  const vault = createVault({ keyring, load, max: 2 });
  for (const id of ['a', 'b', 'c', 'c', 'b', 'a']) await vault.get(id);
  assert.deepEqual(reads, ['a', 'b', 'c', 'a']);
  vault.clear();
  await vault.get('a');
  assert.equal(reads.length, 5);
});

test('a key copied into another row does not open', async () => {
  const { put, move, load } = rows();
  put('a', 'key of a');
  move('a', 'b');
  await assert.rejects(createVault({ keyring, load }).get('b'), SealBroken);
});

test('a failing loader fails the call and nothing is kept', async () => {
  const { put, load } = rows();
  put('a', 'key of a');
  let broken = true;
  const vault = createVault({
    keyring,
    load: (id) => (broken ? Promise.reject(new Error('database away')) : load(id)),
  });
  await assert.rejects(vault.get('a'), /database away/);
  broken = false;
  assert.equal((await vault.get('a'))?.keyPem, 'key of a');
});
