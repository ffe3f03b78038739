import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { after } from 'node:test';
import { v7 as uuidv7 } from 'uuid';
import { type Keyring, parseKeyring } from '../../src/certificates/keyring.js';
import { webhookSecretBox } from '../../src/certificates/secret-box.js';
import type { Nsu } from '../../src/model/nsu.js';
import { type CompanyRow, createCompany } from '../../src/storage/companies.js';
import { createDatabase, type Database } from '../../src/storage/database.js';
import { createEndpoint, type EndpointRow, type NewEndpoint } from '../../src/storage/endpoints.js';
import { insertEvents } from '../../src/storage/events.js';
import { documentEvent } from '../../src/webhooks/body.js';
import type { StoredDocument } from '../../src/webhooks/document-view.js';
import { newSecret } from '../../src/webhooks/signature.js';
import { testDatabase } from '../support/database.js';

export async function openDatabase(): Promise<Database> {
  const { url, drop } = await testDatabase();
  const db = createDatabase({ url, applicationName: 'malote test', max: 8 });
  after(async () => {
    await db.close();
    await drop();
  });
  return db;
}

export function newKeyring(): Keyring {
  return parseKeyring(randomBytes(32).toString('base64'));
}

export const box = webhookSecretBox(newKeyring());

let companies = 0;
export async function newCompany(db: Database, externalId: string | null = null): Promise<CompanyRow> {
  companies += 1;
  const taxId = `${String(companies).padStart(8, '0')}000100`;
  const made = await createCompany(db, { id: randomUUID(), taxId, name: `Empresa ${companies}`, uf: 'SP', externalId });
  if (!made.ok) throw new Error(made.problem);
  return made.company;
}

export async function newEndpoint(
  db: Database,
  fields: Partial<NewEndpoint> = {},
): Promise<EndpointRow & { secret: string }> {
  const secret = newSecret();
  const wanted = { url: 'http://127.0.0.1:9/unused', secret, at: Date.now(), ...fields };
  return { ...(await createEndpoint(db, box, wanted)), secret: wanted.secret };
}

/** A made-up NF-e of a company; `fields` change it. */
export function document(companyId: string, fields: Partial<StoredDocument> = {}): StoredDocument {
  return {
    id: uuidv7(),
    companyId,
    documentType: 'nfe',
    environment: 'homologation',
    kind: 'procNFe',
    root: 'nfeProc',
    schema: 'procNFe_v4.00.xsd',
    nsu: '000000000000149' as Nsu,
    key: '35261199999999000191550010000012341000012349',
    direction: 'received',
    state: 'authorized',
    fullXml: 'present',
    capturedAt: Date.UTC(2026, 10, 30, 12),
    origin: 'distribution',
    metadata: { number: '1234', total: '1234.56', issuer: { taxId: '99999999000191', name: 'Fornecedor Ltda' } },
    event: null,
    warnings: [],
    xmlSha256: 'ab'.repeat(32),
    suppressed: null,
    ...fields,
  };
}

/** Stores events about `count` documents in one page transaction; gives the documents in order. */
export async function capturePage(
  db: Database,
  company: CompanyRow,
  count: number,
  { at = Date.now(), ...fields }: Partial<StoredDocument> & { at?: number } = {},
): Promise<StoredDocument[]> {
  const documents = Array.from({ length: count }, () => document(company.id, fields));
  const events = documents.map((one) => documentEvent(one, company, at));
  await db.transaction((tx) => insertEvents(tx, { companyId: company.id, at, events }));
  return documents;
}

/** One request as a receiver got it. */
export interface Received {
  readonly headers: Record<string, string>;
  readonly body: string;
  /** As JSON. */
  readonly event: { id: string; sequence: number; type: string; action: string; data: Record<string, unknown> };
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** TCP connections taken so far. */
  connections(): number;
  /** How many requests were open at once at most. */
  mostAtOnce(): number;
  close(): Promise<void>;
}

/** A customer's HTTP endpoint on loopback. `answer` gets the request when its body is there. */
export async function receiver(
  answer: (response: ServerResponse, received: Received, request: IncomingMessage) => void = (response) =>
    response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  let [connections, open, most] = [0, 0, 0];
  const server = createServer((request, response) => {
    open += 1;
    most = Math.max(most, open);
    response.on('close', () => {
      open -= 1;
    });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const one: Received = { headers: request.headers as Record<string, string>, body, event: JSON.parse(body) };
      received.push(one);
      answer(response, one, request);
    });
  });
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  };
  after(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    connections: () => connections,
    mostAtOnce: () => most,
    close,
  };
}
