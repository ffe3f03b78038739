import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Context } from '@temporalio/activity';
import { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { v7 as uuidv7 } from 'uuid';
import type { ActivityDependencies, CallObserver, TransactionClock } from '../../src/activities/index.js';
import { type Keyring, parseKeyring } from '../../src/certificates/keyring.js';
import { openA1 } from '../../src/certificates/open-a1.js';
import { webhookSecretBox } from '../../src/certificates/secret-box.js';
import { sealKey } from '../../src/certificates/vault.js';
import { WorkflowMessenger } from '../../src/client/workflow-messenger.js';
import { extractXml, taxIdRoot } from '../../src/documents/index.js';
import { governmentAddresses } from '../../src/government/addresses.js';
import { createHttpsTransport } from '../../src/government/https-transport.js';
import type { CaptureKey, CaptureOptions, DocumentType } from '../../src/model/words.js';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/simulator/index.js';
import { enableCapture } from '../../src/storage/capture-orders.js';
import { storeCertificate } from '../../src/storage/certificates.js';
import { createCompany } from '../../src/storage/companies.js';
import { createDatabase, type Database } from '../../src/storage/database.js';
import { createEndpoint } from '../../src/storage/endpoints.js';
import { type ObjectStore, openObjectStore } from '../../src/storage/object-store/index.js';
import { readXml } from '../../src/storage/read-xml.js';
import { WebhookSender } from '../../src/webhooks/sender.js';
import { activitiesOf, createWorkers, type WorkerParts, type Workers } from '../../src/workers/workers.js';
import { testDatabase } from '../support/database.js';
import { type Receiver, startReceiver } from './receiver.js';

/** A government and a customer's endpoint that live elsewhere. Then `simulator` and `receiver` are not to be touched. */
export interface Outside {
  readonly caPem: string;
  readonly endpoints: string;
  readonly issueA1: (request: {
    taxId: string;
    name: string;
    password: string;
    shareKey?: boolean;
  }) => Promise<Uint8Array>;
  readonly receiver: { readonly url: string; readonly secret: string };
}

export interface SystemOptions {
  readonly outside?: Outside;
  readonly temporal: { readonly nativeConnection: NativeConnection; readonly namespace: string };
  /** True on the time-skipping server: then the activities' clock is Temporal's, and the simulator is pushed to it. */
  readonly skipping?: boolean;
  readonly timeScale?: number;
  readonly simulator?: SimulatorOptions;
  readonly activityOptions?: Partial<Pick<ActivityDependencies, 'limits' | 'failpoint' | 'comparesClocks'>>;
  readonly rate?: number;
  /** Told of every refusal of the guard and every settled call. */
  readonly observer?: CallObserver;
  /** A database of one's own, migrated; otherwise a fresh one that is dropped at the end. */
  readonly database?: { readonly url: string; readonly masterKey: string };
}

/**
 * All of Malote but its HTTP API, in this process, on real parts: PostgreSQL, Temporal, TLS with client certificates, files, a webhook
 * receiver. The government is the simulator, whose journal is the judge.
 */
export class System {
  readonly keyring: Keyring;
  readonly messenger: WorkflowMessenger;
  readonly client: Client;
  #workers: { readonly workers: Workers; readonly run: Promise<void> } | null = null;
  readonly #sender = new WebhookSender({ version: 'test', allowPrivate: true });
  readonly #folder: string;

  private constructor(
    readonly options: SystemOptions,
    readonly simulator: Simulator,
    readonly receiver: Receiver,
    readonly databaseUrl: string,
    readonly database: Database,
    readonly objectStore: ObjectStore,
    folder: string,
    private readonly dropDatabase: () => Promise<void>,
  ) {
    this.#folder = folder;
    this.keyring = parseKeyring(options.database?.masterKey ?? randomBytes(32).toString('base64'));
    const { nativeConnection, namespace } = options.temporal;
    this.client = new Client({ connection: nativeConnection, namespace });
    this.messenger = new WorkflowMessenger(this.client);
  }

  static async start(options: SystemOptions): Promise<System> {
    const folder = mkdtempSync(join(tmpdir(), 'malote-e2e-'));
    const { url, drop } = options.database
      ? { ...options.database, drop: async () => undefined }
      : await testDatabase();
    const [simulator, receiver, objectStore] = await Promise.all([
      startSimulator({ timeScale: options.timeScale ?? 1, ...options.simulator }),
      startReceiver(),
      openObjectStore(`file://${folder}`),
    ]);
    const database = createDatabase({ url, applicationName: 'malote-test', max: 20 });
    return new System(options, simulator, receiver, url, database, objectStore, folder, drop);
  }

  async startWorkers(): Promise<void> {
    const workers = await createWorkers(this.#parts());
    this.#workers = { workers, run: workers.run() };
  }

  #parts(): WorkerParts {
    const { temporal, skipping, timeScale = 1, activityOptions, rate = 1000, observer } = this.options;
    return {
      connection: temporal.nativeConnection,
      namespace: temporal.namespace,
      database: this.database,
      objectStore: this.objectStore,
      keyring: this.keyring,
      transport: createHttpsTransport({ caFile: this.#government.caPem }),
      addresses: governmentAddresses(this.#government.endpoints),
      sender: this.#sender,
      rates: { nfe: rate, cte: rate, nfse: rate },
      timeScale,
      ...(observer && { observer }),
      ...(skipping && { clock: skippedTime(this.simulator) }),
      // Waited for in real time.
      ...(skipping && { pausesMs: [1, 1, 1] }),
      activityOptions: { ...(skipping && { comparesClocks: true }), ...activityOptions },
    };
  }

  async stopWorkers(): Promise<void> {
    this.#workers?.workers.shutdown();
    await this.#workers?.run;
    this.#workers = null;
  }

  async stop(): Promise<void> {
    await this.stopWorkers();
    await this.#sender.close();
    await Promise.all([this.simulator.stop(), this.receiver.stop(), this.database.close()]);
    await this.dropDatabase();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #government(): Outside {
    const { simulator, receiver } = this;
    return (
      this.options.outside ?? {
        caPem: simulator.caPem,
        endpoints: simulator.endpointsFile(),
        issueA1: async (request) => simulator.issueA1(request).pfx,
        receiver: { url: receiver.url, secret: receiver.secret },
      }
    );
  }

  get objectStoreUrl(): string {
    return `file://${this.#folder}`;
  }

  /** A company with its certificate. Its documents come from the simulator's own `companies.add`. */
  async addCompany(taxId: string, { uf = 'SP', shareKey = false } = {}): Promise<string> {
    const id = uuidv7();
    await createCompany(this.database, { id, taxId, name: 'Empresa de Teste', uf });
    const password = 'segredo-de-teste';
    const pfx = await this.#government.issueA1({ taxId, name: 'EMPRESA DE TESTE', password, shareKey });
    const opened = openA1(pfx, password);
    const certificateId = uuidv7();
    const { keyId, wrappedKey, sealed } = sealKey(this.keyring, opened, certificateId);
    await this.database.transaction((tx) =>
      storeCertificate(tx, {
        id: certificateId,
        companyId: id,
        root: taxIdRoot(taxId),
        taxId,
        subject: opened.subject,
        thumbprint: opened.thumbprint,
        notBefore: opened.notBefore,
        notAfter: opened.notAfter,
        chain: opened.chainPem,
        keyId,
        wrappedKey: Buffer.from(wrappedKey),
        sealed: Buffer.from(sealed),
        createdAt: Date.now(),
      }),
    );
    return id;
  }

  async addEndpoint(): Promise<void> {
    const box = webhookSecretBox(this.keyring);
    await createEndpoint(this.database, box, { ...this.#government.receiver, at: Date.now() });
  }

  /** Writes the row and starts the workflow, as the API does. */
  async startCapture(
    companyId: string,
    options: CaptureOptions = {},
    documentType: DocumentType = 'nfe',
  ): Promise<CaptureKey> {
    const capture: CaptureKey = { companyId, documentType, environment: 'homologation' };
    await this.enable(capture, options);
    await this.messenger.startCapture(capture, {});
    return capture;
  }

  async enable(capture: CaptureKey, options: CaptureOptions = {}): Promise<void> {
    const { timeScale = 1 } = this.options;
    await this.database.transaction((tx) =>
      enableCapture(tx, { capture, options: () => options, now: Date.now(), timeScale }),
    );
  }

  /** The activities themselves, for loops without Temporal. */
  activities() {
    const parts = activitiesOf(this.#parts());
    return { ...parts.government, ...parts.webhooks, ...parts.background };
  }

  async count(table: 'documents' | 'deliveries'): Promise<number> {
    return Number((await this.database.query<{ n: string }>(`select count(*) as n from ${table}`)).rows[0]?.n);
  }

  /** Deliveries that are still to be made. */
  async pending(): Promise<number> {
    return Number(
      (await this.database.query<{ n: string }>("select count(*) as n from deliveries where status = 'pending'"))
        .rows[0]?.n,
    );
  }

  async endpointId(): Promise<string> {
    const { rows } = await this.database.query<{ id: string }>('select id from endpoints');
    return rows[0]?.id ?? '';
  }

  /** Every stored document of a company: NSU → SHA-256 of the bytes that the archive gives back. */
  async stored(companyId: string): Promise<Map<string, string>> {
    const { rows } = await this.database.query<Parameters<typeof readXml>[1] & { nsu: string }>(
      `select id, lpad(nsu::text, 15, '0') as nsu, archive_id as "archiveId", object_key as "objectKey", byte_offset as "byteOffset",
         byte_length as "byteLength", encoding, xml_sha256 as "xmlSha256" from documents where company_id = $1 and nsu is not null`,
      [companyId],
    );
    const stored = new Map<string, string>();
    for (const row of rows) {
      // Reads the archive and checks the hash: a document that cannot be read back is not stored.
      await readXml(this.objectStore, row, (content, encoding) => {
        const extracted = extractXml(content, encoding);
        if (!extracted.ok) throw new Error(extracted.detail);
        return extracted.xml;
      });
      stored.set(row.nsu, row.xmlSha256);
    }
    return stored;
  }
}

/** The activity's scheduled time plus what has passed since, on Temporal's skipped time; the judge is set to the same instant. */
function skippedTime(simulator: Simulator): TransactionClock {
  const started = new WeakMap<object, number>();
  return {
    now: async () => {
      const { info } = Context.current();
      const since = started.get(info) ?? performance.now();
      started.set(info, since);
      const now = Math.ceil(info.currentAttemptScheduledTimestampMs + performance.now() - since);
      simulator.clock.push(now, true);
      return now;
    },
  };
}
