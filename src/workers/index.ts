import type { NativeConnection } from '@temporalio/worker';
import { parseKeyring } from '../certificates/keyring.js';
import { governmentAddresses } from '../government/addresses.js';
import { createHttpsTransport } from '../government/https-transport.js';
import type { Transport } from '../government/types.js';
import { VERSION } from '../platform/version.js';
import { createDatabase } from '../storage/database.js';
import { openObjectStore } from '../storage/object-store/index.js';
import { WebhookSender } from '../webhooks/sender.js';
import { createWorkers } from './workers.js';

/**
 * The entry `malote/worker`: Malote's workers inside a host's own process.
 */

export {
  type GovernmentRequest,
  type GovernmentResponse,
  type Transport,
  TransportFailure,
} from '../government/types.js';

/** What a worker inside a host's own program is made with. */
export interface CaptureWorkerOptions {
  /** Of `@temporalio/worker`; it stays the caller's, who closes it after `run()` has resolved. */
  readonly connection: NativeConnection;
  readonly namespace: string;
  /** PostgreSQL address, migrated by `malote migrate` of the same version. */
  readonly database: string;
  /** `file:///path` or `s3://bucket/prefix?endpoint=…&region=…`. */
  readonly objectStore: string;
  /** 32 bytes in base64; several, separated by commas, while keys are being rotated: the first encrypts, all decrypt. */
  readonly masterKey: string;
  /**
   * How a request reaches the government, and its answer us. A host may put a circuit breaker of its own around it; tests need no network
   * with it. It must throw {@link TransportFailure} and nothing else. Default: HTTPS with the company's certificate.
   */
  readonly transport?: Transport;
  /** Calls per second over all workers, of each document type. Default 30, of NFS-e 20. */
  readonly rate?: number;
  /** Lets webhooks go to private addresses. Default false. */
  readonly allowPrivateWebhooks?: boolean;
}

/** Malote's workers inside a host's own program. */
export interface CaptureWorker {
  /** Runs until {@link CaptureWorker.shutdown}; then closes the database and the object store. */
  run(): Promise<void>;
  /** Takes up no more work; calls that were sent are waited for, for up to five and a half minutes. */
  shutdown(): void;
}

/**
 * Makes the workers of every task queue: workflows, government calls, webhooks, background.
 *
 * @throws {InvalidMasterKey} @throws {InvalidObjectStore} and what connecting throws
 */
export async function createCaptureWorker(options: CaptureWorkerOptions): Promise<CaptureWorker> {
  const keyring = parseKeyring(options.masterKey);
  const objectStore = await openObjectStore(options.objectStore);
  const database = createDatabase({ url: options.database, applicationName: 'malote-worker', max: 20 });
  const sender = new WebhookSender({ version: VERSION, allowPrivate: options.allowPrivateWebhooks ?? false });
  const workers = await createWorkers({
    connection: options.connection,
    namespace: options.namespace,
    database,
    objectStore,
    keyring,
    transport: options.transport ?? createHttpsTransport(),
    addresses: governmentAddresses(null),
    sender,
    rates: { nfe: options.rate ?? 30, cte: options.rate ?? 30, nfse: options.rate ?? 20 },
    timeScale: 1,
  });
  return {
    shutdown: () => workers.shutdown(),
    run: async () => {
      try {
        await workers.run();
      } finally {
        await sender.close();
        await database.close();
      }
    },
  };
}
