import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pretty from 'pino-pretty';
import { startApi } from '../api/start.js';
import { createCertificateCheck } from '../government/certificate-check.js';
import { createHttpsTransport } from '../government/https-transport.js';
import { describeConfig } from '../platform/config.js';
import { createLogger, type Logger } from '../platform/log.js';
import { startSimulator } from '../simulator/index.js';
import { migrate } from '../storage/migrate.js';
import { lockFolder } from './folder-lock.js';
import { loadSettings, SEPARATE_PROCESS, type Settings } from './settings.js';
import { stopSignal, untilStopped } from './shutdown.js';
import { type ObjectSweep, sweepObjects } from './sweep-objects.js';
import { type Verification, verify } from './verify.js';
import { startWorker } from './worker.js';

/** How long a stopping API still answers, so that load balancers see /readyz say so. */
const DRAIN_MS = 5_000;

/**
 * `malote api`: the HTTP API as a process of its own, until a signal.
 *
 * @throws {ConfigError} and what the start throws
 */
export async function runApi(env: NodeJS.ProcessEnv): Promise<void> {
  const settings = loadSettings(env, SEPARATE_PROCESS);
  const logger = startLog(settings, 'api');
  const api = await startApi({
    ...shared(settings, logger),
    apiKey: settings.apiKey,
    checkCertificate: createCertificateCheck({
      transport: createHttpsTransport({ caFile: settings.governmentCaFile }),
      addresses: settings.addresses,
    }),
    publicUrl: settings.publicUrl,
    host: settings.http.host ?? '0.0.0.0',
    port: settings.http.port,
  });
  logger.info({ url: api.url }, 'the API listens');
  await untilStopped(logger, { stop: () => api.close({ drainMs: DRAIN_MS }) });
}

/**
 * `malote worker`: the workers of all task queues as a process of its own, until a signal. The second signal does not wait for
 * calls in hand.
 *
 * @throws {ConfigError} and what the start throws
 */
export async function runWorker(env: NodeJS.ProcessEnv): Promise<void> {
  const settings = loadSettings(env, SEPARATE_PROCESS);
  const logger = startLog(settings, 'worker');
  const worker = await startWorker({
    ...shared(settings, logger),
    addresses: settings.addresses,
    governmentCaFile: settings.governmentCaFile,
    rates: settings.rates,
    mail: settings.mail,
    temporalMetricsPort: settings.temporalMetricsPort,
    port: settings.workerPort,
  });
  logger.info('the workers take up work');
  await untilStopped(logger, worker);
}

/**
 * `malote migrate`: brings the tables of DATABASE_URL up to this version. Says which migrations ran.
 *
 * @throws {ConfigError} @throws {WrongSchema} @throws {DatabaseError}
 */
export async function runMigrate(env: NodeJS.ProcessEnv): Promise<string[]> {
  const { databaseUrl } = loadSettings(env, ['DATABASE_URL']);
  return migrate(databaseUrl ?? '');
}

/**
 * `malote verify`: see {@link verify}. On the database and the object store of the configuration.
 *
 * @throws {ConfigError} and as {@link verify}
 */
export async function runVerify(env: NodeJS.ProcessEnv, repair: boolean): Promise<Verification> {
  const { databaseUrl, objectStore } = loadSettings(env, ['DATABASE_URL', 'MALOTE_OBJECT_STORE']);
  return verify({ database: databaseUrl ?? '', objectStore: objectStore ?? '', repair });
}

/**
 * `malote verify --sweep`: see {@link sweepObjects}.
 *
 * @throws {ConfigError} and as {@link sweepObjects}
 */
export async function runSweep(
  env: NodeJS.ProcessEnv,
  options: { readonly days: number; readonly remove: boolean },
): Promise<ObjectSweep> {
  const { databaseUrl, objectStore } = loadSettings(env, ['DATABASE_URL', 'MALOTE_OBJECT_STORE']);
  return sweepObjects({ database: databaseUrl ?? '', objectStore: objectStore ?? '', ...options });
}

/** What `malote simulator` is given. */
export interface SimulatorProcess {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 4443 for the government, 4480 for its control API. */
  readonly port?: number;
  readonly controlPort?: number;
  /** Keeps authority, queues and journal; the files to point a client at it are written here too. */
  readonly folder: string;
  /** Divides the hour. Default 1. */
  readonly timeScale?: number;
  readonly seed?: string;
}

/** `malote simulator`: only the government, for people who test their own program against it, until a signal. */
export async function runSimulator(options: SimulatorProcess): Promise<void> {
  const { folder } = options;
  const release = lockFolder(folder);
  const simulator = await startSimulator({ port: 4443, nfsePort: 4444, controlPort: 4480, ...options });
  const [endpoints, authority] = [join(folder, 'endpoints.json'), join(folder, 'ca.pem')];
  writeFileSync(endpoints, simulator.endpointsFile());
  writeFileSync(authority, simulator.caPem);
  process.stdout.write(
    `The simulated government is at ${simulator.url}, its control API at ${simulator.controlUrl} (docs/simulator.md).\n` +
      `MALOTE_ENDPOINTS_FILE=${endpoints}\nMALOTE_GOVERNMENT_CA_FILE=${authority}\n`,
  );
  await stopSignal();
  await simulator.stop();
  release();
}

function startLog(settings: Settings, role: string): Logger {
  // For machines JSON; for a person at a terminal one readable line each.
  const destination = process.stdout.isTTY
    ? { destination: pretty({ ignore: 'pid,role', singleLine: true, sync: true }) }
    : {};
  const logger = createLogger({ level: settings.logLevel, role, ...destination });
  logger.info(describeConfig(settings), 'starting');
  return logger;
}

/** What API and worker have in common. The settings have it all: {@link SEPARATE_PROCESS}. */
function shared(settings: Settings, logger: Logger) {
  const { databaseUrl, objectStore, masterKey, timeScale, allowPrivateWebhooks, temporal } = settings;
  return {
    database: databaseUrl ?? '',
    objectStore: objectStore ?? '',
    masterKey: masterKey ?? '',
    timeScale,
    allowPrivateWebhooks,
    temporal,
    logger,
  };
}
