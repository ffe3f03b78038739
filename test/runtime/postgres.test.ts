import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { FolderInUse } from '../../src/runtime/folder-lock.js';
import { type PostgresServer, startPostgres } from '../../src/runtime/postgres.js';
import { restoreLinks } from '../../src/runtime/postgres-programs.js';
import { serverUser } from '../../src/runtime/postgres-user.js';
import { isAlive, startOf } from '../../src/runtime/process-info.js';
import { scratchFolder } from '../support/scratch.js';
import { until } from '../support/until.js';

const HOLDER = fileURLToPath(new URL('./postgres-holder.ts', import.meta.url));
const isRoot = process.getuid?.() === 0;

async function ask(server: PostgresServer, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.urlOf('postgres') });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** A server that we started does not keep our event loop alive; waiting for its end has to. */
async function endOf(server: PostgresServer): Promise<string> {
  const alive = setInterval(() => undefined, 1000);
  return server.ended.finally(() => clearInterval(alive));
}

/** Another process that runs a server on the folder; resolves with the server's process id. */
async function holder(folder: string, options: { uid?: number; gid?: number } = {}): Promise<[ChildProcess, number]> {
  const child = spawn(process.execPath, ['--import', 'tsx', HOLDER, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, HOME: folder, TMPDIR: folder },
    ...options,
  });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return [child, Number(said.toString())];
}

describe('embedded PostgreSQL', () => {
  test('starts on an empty folder with UTF-8 and durable settings, keeps its data over a restart', async () => {
    const folder = scratchFolder('pg');
    const first = await startPostgres({ folder });
    try {
      await ask(first, "create table kept as select 'ação' as word");
      const [settings] = await ask(
        first,
        `select current_setting('server_encoding') encoding, current_setting('fsync') fsync,
           current_setting('synchronous_commit') commit, current_setting('server_version_num')::int / 10000 major,
           current_setting('listen_addresses') listens, lower('ÇÃO') lowered, 'a' < 'B' dictionary_order`,
      );
      assert.deepEqual(settings, {
        encoding: 'UTF8',
        fsync: 'on',
        commit: 'on',
        major: 18,
        listens: '127.0.0.1',
        lowered: 'ção',
        dictionary_order: false,
      });
    } finally {
      await first.stop();
    }
    await first.stop(); // safe to repeat
    assert.equal(await endOf(first), 'exit code 0');
    const second = await startPostgres({ folder });
    try {
      assert.deepEqual(await ask(second, 'select word from kept'), [{ word: 'ação' }]);
    } finally {
      await second.stop();
    }
  });

  test('nobody gets in without the password', async () => {
    const server = await startPostgres({ folder: scratchFolder('pg'), throwAway: true });
    try {
      const url = new URL(server.urlOf('postgres'));
      url.password = 'guess';
      await assert.rejects(new pg.Client({ connectionString: url.href }).connect(), { code: '28P01' });
    } finally {
      await server.stop();
    }
  });

  test('after kill -9 it starts again on the same data, at once', async () => {
    const folder = scratchFolder('pg');
    const first = await startPostgres({ folder });
    await ask(first, 'create table kept as select 1 as n');
    process.kill(first.pid, 'SIGKILL');
    assert.equal(await endOf(first), 'signal SIGKILL');
    assert.ok(existsSync(join(folder, 'data', 'postmaster.pid')), 'the stale file is what this test is about');
    const second = await startPostgres({ folder });
    try {
      assert.deepEqual(await ask(second, 'select n from kept'), [{ n: 1 }]);
    } finally {
      await second.stop();
    }
  });

  test('a stale postmaster.pid whose number belongs to a stranger by now does not stop it, nor hurt the stranger', async () => {
    const folder = scratchFolder('pg');
    await (await startPostgres({ folder, throwAway: true })).stop();
    // PostgreSQL believes the file when the process is of its own user; as root that takes a stranger of that user.
    const user = serverUser();
    const ids = user === null ? {} : { uid: user.uid, gid: user.gid };
    const stranger = spawn('sleep', ['60'], { ...ids, stdio: 'ignore' });
    await once(stranger, 'spawn');
    try {
      writeFileSync(join(folder, 'data', 'postmaster.pid'), `${stranger.pid}\n${join(folder, 'data')}\n0\n5432\n`);
      const server = await startPostgres({ folder, throwAway: true });
      await server.stop();
      assert.equal(stranger.exitCode, null);
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  test('a taken port: another one is used', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const address = blocker.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const server = await startPostgres({ folder: scratchFolder('pg'), port, throwAway: true });
    try {
      assert.notEqual(server.port, port);
      assert.deepEqual(await ask(server, 'select 1 as n'), [{ n: 1 }]);
    } finally {
      await server.stop();
      blocker.close();
    }
  });

  test('a folder in use: the second one says who holds it, in the same process and from another', async () => {
    const folder = scratchFolder('pg');
    const server = await startPostgres({ folder, throwAway: true });
    await assert.rejects(startPostgres({ folder }), (error: Error) => {
      assert.ok(error instanceof FolderInUse);
      assert.match(error.message, new RegExp(`in use by process ${process.pid} since`));
      return true;
    });
    await server.stop();
    const [other] = await holder(folder);
    try {
      await assert.rejects(startPostgres({ folder }), new RegExp(`in use by process ${other.pid} `));
    } finally {
      other.kill('SIGKILL');
      await once(other, 'exit');
    }
  });

  test('dies with its parent, even by kill -9, and the folder is free again', async () => {
    const folder = scratchFolder('pg');
    const [parent, pid] = await holder(folder);
    assert.ok(isAlive(pid));
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    await until(() => startOf(pid) === null, 'the server ends');
    const server = await startPostgres({ folder, throwAway: true });
    await server.stop();
  });

  test('an interrupted first start leaves nothing half made', async () => {
    const folder = scratchFolder('pg');
    mkdirSync(join(folder, 'data.new', 'base'), { recursive: true });
    const server = await startPostgres({ folder, throwAway: true });
    await server.stop();
    assert.ok(!existsSync(join(folder, 'data.new')));
  });

  test('data of another major version is refused with the way out', async () => {
    const folder = scratchFolder('pg');
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'PG_VERSION'), '15\n');
    await assert.rejects(startPostgres({ folder }), /made by PostgreSQL 15, this is 18: dump it/);
  });

  test('when it cannot start, its own last words are in the error', async () => {
    const folder = scratchFolder('pg');
    await (await startPostgres({ folder, throwAway: true })).stop();
    writeFileSync(join(folder, 'data', 'postgresql.auto.conf'), 'no_such_setting = 1\n');
    await assert.rejects(startPostgres({ folder }), /does not start on .*[\s\S]*no_such_setting/);
  });

  test('links that npm did not make are made, those that are there are kept', () => {
    const root = scratchFolder('links');
    mkdirSync(join(root, 'native/lib'), { recursive: true });
    writeFileSync(join(root, 'native/lib/libx.so.1.2'), 'library');
    const links = ['libx.so', 'libx.so.1'].map((name) => ({
      source: 'native/lib/libx.so.1.2',
      target: `native/lib/${name}`,
    }));
    writeFileSync(join(root, 'native/pg-symlinks.json'), JSON.stringify(links));
    symlinkSync('libx.so.1.2', join(root, 'native/lib/libx.so.1'));
    restoreLinks(root);
    restoreLinks(root);
    for (const { target } of links) assert.equal(readlinkSync(join(root, target)), 'libx.so.1.2');
  });

  test('as an ordinary user', { skip: isRoot ? false : 'every test runs as one' }, async () => {
    const folder = scratchFolder('pg');
    chmodSync(folder, 0o777);
    const nobody = Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' }));
    const [other, pid] = await holder(folder, { uid: nobody, gid: nobody });
    try {
      assert.match(readFileSync(`/proc/${pid}/status`, 'utf8'), new RegExp(`^Uid:\t${nobody}\t`, 'm'));
    } finally {
      other.kill('SIGTERM');
      await once(other, 'exit');
    }
    await assert.rejects(startPostgres({ folder }), /belongs to user \d+, and PostgreSQL would run as user \d+/);
  });

  test('as root below a closed folder, where the server’s own user cannot go', {
    skip: !isRoot && 'needs root',
  }, async () => {
    const closed = scratchFolder('closed');
    chmodSync(closed, 0o700);
    const folder = join(closed, 'postgres');
    const first = await startPostgres({ folder, throwAway: true });
    await ask(first, 'create table kept as select 1 as n');
    await first.stop();
    const place = readFileSync(join(folder, 'moved-to'), 'utf8').trim();
    try {
      const second = await startPostgres({ folder, throwAway: true });
      assert.deepEqual(await ask(second, 'select n from kept'), [{ n: 1 }]);
      await second.stop();
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });
});
