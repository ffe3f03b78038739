import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { FolderInUse, lockFolder } from '../../src/runtime/folder-lock.js';
import { startOf } from '../../src/runtime/process-info.js';
import { scratchFolder } from '../support/scratch.js';

const SINCE = '2026-11-30T12:00:00.000Z';

function leaveLock(folder: string, holder: { pid: number; start: string | null }): void {
  writeFileSync(join(folder, 'lock'), JSON.stringify({ ...holder, since: SINCE }));
}

describe('lock on a folder', () => {
  test('is taken once, and free again after letting go', () => {
    const folder = join(scratchFolder('lock'), 'made', 'by', 'it');
    const unlock = lockFolder(folder);
    assert.throws(() => lockFolder(folder), FolderInUse);
    unlock();
    assert.ok(!existsSync(join(folder, 'lock')));
    lockFolder(folder)();
  });

  test('of a living process holds, and names it', async () => {
    const folder = scratchFolder('lock');
    const other = spawn('sleep', ['60'], { stdio: 'ignore' });
    await once(other, 'spawn');
    const pid = other.pid ?? 0;
    try {
      leaveLock(folder, { pid, start: startOf(pid) });
      assert.throws(() => lockFolder(folder), new RegExp(`in use by process ${pid} since ${SINCE}`));
      // The same id, given to another program after a restart of the machine or container.
      leaveLock(folder, { pid, start: 'another start' });
      lockFolder(folder)();
    } finally {
      other.kill('SIGKILL');
      await once(other, 'exit');
    }
    leaveLock(folder, { pid, start: null });
    lockFolder(folder)();
  });

  test('of our own id, left by an earlier process in a container, does not hold', () => {
    const folder = scratchFolder('lock');
    leaveLock(folder, { pid: process.pid, start: 'earlier' });
    lockFolder(folder)();
  });

  test('that cannot be read does not hold for ever', () => {
    const folder = scratchFolder('lock');
    writeFileSync(join(folder, 'lock'), '');
    lockFolder(folder)();
  });
});
