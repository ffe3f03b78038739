import { setTimeout as delay } from 'node:timers/promises';
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { parseKeyring } from '../certificates/keyring.js';
import { webhookSecretBox } from '../certificates/secret-box.js';
import type { CheckCertificate } from '../model/certificate-acceptance.js';
import type { Logger } from '../platform/log.js';
import { createMetrics } from '../platform/metrics.js';
import { VERSION } from '../platform/version.js';
import { openAlertFigures } from '../storage/alerts.js';
import { captureFigures, gapFigures, manifestationFigures } from '../storage/capture-figures.js';
import { createDatabase } from '../storage/database.js';
import { assertMigrated } from '../storage/migrate.js';
import { openObjectStore } from '../storage/object-store/index.js';
import { PostgresClock } from '../storage/postgres-clock.js';
import { WebhookSender } from '../webhooks/sender.js';
import { buildServer } from './server.js';
import { temporalGateway } from './temporal-client-gateway.js';

/** What `startApi` is given. */
export interface ApiOptions {
  /** PostgreSQL address, migrated by `malote migrate` of the same version. */
  readonly database: string;
  /** `file:///path` or `s3://bucket/prefix?endpoint=…&region=…`. */
  readonly objectStore: string;
  /** Base64 of 32 bytes; several, separated by commas: the first encrypts, all decrypt. */
  readonly masterKey: string;
  /** Bootstrap key with every scope; null: only keys of the database are valid. */
  readonly apiKey: string | null;
  /** Where customers reach this API. Default: links lead to where their request came in. */
  readonly publicUrl?: string | null;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly temporal: { readonly connectionOptions: ConnectionOptions; readonly namespace: string };
  /** Asks the government whether it takes an uploaded certificate. Default: nobody asks. */
  readonly checkCertificate?: CheckCertificate;
  /** Divides the waits of the government's rules; 1 in production. */
  readonly timeScale: number;
  readonly allowPrivateWebhooks: boolean;
  readonly logger: Logger;
}

/** Housekeeping wakes whoever has had something due for two minutes; what still waits after this is in trouble. */
const SENT_WITHIN_MS = 5 * 60_000;

/** An API that listens. */
export interface RunningApi {
  /** Where it listens. */
  readonly url: string;
  /**
   * Says "stopping" at `/readyz`, goes on answering for `drainMs` so that load balancers can notice (default 0), then
   * finishes the requests in hand and closes what it opened.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/**
 * Runs the HTTP API. Needs a migrated database; Temporal and the object store may come later (`/readyz` tells).
 *
 * @throws {InvalidMasterKey} @throws {InvalidObjectStore} @throws {WrongSchema} @throws {DatabaseError} and `EADDRINUSE`
 */
export async function startApi(options: ApiOptions): Promise<RunningApi> {
  const { logger } = options;
  const keyring = parseKeyring(options.masterKey);
  const objectStore = await openObjectStore(options.objectStore);
  const database = createDatabase({
    url: options.database,
    applicationName: 'malote-api',
    onIdleError: (error) => logger.warn({ err: error }, 'a database connection broke'),
  });
  const sender = new WebhookSender({ version: VERSION, allowPrivate: options.allowPrivateWebhooks });
  const temporal = temporalGateway(Connection.lazy(options.temporal.connectionOptions), options.temporal.namespace);
  const clock = new PostgresClock(database);
  const metrics = createMetrics();
  metrics.observe({
    pool: database.stats,
    captures: () => captureFigures(database),
    alerts: () => openAlertFigures(database),
    gaps: () => gapFigures(database),
    manifestations: async () => manifestationFigures(database, (await clock.now()) - SENT_WITHIN_MS),
  });
  let stopping = false;

  const closeParts = async () => {
    await sender.close();
    await temporal.close();
    await database.close();
  };
  try {
    await assertMigrated(database);
    const app = await buildServer({
      database,
      objectStore,
      temporal,
      clock,
      keyring,
      secretBox: webhookSecretBox(keyring),
      sender,
      bootstrapKey: options.apiKey,
      checkCertificate: options.checkCertificate ?? null,
      timeScale: options.timeScale,
      publicUrl: options.publicUrl ?? null,
      allowPrivateWebhooks: options.allowPrivateWebhooks,
      logger,
      metrics: metrics.registry,
      isStopping: () => stopping,
    });
    const url = await app.listen({ host: options.host, port: options.port });
    return {
      url,
      close: async ({ drainMs = 0 } = {}) => {
        stopping = true;
        await delay(drainMs);
        await app.close();
        await closeParts();
      },
    };
  } catch (error) {
    await closeParts();
    throw error;
  }
}
