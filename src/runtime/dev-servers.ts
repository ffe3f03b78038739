import type { Config } from '../platform/config.js';
import { migrate } from '../storage/migrate.js';
import type { DataFolder } from './data-folder.js';
import type { DevScreen } from './dev-screen.js';
import { ensureDatabase } from './dev-summary.js';
import { type PostgresServer, startPostgres } from './postgres.js';
import { type Supervisor, supervise } from './supervise.js';
import type { TemporalAddress } from './temporal-connection.js';
import { startTemporal, type TemporalServer } from './temporal-server.js';

/** A server of `malote dev`, embedded or somewhere else. */
export interface Server<T> {
  readonly at: T;
  /** Null: not ours. */
  readonly supervisor: Pick<Supervisor<never>, 'failed' | 'stop'> | null;
}

const DATABASE = 'malote';
/** Next to PostgreSQL's own, which a machine of a developer often has in use. */
const USUAL_PORT = 5433;

/** PostgreSQL, embedded unless DATABASE_URL names another, with its tables up to date. */
export async function database(config: Config, folder: DataFolder, screen: DevScreen): Promise<Server<string>> {
  if (config.databaseUrl !== null) {
    await migrate(config.databaseUrl);
    screen.ready('PostgreSQL', `of DATABASE_URL, ${new URL(config.databaseUrl).host}`);
    return { at: config.databaseUrl, supervisor: null };
  }
  const supervisor = await supervise<PostgresServer>(
    'PostgreSQL',
    (before) =>
      startPostgres({ folder: folder.in('postgres'), port: before?.port ?? USUAL_PORT, samePort: before !== null }),
    (why) => screen.warn(`PostgreSQL ended (${why}): starting it again`),
  );
  const server = supervisor.current();
  await ensureDatabase(server.urlOf('postgres'), DATABASE);
  await migrate(server.urlOf(DATABASE));
  screen.ready('PostgreSQL 18', `127.0.0.1:${server.port}`);
  return { at: server.urlOf(DATABASE), supervisor };
}

/** Temporal, embedded unless TEMPORAL_ADDRESS names another. */
export async function temporal(
  config: Config,
  folder: DataFolder,
  screen: DevScreen,
): Promise<Server<TemporalAddress & { readonly address: string; readonly ui: string | null }>> {
  const { address, namespace, connectionOptions } = config.temporal;
  if (address !== null) {
    screen.ready('Temporal', `of TEMPORAL_ADDRESS, ${address}, namespace ${namespace}`);
    return { at: { address, namespace, connectionOptions, ui: null }, supervisor: null };
  }
  const supervisor = await supervise<TemporalServer>(
    'Temporal',
    (before) =>
      startTemporal({
        folder: folder.in('temporal'),
        cacheFolder: folder.in('programs'),
        onProgress: (text) => screen.progress(text),
        ...(before !== null && { port: before.port, uiPort: before.uiPort, samePorts: true }),
      }),
    (why) => screen.warn(`Temporal ended (${why}): starting it again`),
  );
  const server = supervisor.current();
  screen.ready('Temporal', server.address);
  const at = { address: server.address, namespace: 'default', connectionOptions: { address: server.address } };
  return { at: { ...at, ui: server.uiUrl }, supervisor };
}
