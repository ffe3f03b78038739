import { readFileSync } from 'node:fs';
import { NativeConnection } from '@temporalio/worker';
import { parseKeyring } from '../../src/certificates/keyring.js';
import { governmentAddresses } from '../../src/government/addresses.js';
import { createHttpsTransport } from '../../src/government/https-transport.js';
import { createDatabase } from '../../src/storage/database.js';
import { openObjectStore } from '../../src/storage/object-store/index.js';
import { WebhookSender } from '../../src/webhooks/sender.js';
import { createWorkers } from '../../src/workers/workers.js';

/** What a worker process of the tests is told; made to be killed. */
export interface WorkerProcessInput {
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly databaseUrl: string;
  readonly objectStore: string;
  readonly masterKey: string;
  readonly caPem: string;
  readonly endpoints: string;
  readonly timeScale: number;
  /** Milliseconds between heartbeats. */
  readonly beat: number;
  /** Milliseconds after which a process that cannot read its call's row lets go of the connection. */
  readonly blind: number;
}

const input = JSON.parse(readFileSync(0, 'utf8')) as WorkerProcessInput;
const connection = await NativeConnection.connect({ address: input.temporalAddress });
const workers = await createWorkers({
  connection,
  namespace: input.namespace,
  database: createDatabase({ url: input.databaseUrl, applicationName: 'malote-worker' }),
  objectStore: await openObjectStore(input.objectStore),
  keyring: parseKeyring(input.masterKey),
  transport: createHttpsTransport({ caFile: input.caPem }),
  addresses: governmentAddresses(input.endpoints),
  sender: new WebhookSender({ version: 'test', allowPrivate: true }),
  rates: { nfe: 1000, cte: 1000, nfse: 1000 },
  timeScale: input.timeScale,
  activityOptions: { limits: { beat: input.beat, blind: input.blind } },
});
process.stdout.write('ready\n');
await workers.run();
