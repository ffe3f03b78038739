import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { parseKeyring } from '../certificates/keyring.js';
import { createHttpsTransport } from '../government/https-transport.js';
import type { MailSettings } from '../platform/config.js';
import type { Logger } from '../platform/log.js';
import { createMailer } from '../platform/mailer.js';
import { createMetrics, type Metrics } from '../platform/metrics.js';
import { VERSION } from '../platform/version.js';
import { createDatabase } from '../storage/database.js';
import { assertMigrated } from '../storage/migrate.js';
import { openObjectStore } from '../storage/object-store/index.js';
import { isDelivered, type SendResult, WebhookSender } from '../webhooks/sender.js';
import { createWorkers, type WorkerParts } from '../workers/workers.js';
import { awayFromGovernment } from './simulated-transport.js';
import { connectWorker, type TemporalAddress } from './temporal-connection.js';

/** What a worker process is made with. */
export interface WorkerOptions extends Pick<WorkerParts, 'addresses' | 'timeScale'> {
  readonly database: string;
  readonly objectStore: string;
  readonly masterKey: string;
  readonly governmentCaFile: string | null;
  /** The government is simulated: the real one is never asked. So it is under another time scale than 1, too. */
  readonly simulated?: boolean;
  readonly rates: { readonly nfe: number; readonly cte: number; readonly nfse: number };
  readonly allowPrivateWebhooks: boolean;
  readonly temporal: TemporalAddress;
  readonly logger: Logger;
  /** Tells operators of alerts. Default: no mails. */
  readonly mail?: MailSettings | null;
  /** Port for the Temporal SDK's own metrics. Default: none. */
  readonly temporalMetricsPort?: number | null;
  /** Port for /healthz and /metrics; null: none. */
  readonly port: number | null;
}

/** A worker process that runs. */
export interface RunningWorker {
  /** Resolves when all workers have stopped and everything is closed; rejects when one failed. */
  readonly ended: Promise<void>;
  /** Takes up no more work, waits for calls that were sent (five and a half minutes at most). */
  stop(): Promise<void>;
}

/** Runs the workers of all task queues in this process. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { logger } = options;
  const transport = createHttpsTransport({ caFile: options.governmentCaFile });
  const simulated = options.simulated === true || options.timeScale !== 1;
  const metrics = createMetrics();
  const keyring = parseKeyring(options.masterKey);
  const objectStore = await openObjectStore(options.objectStore);
  const database = createDatabase({
    url: options.database,
    applicationName: 'malote-worker',
    max: 20,
    onIdleError: (error) => logger.warn({ err: error }, 'a database connection broke'),
  });
  metrics.observe({ pool: database.stats });
  const sender = new WebhookSender({ version: VERSION, allowPrivate: options.allowPrivateWebhooks });
  const closers: (() => Promise<unknown>)[] = [() => database.close(), () => sender.close()];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.reverse()) await close();
  };
  try {
    await assertMigrated(database);
    const connection = await connectWorker(options.temporal, logger, options.temporalMetricsPort ?? null);
    closers.push(() => connection.close());
    if (options.port !== null) {
      const server = await serveMetrics(options.port, metrics);
      closers.push(() => new Promise((resolve) => server.close(resolve)));
    }
    const workers = await createWorkers({
      connection,
      namespace: options.temporal.namespace,
      database,
      objectStore,
      keyring,
      transport: simulated ? awayFromGovernment(transport) : transport,
      addresses: options.addresses,
      sender: { send: (message) => sender.send(message).then((result) => observed(metrics, result)) },
      rates: options.rates,
      timeScale: options.timeScale,
      observer: {
        refused: (capture, reason) => logger.debug({ capture, reason }, 'no call: the guard refused'),
        settled: (
          { companyId, documentType, environment, service },
          { outcome, documents, durationMs, statusCode },
        ) => {
          metrics.governmentCalls.inc({ service, outcome });
          metrics.documents.inc({ document_type: documentType }, documents);
          if (durationMs !== null) metrics.governmentCallSeconds.observe({ service }, durationMs / 1000);
          const capture = { companyId, documentType, environment };
          logger.info({ capture, service, outcome, statusCode, documents, durationMs }, 'government call');
        },
      },
      ...(options.mail && { sendMail: createMailer(options.mail) }),
      onMail: (result) => metrics.alertMails.inc({ result }),
      onWakeError: (endpointId, error) =>
        logger.warn({ endpointId, err: error }, 'could not wake a delivery, trying again'),
    });
    const run = async (): Promise<void> => {
      try {
        await workers.run();
      } finally {
        await closeAll();
      }
    };
    const ended = run();
    return {
      ended,
      stop: async () => {
        workers.shutdown();
        await ended;
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

function observed(metrics: Metrics, result: SendResult): SendResult {
  const kind = isDelivered(result.statusCode) ? 'delivered' : result.statusCode === null ? 'failed' : 'refused';
  metrics.webhookAttempts.inc({ result: kind });
  metrics.webhookSeconds.observe(result.durationMs / 1000);
  return result;
}

/** For Prometheus and for whoever watches the process; workers have no other HTTP. */
async function serveMetrics(port: number, metrics: Metrics): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/healthz') response.end('{"alive":true}');
    else if (request.url === '/metrics') {
      void metrics.registry.metrics().then((text) => {
        response.setHeader('content-type', metrics.registry.contentType).end(text);
      });
    } else response.writeHead(404).end();
  });
  server.listen(port);
  await once(server, 'listening');
  return server;
}
