import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Registry } from 'prom-client';
import type { Api, Scope } from '../../src/api/api.js';
import type { ApiDependencies } from '../../src/api/dependencies.js';
import { buildServer } from '../../src/api/server.js';
import type { TemporalGateway } from '../../src/api/temporal-gateway.js';
import { parseKeyring } from '../../src/certificates/keyring.js';
import { webhookSecretBox } from '../../src/certificates/secret-box.js';
import type { Asked, PointQuestion, ReprocessArchiveInput } from '../../src/client/workflow-messenger.js';
import { cnpjCheckDigits } from '../../src/documents/tax-id.js';
import type { ExportInput } from '../../src/model/export-contract.js';
import type { ImportInput } from '../../src/model/import-contract.js';
import type { OnDemandResult } from '../../src/model/on-demand.js';
import type { CaptureKey } from '../../src/model/words.js';
import { createLogger } from '../../src/platform/log.js';
import { createDatabase, type Database } from '../../src/storage/database.js';
import { openObjectStore } from '../../src/storage/object-store/index.js';
import { PostgresClock } from '../../src/storage/postgres-clock.js';
import { WebhookSender } from '../../src/webhooks/sender.js';
import { exportPfx, issue, makeRoot, type Pair } from '../certificates/make-certificates.js';
import { testDatabase } from '../support/database.js';
import { scratchFolder } from '../support/scratch.js';

/** What the API said to Temporal, in order: `start nfe homologation <company>`. */
export class RecordingTemporal implements TemporalGateway {
  readonly said: string[] = [];
  /** False: Temporal does not answer. */
  reachable = true;

  startCapture = (capture: CaptureKey) => this.#say('start', capture);
  stopCapture = (capture: CaptureKey) => this.#say('stop', capture);
  resumeCapture = (capture: CaptureKey) => this.#say('resume', capture);
  wakeCapture = (capture: CaptureKey) => this.#say('wake', capture);
  wakeManifestation = (capture: CaptureKey) => this.#say('manifest', capture);
  wakeDelivery = async (endpointId: string) => this.#note(`deliver ${endpointId}`);
  wakeErasure = async (companyId: string) => this.#note(`erase ${companyId}`);
  /** What capture on demand answers. */
  onDemand: OnDemandResult = { kind: 'none', statusCode: null };
  captureOnDemand = async (capture: CaptureKey) => {
    await this.#say('on demand', capture);
    return this.onDemand;
  };
  /** What the capture's run answers to a question. */
  asked: (capture: CaptureKey, question: PointQuestion, id: string) => Asked | Promise<Asked> = () => ({
    kind: 'taken',
  });
  askCapture = async (capture: CaptureKey, question: PointQuestion, id: string) => {
    await this.#say('nsu' in question ? `ask ${question.nsu}` : 'ask by key', capture);
    return this.asked(capture, question, id);
  };
  reprocessArchive = async ({ archiveId }: ReprocessArchiveInput) => {
    this.#note(`decode ${archiveId}`);
    return false;
  };
  startExport = async ({ exportId }: ExportInput) => this.#note(`export ${exportId}`);
  cancelExport = async (exportId: string) => this.#note(`cancel export ${exportId}`);
  startImport = async ({ importId }: ImportInput) => this.#note(`import ${importId}`);
  runNightlyGaps = async () => this.#note('look for gaps');
  check = async () => this.#note(null);

  async #say(what: string, { documentType, environment, companyId }: CaptureKey): Promise<void> {
    this.#note(`${what} ${documentType} ${environment} ${companyId}`);
  }

  #note(line: string | null): void {
    if (!this.reachable) throw new Error('14 UNAVAILABLE: No connection established');
    if (line !== null) this.said.push(line);
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | number | undefined>;
  readonly text: string;
  readonly bytes: Buffer;
  /** The body as JSON. Tests look into it freely; the shape is checked by the assertions. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever shape it expects, and fails where that is not there
  readonly json: any;
}

export interface AskOptions {
  /** Default: the bootstrap key; null: none. */
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface TestApi {
  readonly app: Api;
  readonly db: Database;
  readonly deps: ApiDependencies;
  readonly temporal: RecordingTemporal;
  /** Every line that the API logged. */
  readonly log: string[];
  ask(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, options?: AskOptions): Promise<Answer>;
  /** A company as the API gives it, with a made-up CNPJ. */
  newCompany(fields?: Record<string, unknown>): Promise<{ id: string; taxId: string; root: string }>;
  /** A company that can be captured for. */
  companyWithCertificate(): Promise<{ id: string; taxId: string; root: string }>;
  /** A key with these scopes. */
  newKey(scopes: readonly Scope[], companyIds?: readonly string[]): Promise<string>;
}

export const BOOTSTRAP_KEY = `mlt_${randomBytes(24).toString('base64url')}`;

/** The whole API over a real database and object store. Only Temporal is a stand-in. */
export async function testApi(changed: Partial<ApiDependencies> = {}): Promise<TestApi> {
  const { url, drop } = await testDatabase();
  const db = createDatabase({ url, applicationName: 'malote test', max: 8 });
  const keyring = parseKeyring(randomBytes(32).toString('base64'));
  const temporal = new RecordingTemporal();
  const log: string[] = [];
  const sender = new WebhookSender({ version: 'test', allowPrivate: true });
  const deps: ApiDependencies = {
    database: db,
    objectStore: await openObjectStore(pathToFileURL(scratchFolder('objects')).href),
    temporal,
    clock: new PostgresClock(db),
    keyring,
    secretBox: webhookSecretBox(keyring),
    sender,
    bootstrapKey: BOOTSTRAP_KEY,
    checkCertificate: null,
    timeScale: 1,
    publicUrl: null,
    allowPrivateWebhooks: true,
    logger: createLogger({ level: 'debug', role: 'api', destination: { write: (line) => void log.push(line) } }),
    metrics: new Registry(),
    isStopping: () => false,
    ...changed,
  };
  const app = await buildServer(deps);
  after(async () => {
    await app.close();
    await sender.close();
    await db.close();
    await drop();
  });

  const ask: TestApi['ask'] = async (method, path, { key = BOOTSTRAP_KEY, body, headers = {} } = {}) => {
    const answer = await app.inject({
      method,
      url: path,
      headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
      ...(body === undefined ? {} : { payload: body as string | object }),
    });
    const isJson = String(answer.headers['content-type']).includes('json');
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text: answer.payload,
      bytes: answer.rawPayload,
      json: isJson ? answer.json() : undefined,
    };
  };

  const newCompany: TestApi['newCompany'] = async (fields = {}) => {
    const { json } = await ask('POST', '/v1/companies', { body: { ...newCompanyFields(), ...fields } });
    return json;
  };

  return {
    app,
    db,
    deps,
    temporal,
    log,
    ask,
    newCompany,
    companyWithCertificate: async () => {
      const company = await newCompany();
      const body = { pfx: pfxFor(company.taxId).toString('base64'), password: PASSWORD };
      const stored = await ask('PUT', `/v1/companies/${company.id}/certificate`, { body });
      if (stored.status !== 200) throw new Error(stored.text);
      return company;
    },
    newKey: async (scopes, companyIds) => {
      const body = { name: 'test', scopes, ...(companyIds === undefined ? {} : { companyIds }) };
      return (await ask('POST', '/v1/api-keys', { body })).json.key;
    },
  };
}

let companies = 0;

/** A made-up company with a tax ID of its own. */
export function newCompanyFields() {
  companies += 1;
  const first12 = `${String(70_000_000 + companies)}0001`;
  return { taxId: first12 + cnpjCheckDigits(first12), name: `Empresa de Teste ${companies}`, uf: 'SP' };
}

export const PASSWORD = 'senha-de-teste';

let root: Pair | undefined;
let pairs = 0;
/** One key for all: making one costs more than everything else in these tests. */
let shared: Pair | undefined;

/** An A1 file for a tax ID, from an authority made up here. */
export function pfxFor(taxId: string, validity: { notBefore?: string; notAfter?: string } = {}): Buffer {
  root ??= makeRoot('api-root');
  pairs += 1;
  const pair = issue(`api-leaf-${pairs}`, root, {
    subject: `/C=BR/O=ICP-Brasil/CN=EMPRESA DE TESTE:${taxId}`,
    names: [`2.16.76.1.3.3;UTF8:${taxId}`],
    ...(shared === undefined ? {} : { keyOf: shared }),
    ...validity,
  });
  shared ??= pair;
  return exportPfx(pair, PASSWORD);
}
