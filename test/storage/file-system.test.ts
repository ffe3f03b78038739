import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ObjectStoreUnavailable, openObjectStore } from '../../src/storage/object-store/index.js';
import { until } from '../support/until.js';

const folder = mkdtempSync(join(tmpdir(), 'malote-test-files-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const url = pathToFileURL(folder).href;
const drafts = join(folder, '.drafts');

test('a process that is killed in the middle of a put leaves no partial object', async () => {
  for (let run = 0; run < 4; run += 1) {
    const program = fileURLToPath(new URL('./put-forever.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', program, url, String(run)], { stdio: 'inherit' });
    const left = existsSync(drafts) ? readdirSync(drafts).length : 0;
    await until(() => {
      // A new draft that has some bytes, and not all of them: now.
      const names = existsSync(drafts) ? readdirSync(drafts) : [];
      if (names.length <= left) return false;
      const sizes = names.map((name) => statSync(join(drafts, name), { throwIfNoEntry: false })?.size ?? 0);
      return sizes.some((size) => size > 0);
    }, 'a put has begun');
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  assert.ok(readdirSync(drafts).length > 0, 'at least one of them was killed in the middle');
  const store = await openObjectStore(url);
  for await (const { key, size } of store.list('')) {
    assert.equal(size, 20_000_000, key);
    const value = Number(key.split('/').at(-1)) % 256;
    assert.ok(
      (await store.get(key)).every((byte) => byte === value),
      key,
    );
  }
});

test('what such a process left is removed after a day, and never listed', async () => {
  const [old, young] = [join(drafts, 'old'), join(drafts, 'young')];
  writeFileSync(old, 'x');
  writeFileSync(young, 'x');
  const yesterday = Date.now() / 1000 - 25 * 3600;
  utimesSync(old, yesterday, yesterday);
  const store = await openObjectStore(url);
  assert.equal(existsSync(old), false);
  assert.equal(existsSync(young), true);
  for await (const { key } of store.list('')) assert.doesNotMatch(key, /drafts/);
});

test('a place that cannot be written says so with its code, and without the path', async () => {
  const file = join(folder, 'a-file');
  writeFileSync(file, 'x');
  const store = await openObjectStore(pathToFileURL(join(file, 'below')).href);
  const refused = (error: unknown) =>
    error instanceof ObjectStoreUnavailable && error.code === 'ENOTDIR' && !error.message.includes(folder);
  await assert.rejects(store.check(), refused);
  await assert.rejects(store.put('a', Buffer.from('x')), refused);
});
