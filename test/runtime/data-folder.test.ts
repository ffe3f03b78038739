import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ConfigError } from '../../src/platform/config.js';
import { DataFolder } from '../../src/runtime/data-folder.js';

const base = mkdtempSync(join(tmpdir(), 'malote-data-folder-'));
after(() => rmSync(base, { recursive: true }));

test('is made with what belongs in it, closed to others', () => {
  const folder = new DataFolder(join(base, 'new', 'one'));
  assert.equal(statSync(folder.in('objects')).mode & 0o777, 0o700);
  assert.equal(new DataFolder(folder.path).masterKey(), folder.masterKey());
});

test('it stays with the government with which it was begun', () => {
  const refused = (folder: DataFolder, government: 'simulated' | 'real') =>
    assert.throws(
      () => folder.claimFor(government),
      (error) =>
        error instanceof ConfigError && error.message.includes(folder.path) && /--data-dir/.test(error.message),
    );
  const demo = new DataFolder(join(base, 'demo'));
  demo.claimFor('simulated');
  demo.claimFor('simulated');
  refused(demo, 'real');

  const real = new DataFolder(join(base, 'real'));
  real.claimFor('real');
  refused(real, 'simulated');
  real.claimFor('real');

  const unwritten = new DataFolder(join(base, 'unwritten'));
  writeFileSync(unwritten.in('simulator/state.jsonl'), '');
  refused(unwritten, 'real');
  unwritten.claimFor('simulated');
});

test('it stays on the time scale with which it was begun', () => {
  const folder = new DataFolder(join(base, 'scale'));
  assert.equal(folder.timeScale(null, 60), 60);
  assert.equal(folder.timeScale(60, 60), 60);
  assert.throws(
    () => folder.timeScale(600, 60),
    (error) =>
      error instanceof ConfigError &&
      error.message.includes(folder.path) &&
      /time scale 60, and this start is on 600: set MALOTE_TIME_SCALE to 60, or .*--data-dir/.test(error.message),
  );
  const chosen = new DataFolder(join(base, 'chosen'));
  assert.equal(chosen.timeScale(600, 60), 600);
  assert.equal(chosen.timeScale(null, 60), 600, 'not said again: the folder knows');
});

test('a path where nothing can be kept is refused with the path and what to do', () => {
  const file = join(base, 'file');
  writeFileSync(file, '');
  for (const path of [file, join(file, 'below')]) {
    assert.throws(
      () => new DataFolder(path),
      (error) =>
        error instanceof ConfigError && error.message.includes(path) && /--data-dir or MALOTE_DATA/.test(error.message),
    );
  }
});
