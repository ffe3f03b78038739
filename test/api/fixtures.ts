import { createHash, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { insertArchive } from '../../src/storage/archives.js';
import { getCompany } from '../../src/storage/companies.js';
import type { Database } from '../../src/storage/database.js';
import { getDocument } from '../../src/storage/documents.js';
import { insertEvents } from '../../src/storage/events.js';
import { commitPart, exportPrefix, finishExport, openExport } from '../../src/storage/exports.js';
import { archiveKey } from '../../src/storage/object-store/index.js';
import { documentEvent } from '../../src/webhooks/body.js';
import { newDocument } from '../storage/documents-support.js';
import { capturePage } from '../webhooks/support.js';
import type { TestApi } from './support.js';

export interface CapturedDocument {
  readonly id: string;
  readonly archiveId: string;
  readonly objectKey: string;
  readonly xml: Buffer;
  readonly answer: Buffer;
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** A document as a page leaves it: the answer in the object store, the rows that point into it. */
export async function captureDocument(
  { db, deps }: { readonly db: Database; readonly deps: Pick<TestApi['deps'], 'objectStore'> },
  companyId: string,
  fields: Record<string, unknown> = {},
  text = `<nfeProc versao="4.00"><!-- ${randomUUID()} --><xNome>Açúcar &amp; Cia</xNome></nfeProc>`,
): Promise<CapturedDocument> {
  const xml = Buffer.from(text);
  const item = gzipSync(xml).toString('base64');
  const before = '<retDistDFeInt><loteDistDFeInt><docZip NSU="000000000000001">';
  const answer = Buffer.from(`${before}${item}</docZip></loteDistDFeInt></retDistDFeInt>`);
  const capture = { companyId, documentType: 'nfe', environment: 'homologation' } as const;
  const objectKey = archiveKey(capture, Date.now(), `${randomUUID()}:1`);
  await deps.objectStore.put(objectKey, answer);
  const archiveId = await insertArchive(db, {
    ...capture,
    id: randomUUID(),
    objectKey,
    requestKey: null,
    callId: null,
    size: answer.length,
    sha256: sha256(answer),
    contentType: 'application/soap+xml; charset=utf-8',
    httpStatus: 200,
    capturedAt: Date.now(),
  });
  const id = await newDocument(db, {
    company_id: companyId,
    xml_sha256: sha256(xml),
    xml_length: xml.length,
    archive_id: archiveId,
    object_key: objectKey,
    byte_offset: before.length,
    byte_length: item.length,
    encoding: 'base64+gzip',
    ...fields,
  });
  return { id, archiveId, objectKey, xml, answer };
}

/** Tells of a stored document, as its page would have. */
export async function tellOf({ db }: TestApi, documentId: string): Promise<void> {
  const row = await getDocument(db, documentId);
  const company = row && (await getCompany(db, row.companyId));
  if (!row || !company) throw new Error('no such document');
  const at = Date.now();
  const events = [documentEvent(row, company, at)];
  await db.transaction((tx) => insertEvents(tx, { companyId: company.id, at, events }));
}

/** Stores events about documents, and with them the deliveries to the endpoints there are. */
export async function storeEvents({ db }: TestApi, companyId: string, count: number): Promise<void> {
  const company = await getCompany(db, companyId);
  if (company === null) throw new Error('no such company');
  await capturePage(db, company, count);
}

/** An export that is done, with this file; what its workflow does. */
export async function finishedExport({ db, deps }: TestApi, id: string, content: Buffer): Promise<void> {
  const now = Date.now();
  const row = await openExport(db, id, 3, now);
  if (row === null) throw new Error('no such export');
  const objectKey = `${exportPrefix(row)}file.zip`;
  await deps.objectStore.put(objectKey, content);
  const last = { undated: false, at: now, id: randomUUID() };
  const counts = { documents: 3, xmlFiles: 3, pdfFiles: 0, problems: 0 };
  await db.transaction((tx) => commitPart(tx, id, { number: 1, objectKey: 'part', last, ...counts }, now));
  const file = { objectKey, size: content.length, sha256: sha256(content), expiresAt: now + 7 * 86_400_000 };
  await db.transaction((tx) => finishExport(tx, id, file, now));
}
