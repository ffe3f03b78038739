import { startApi } from '../api/start.js';
import { governmentAddresses } from '../government/addresses.js';
import { createCertificateCheck } from '../government/certificate-check.js';
import { createHttpsTransport } from '../government/https-transport.js';
import type { Config } from '../platform/config.js';
import type { Logger } from '../platform/log.js';
import { type Simulator, startSimulator } from '../simulator/index.js';
import { createDatabase, type Database } from '../storage/database.js';
import type { DataFolder } from './data-folder.js';
import { DevApi } from './dev-api.js';
import { type DemoCompany, DemoEndpoint, fillSimulator, registerCompanies } from './dev-demo.js';
import { startReceiver } from './dev-receiver.js';
import type { DevScreen } from './dev-screen.js';
import * as servers from './dev-servers.js';
import type { Stops } from './stops.js';
import { type Supervised, type Supervisor, supervise } from './supervise.js';
import { onUsualPort } from './usual-port.js';
import { startWorker } from './worker.js';

/** What the embedded system is made with. */
export interface SystemOptions {
  readonly config: Config;
  readonly folder: DataFolder;
  readonly screen: DevScreen;
  readonly logger: Logger;
  readonly stops: Stops;
  /** Null: without. */
  readonly simulator: { readonly backlog: number; readonly timeScale: number } | null;
  /** Null: 3000, or a free one. */
  readonly apiPort: number | null;
}

/** The running system. */
export interface System {
  readonly database: Database;
  readonly simulator: Simulator | null;
  /** Demo companies by their ids. */
  readonly companies: ReadonlyMap<string, DemoCompany>;
  /** Reject when a part cannot be kept running. */
  readonly failures: readonly Promise<never>[];
}

/** Starts every part of `malote dev`; what was started is in `stops`, also when a later part fails. */
export async function startSystem(options: SystemOptions): Promise<System> {
  const { config, folder, screen, logger, stops } = options;
  const failures: Promise<never>[] = [];
  const supervised = (supervisor: Pick<Supervisor<Supervised>, 'failed' | 'stop'>): void => {
    stops.push(() => supervisor.stop());
    failures.push(supervisor.failed);
  };
  const own = async <T>(starting: Promise<servers.Server<T>>): Promise<T> => {
    const { at, supervisor } = await starting;
    if (supervisor !== null) supervised(supervisor);
    return at;
  };
  // Together, since each takes a second or two; all are waited for, so that none is left behind when another fails.
  const starting = {
    database: own(servers.database(config, folder, screen)),
    temporal: own(servers.temporal(config, folder, screen)),
    simulator: options.simulator === null ? Promise.resolve(null) : government(options, options.simulator),
  };
  await Promise.allSettled(Object.values(starting));
  const databaseUrl = await starting.database;
  const temporal = await starting.temporal;
  const simulator = await starting.simulator;

  const shared = {
    database: databaseUrl,
    objectStore: config.objectStore ?? folder.objects,
    masterKey: config.masterKey ?? folder.masterKey(),
    temporal,
    timeScale: options.simulator?.timeScale ?? config.timeScale ?? 1,
    // The built-in receiver listens on this machine.
    allowPrivateWebhooks: config.allowPrivateWebhooks || simulator !== null,
    logger,
  };
  const apiKey = config.apiKey ?? folder.apiKey();
  const host = config.http.host ?? '127.0.0.1';
  const addresses = governmentAddresses(simulator?.endpointsFile() ?? config.endpointsFile);
  const governmentCaFile = simulator?.caPem ?? config.governmentCaFile;
  const checkCertificate = createCertificateCheck({
    transport: createHttpsTransport({ caFile: governmentCaFile }),
    addresses,
  });
  const { publicUrl } = config;
  const listen = (port: number) => startApi({ ...shared, apiKey, checkCertificate, publicUrl, host, port });
  const { apiPort } = options;
  const { url: apiUrl, close } =
    apiPort === null
      ? await onUsualPort({ port: 3000, host }, listen)
      : await listen(apiPort).catch((error: unknown) => {
          if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
          throw new Error(
            `port ${apiPort} is in use: choose another with --port, or leave --port and MALOTE_HTTP_PORT out`,
          );
        });
  stops.push(() => close());
  screen.ready('API', apiUrl);

  const api = new DevApi(apiUrl, apiKey);
  // Before the worker, so that the receiver listens when it takes up deliveries of an earlier start.
  const companies = simulator === null ? new Map<string, DemoCompany>() : await demonstrate(options, api, simulator);

  const worker = await supervise(
    'The worker',
    () =>
      startWorker({
        ...shared,
        addresses,
        governmentCaFile,
        simulated: simulator !== null,
        rates: config.rates,
        mail: config.mail,
        temporalMetricsPort: config.temporalMetricsPort,
        port: config.workerPort,
      }),
    (why) => screen.warn(`the worker ended (${why}): starting it again`),
  );
  supervised(worker);
  screen.ready('Worker', 'all task queues');

  folder.writeInfo({
    apiUrl,
    apiKey,
    temporalAddress: temporal.address,
    temporalUi: temporal.ui,
    simulator: simulator?.controlUrl ?? null,
  });
  stops.push(() => folder.removeInfo());
  screen.addresses([
    ...(temporal.ui === null ? [] : [['Temporal UI', temporal.ui] as const]),
    ['API', apiUrl],
    ['API guide', `${apiUrl}/docs`],
    ['API key', apiKey],
    ...(simulator === null
      ? []
      : [['Simulator', simulator.controlUrl, 'its control API (docs/simulator.md)'] as const]),
  ]);
  const database = createDatabase({ url: databaseUrl, applicationName: 'malote-dev', max: 2 });
  stops.push(() => database.close());
  return { database, simulator, companies, failures };
}

/** Companies, certificates, captures and a webhook receiver. */
async function demonstrate(
  { folder, screen, stops }: SystemOptions,
  api: DevApi,
  simulator: Simulator,
): Promise<Map<string, DemoCompany>> {
  const endpoint = new DemoEndpoint(folder);
  const receiver = await startReceiver(
    () => endpoint.secret,
    (arrival) => screen.arrived(arrival),
  );
  stops.push(() => receiver.stop());
  await endpoint.announce(api, receiver.url);
  const companies = await registerCompanies(api, simulator);
  screen.companies(companies);
  screen.ready('Webhook receiver', receiver.url);
  screen.ready('Demo companies', [...companies.values()].map(({ name }) => name).join(', '));
  return companies;
}

async function government(
  { folder, screen, stops }: SystemOptions,
  { backlog, timeScale }: NonNullable<SystemOptions['simulator']>,
): Promise<Simulator> {
  const simulator = await onUsualPort({ port: 4443 }, (port) =>
    onUsualPort({ port: 4480 }, (controlPort) =>
      startSimulator({ folder: folder.in('simulator'), timeScale, port, controlPort }),
    ),
  );
  stops.push(() => simulator.stop());
  fillSimulator(simulator, backlog);
  screen.ready('Government, simulated', simulator.url);
  return simulator;
}
