import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '../platform/config.js';
import type { CaptureRow } from '../storage/capture-rows.js';
import { listCaptures } from '../storage/captures.js';
import { DataFolder } from './data-folder.js';
import { allDrained, startArrivals } from './dev-demo.js';
import { openLog } from './dev-log.js';
import { DevScreen } from './dev-screen.js';
import { readSummary } from './dev-summary.js';
import { type System, startSystem } from './dev-system.js';
import { lockFolder } from './folder-lock.js';
import { loadSettings, loadSimulatedSettings } from './settings.js';
import { stopSignal } from './shutdown.js';
import { Stops } from './stops.js';

/** What `malote dev` is given. */
export interface DevOptions {
  /** Default: MALOTE_DATA, else `.malote`. */
  readonly dataDir?: string;
  /** End by itself when no demo company has anything pending and no webhook is on its way, with one JSON line as the last one. */
  readonly untilDrained?: boolean;
  /** False: no simulated government and no demo companies. Default true. */
  readonly simulator?: boolean;
  /** NF-e that wait at the government for a demo company, at the first start; half as many CT-e, a quarter as many NFS-e. Default 150. */
  readonly backlog?: number;
  /** Port of the API. Default: MALOTE_HTTP_PORT, else 3000 or a free one. */
  readonly port?: number;
  readonly env?: NodeJS.ProcessEnv;
}

const USUAL_BACKLOG = 150;
/** An hour is a minute. */
const SIMULATED_SCALE = 60;
const ARRIVALS_EVERY_MS = 20_000;
const LOOK_EVERY_MS = 1000;

/**
 * `malote dev`: the whole system in one process tree, with real parts, until Ctrl-C (or `untilDrained`). Goes on where the last
 * start on the same data folder stopped.
 *
 * @throws {ConfigError} @throws {FolderInUse} @throws {ProgramMissing} and what a part that does not start throws
 */
export async function runDev(options: DevOptions = {}): Promise<void> {
  const begun = performance.now();
  const env = options.env ?? process.env;
  const simulated = options.simulator ?? true;
  const untilDrained = options.untilDrained ?? false;
  if (untilDrained && !simulated)
    throw new ConfigError(['--until-drained needs the simulator: what the government has has no end']);
  const config = simulated ? loadSimulatedSettings(env) : loadSettings(env);
  const folder = new DataFolder(options.dataDir ?? config.dataFolder);
  const stops = new Stops();
  stops.push(lockFolder(folder.path));
  const screen = new DevScreen();
  const logger = openLog(folder.in('malote.log'), config.logLevel, (message) => screen.warn(message));
  const stop = stopSignal(() => screen.note('Stopped at once.'));
  let summary: object | null = null;
  try {
    folder.claimFor(simulated ? 'simulated' : 'real');
    const timeScale = folder.timeScale(config.timeScale, simulated ? SIMULATED_SCALE : 1);
    screen.title(folder.path);
    const system = await startSystem({
      config,
      folder,
      screen,
      logger,
      stops,
      simulator: simulated ? { backlog: options.backlog ?? USUAL_BACKLOG, timeScale } : null,
      apiPort: options.port ?? (env.MALOTE_HTTP_PORT ? config.http.port : null),
    });
    if (system.simulator !== null) {
      screen.note(
        `Time runs ${timeScale} times as fast here: the government's hour takes ${Math.round(3600 / timeScale)} s.`,
      );
    }
    screen.note('Ctrl-C stops; the next start goes on from there.\n');
    const following = new AbortController();
    stops.push(() => following.abort());
    if (system.simulator !== null && !untilDrained) stops.push(startArrivals(system.simulator, ARRIVALS_EVERY_MS));
    const how = await Promise.race([stop, follow(system, screen, untilDrained, following.signal), ...system.failures]);
    if (how === 'drained') {
      const { documents, pages, webhooksDelivered, missing } = await readSummary(system.database);
      summary = {
        documents,
        pages,
        webhooksDelivered,
        missing,
        seconds: Math.round((performance.now() - begun) / 100) / 10,
      };
    } else {
      screen.note('\n  Stopping: what is in hand is finished. Ctrl-C again stops at once.');
    }
  } catch (error) {
    logger.warn({ err: error }, 'malote dev ends');
    throw error;
  } finally {
    await stops.all(logger);
  }
  screen.note('Stopped.');
  if (summary !== null) process.stdout.write(`${JSON.stringify(summary)}\n`);
}

/** Shows what happens; resolves only with `untilDrained`, once there is nothing left to do. */
async function follow(system: System, screen: DevScreen, untilDrained: boolean, signal: AbortSignal): Promise<string> {
  const { simulator, companies } = system;
  while (!signal.aborted) {
    const captures = await demoCaptures(system).catch(() => []); // PostgreSQL is being started again: next time
    screen.tick(captures);
    if (untilDrained && simulator !== null && allDrained(simulator, companies, captures)) {
      const { recovering, webhooksPending } = await readSummary(system.database);
      screen.recovering(recovering);
      if (recovering === 0 && webhooksPending === 0) {
        screen.tick(captures);
        return 'drained';
      }
    }
    await delay(LOOK_EVERY_MS, null, { signal }).catch(() => null);
  }
  return 'stopped';
}

async function demoCaptures({ database, companies }: System): Promise<readonly CaptureRow[]> {
  if (companies.size === 0) return [];
  return (await listCaptures(database, { visible: [...companies.keys()] }, { limit: 100, cursor: null })).rows;
}
