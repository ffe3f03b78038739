import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import getPort from 'get-port';
import pg from 'pg';
import { type Child, startChild, within } from './child.js';
import { lockFolder } from './folder-lock.js';
import { type PostgresPrograms, postgresPrograms } from './postgres-programs.js';
import { reachableFolder, type ServerUser, serverUser } from './postgres-user.js';
import { isAlive } from './process-info.js';

/** A PostgreSQL that runs. */
export interface PostgresServer {
  readonly port: number;
  readonly pid: number;
  /** Connection URL of a database of this server, password included: for programs, not for logs. */
  urlOf(database: string): string;
  /** Resolves with a short description when the server has ended, for whatever reason. */
  readonly ended: Promise<string>;
  /** Ends open sessions, writes everything, lets go of the folder. Safe to repeat. */
  stop(): Promise<void>;
}

/** Where the embedded PostgreSQL keeps its things. */
export interface PostgresOptions {
  /** Everything of this server is kept here: data, password, log. Made at the first start. */
  readonly folder: string;
  /** Tried first; another free one is taken when it is in use, unless `samePort`. */
  readonly port?: number;
  /** For a server that others know by its port already. */
  readonly samePort?: boolean;
  /** Tests only: no data survives a power failure, and everything is faster. */
  readonly throwAway?: boolean;
}

const USER = 'malote';
const START_LIMIT_MS = 120_000; // after a crash of a large database, reading the log again takes its time

/**
 * Starts PostgreSQL 18 on 127.0.0.1, on new or existing data, and resolves when it takes connections. The server dies with this
 * process. Runs as another user where we are root (PostgreSQL refuses root).
 *
 * @throws {FolderInUse} when another process of ours runs on this folder
 * @throws Error with the server's own last words when it does not start
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const user = serverUser();
  const programs = postgresPrograms(user);
  const given = resolve(options.folder);
  mkdirSync(given, { recursive: true, mode: 0o700 });
  if (user !== null) chownSync(given, user.uid, user.gid);
  const folder = reachableFolder(user, given);
  if (user !== null) chownSync(folder, user.uid, user.gid);

  const unlock = lockFolder(folder);
  try {
    const cluster = { folder, data: join(folder, 'data'), log: join(folder, 'server.log'), user, programs };
    const password = ensurePassword(folder);
    await ensureData(cluster, password, options.throwAway === true);
    await removeStalePid(cluster);
    const { child, port } = await startServer(cluster, password, options);
    const stopped = child.ended.finally(unlock);
    return {
      port,
      pid: child.pid,
      urlOf: (database) => urlOf(port, password, database),
      ended: stopped,
      stop: async () => {
        // INT is PostgreSQL's "fast" shutdown: it ends sessions and writes a checkpoint; QUIT leaves recovery to the next start.
        await child.stop(['SIGINT', 60_000], ['SIGQUIT', 10_000], ['SIGKILL', 10_000]);
        await stopped;
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

interface Cluster {
  readonly folder: string;
  readonly data: string;
  readonly log: string;
  readonly user: ServerUser | null;
  readonly programs: PostgresPrograms;
}

const urlOf = (port: number, password: string, database: string): string =>
  `postgresql://${USER}:${password}@127.0.0.1:${port}/${database}`;

function ensurePassword(folder: string): string {
  const path = join(folder, 'password');
  if (!existsSync(path)) writeFileSync(path, randomBytes(24).toString('hex'), { mode: 0o600 });
  return readFileSync(path, 'utf8').trim();
}

/** Makes the data folder beside its final name and renames it, so that an interrupted first start leaves nothing half made. */
async function ensureData(cluster: Cluster, password: string, throwAway: boolean): Promise<void> {
  const { data, folder, user, programs } = cluster;
  if (existsSync(join(data, 'PG_VERSION'))) {
    const major = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim();
    if (major !== programs.major) {
      throw new Error(
        `${data} was made by PostgreSQL ${major}, this is ${programs.major}: dump it with the old version and restore it into a new folder (docs/operating.md)`,
      );
    }
    giveTo(user, data);
    return;
  }
  const fresh = `${data}.new`;
  rmSync(fresh, { recursive: true, force: true });
  const passwordFile = join(folder, 'password.new');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user !== null) chownSync(passwordFile, user.uid, user.gid);
  try {
    await run(cluster, programs.initdb, [
      `--pgdata=${fresh}`,
      `--username=${USER}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // The same order and case rules on every system, whatever locales it has.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      ...(throwAway ? ['--no-sync'] : []),
    ]);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(fresh, data);
}

/** A data folder that was made by another user (first as root, now not, or the other way round) is refused by the server. */
function giveTo(user: ServerUser | null, data: string): void {
  const owner = statSync(data).uid;
  const wanted = user?.uid ?? process.getuid?.();
  if (wanted === undefined || owner === wanted) return;
  throw new Error(
    `${data} belongs to user ${owner}, and PostgreSQL would run as user ${wanted}: start Malote as the user that made it, or hand it over with chown -R`,
  );
}

function run(cluster: Cluster, command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: cluster.folder,
      ...idsOf(cluster.user),
    });
    let said = '';
    const keep = (chunk: Buffer): void => {
      said = (said + chunk.toString('utf8')).slice(-4000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', (error) => reject(new Error(`cannot start ${command}: ${error.message}`)));
    child.once('close', (code, signal) =>
      code === 0
        ? resolve()
        : reject(
            new Error(
              `PostgreSQL's initdb ended with ${signal ?? `code ${code}`}: ${said.trim() || 'it said nothing'}`,
            ),
          ),
    );
  });
}

const idsOf = (user: ServerUser | null): { uid?: number; gid?: number } =>
  user === null ? {} : { uid: user.uid, gid: user.gid };

/**
 * We hold the folder's lock, so a server that postmaster.pid speaks of is an orphan (its watcher was killed too) or gone. An
 * orphan is stopped; a stale file is removed, because PostgreSQL would believe it when a stranger has the id by now.
 */
async function removeStalePid({ data, programs }: Cluster): Promise<void> {
  const path = join(data, 'postmaster.pid');
  if (!existsSync(path)) return;
  const pid = Number.parseInt(readFileSync(path, 'utf8'), 10);
  if (Number.isInteger(pid) && pid > 1 && isOurServer(pid, programs.postgres, data)) {
    process.kill(pid, 'SIGINT');
    for (let waited = 0; isOurServer(pid, programs.postgres, data); waited += 100) {
      if (waited > 60_000)
        throw new Error(
          `a PostgreSQL left behind (process ${pid}) still runs on ${data} and does not stop: end it first`,
        );
      await delay(100);
    }
  }
  rmSync(path, { force: true });
}

function isOurServer(pid: number, program: string, data: string): boolean {
  if (!isAlive(pid)) return false;
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return command[0] === program && command.includes(data);
  } catch {
    return false;
  }
}

async function startServer(
  cluster: Cluster,
  password: string,
  options: PostgresOptions,
): Promise<{ child: Child; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await choosePort(options, attempt);
    rmSync(cluster.log, { force: true });
    const child = await startChild({
      command: cluster.programs.postgres,
      args: ['-D', cluster.data, ...settings(port, options.throwAway === true)],
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      cwd: cluster.folder,
      ...idsOf(cluster.user),
      logFile: cluster.log,
      signalOnOrphaned: options.throwAway === true ? 'QUIT' : 'INT',
      ...(options.throwAway === true ? { removeWhenOrphaned: cluster.folder } : {}),
    });
    if (await takesConnections(child, urlOf(port, password, 'postgres'))) return { child, port };
    await child.stop(['SIGINT', 10_000], ['SIGKILL', 10_000]);
    const said = lastWords(cluster.log);
    // Somebody took the port in between; or sessions of a killed server are still ending.
    if (attempt < 20 && /Address already in use|shared memory block .* is still in use/.test(said)) {
      await delay(250);
      continue;
    }
    throw new Error(`PostgreSQL does not start on ${cluster.folder}: ${said || 'it said nothing'}`);
  }
}

function choosePort({ port, samePort }: PostgresOptions, attempt: number): Promise<number> {
  if (port === undefined) return getPort();
  // Not asked of get-port: it does not give a port twice within half a minute.
  if (samePort === true) return Promise.resolve(port);
  return getPort(attempt === 1 ? { port } : {});
}

async function takesConnections(child: Child, url: string): Promise<boolean> {
  const deadline = Date.now() + START_LIMIT_MS;
  while (child.running() && Date.now() < deadline) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return true;
    } catch {
      await within(child.ended, 50);
    }
  }
  return false;
}

function lastWords(log: string): string {
  try {
    return readFileSync(log, 'utf8').trim().split('\n').slice(-12).join('\n');
  } catch {
    return '';
  }
}

/** For a small machine that also runs Temporal and a worker. */
function settings(port: number, throwAway: boolean): string[] {
  const values: Record<string, string | number> = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: '64MB',
    max_wal_size: '512MB',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    ...(throwAway
      ? { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum_naptime: '10min' }
      : {}),
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
