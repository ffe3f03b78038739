import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import getPort from 'get-port';
import { findProgram, TEMPORAL_CLI } from './binaries.js';
import { type Child, startChild, within } from './child.js';
import { lockFolder } from './folder-lock.js';
import { SEARCH_ATTRIBUTES } from './temporal-namespace.js';

/** A Temporal server that runs. */
export interface TemporalServer {
  /** host:port of the gRPC front end. */
  readonly address: string;
  readonly port: number;
  readonly uiPort: number;
  /** Null without a UI. */
  readonly uiUrl: string | null;
  readonly pid: number;
  /** Resolves with a short description when the server has ended, for whatever reason. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

/** Where the embedded Temporal keeps its things. */
export interface TemporalServerOptions {
  /** Holds the SQLite file and the log. */
  readonly folder: string;
  /** Tried first, default 7233 and 8233; free ones are taken when they are in use. */
  readonly port?: number;
  readonly uiPort?: number;
  /** For a server that others know by its ports already: no others are taken. */
  readonly samePorts?: boolean;
  readonly ui?: boolean;
  /** Tests only: keeps everything in memory, and removes the folder if we die. */
  readonly throwAway?: boolean;
  /** The data folder's cache of programs. */
  readonly cacheFolder?: string;
  readonly onProgress?: (text: string) => void;
}

const START_LIMIT_MS = 120_000;
const BELIEVED_AFTER_MS = 10_000;
/** When somebody takes a port between our look and the server's start. */
const TRIES = 10;

/**
 * Dynamic settings that every Temporal server of Malote needs (docker-compose.yml has the same): without the first one, fairness
 * keys do nothing; the second makes runs whose workflow code keeps failing findable in the UI (TemporalReportedProblems).
 */
const DYNAMIC_CONFIG = [
  'matching.enableFairness=true',
  'system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute=5',
];

/**
 * Starts Temporal's development server on 127.0.0.1 with a SQLite file, and resolves when its default namespace answers. It
 * dies with this process.
 *
 * @throws {ProgramMissing} when Temporal's CLI is nowhere to be had
 * @throws {FolderInUse}
 * @throws Error with the server's own last words when it does not start
 */
export async function startTemporal(options: TemporalServerOptions): Promise<TemporalServer> {
  const program = await findProgram(TEMPORAL_CLI, {
    ...(options.cacheFolder === undefined ? {} : { cacheFolder: options.cacheFolder }),
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  });
  await mkdir(options.folder, { recursive: true });
  const unlock = lockFolder(options.folder);
  try {
    for (let attempt = 1; ; attempt++) {
      const [port, uiPort] = await choosePorts(options, attempt);
      const log = join(options.folder, 'server.log');
      // Appended to: what it said at earlier starts is not about this one.
      const before = existsSync(log) ? statSync(log).size : 0;
      const said = (): string => readFileSync(log).subarray(before).toString('utf8').trim();
      const child = await startChild({
        command: program,
        args: serverArguments(options, port, uiPort),
        logFile: log,
        signalOnOrphaned: options.throwAway === true ? 'KILL' : 'TERM',
        ...(options.throwAway === true ? { removeWhenOrphaned: options.folder } : {}),
      });
      const address = `127.0.0.1:${port}`;
      const ended = child.ended;
      if (await answers(child, address, said)) {
        void ended.then(unlock);
        return {
          address,
          port,
          uiPort,
          uiUrl: options.ui === false ? null : `http://127.0.0.1:${uiPort}`,
          pid: child.pid,
          ended,
          stop: () => child.stop(['SIGTERM', 20_000], ['SIGKILL', 10_000]),
        };
      }
      await child.stop(['SIGTERM', 5000], ['SIGKILL', 10_000]);
      // In all of it: after the port's fault comes a Go panic of a hundred lines.
      if (attempt < TRIES && /address already in use|can't set frontend port|can't set UI port/i.test(said())) continue;
      const lastWords = said().split('\n').slice(-12).join('\n');
      throw new Error(`Temporal's server does not start (${program}): ${lastWords || 'it said nothing'}`);
    }
  } catch (error) {
    unlock();
    throw error;
  }
}

async function choosePorts(
  { port = 7233, uiPort = 8233, samePorts = false }: TemporalServerOptions,
  attempt: number,
): Promise<[port: number, uiPort: number]> {
  if (samePorts) {
    if (attempt > 1) await delay(500);
    return [port, uiPort]; // not asked of get-port: it does not give a port twice within half a minute
  }
  const first = await getPort(attempt === 1 ? { port } : {});
  return [first, await getPort(attempt === 1 ? { port: uiPort, exclude: [first] } : { exclude: [first] })];
}

function serverArguments(options: TemporalServerOptions, port: number, uiPort: number): string[] {
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'warn'],
    ...(options.ui === false ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...(options.throwAway === true ? [] : ['--db-filename', join(options.folder, 'temporal.db')]),
    ...DYNAMIC_CONFIG.flatMap((setting) => ['--dynamic-config-value', setting]),
    ...Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
  ];
}

/**
 * Whether it came up. An answer alone may be that of another server, which took the port in between and of which ours is about to
 * end: ours says its address once it listens. A version that says it in other words is believed when it lives on.
 */
async function answers(child: Child, address: string, said: () => string): Promise<boolean> {
  const deadline = Date.now() + START_LIMIT_MS;
  let answeredAt: number | null = null;
  while (child.running() && Date.now() < deadline) {
    try {
      const connection = await Connection.connect({ address, connectTimeout: 2000 });
      try {
        await connection.workflowService.describeNamespace({ namespace: 'default' });
        answeredAt ??= Date.now();
        if (/^(Temporal )?Server:/m.test(said()) || Date.now() - answeredAt > BELIEVED_AFTER_MS) return child.running();
      } finally {
        await connection.close();
      }
    } catch {
      // not yet
    }
    await within(child.ended, 100);
  }
  return false;
}
