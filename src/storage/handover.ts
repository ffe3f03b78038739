import type { HandoverPage } from '../model/activity-contract.js';
import type { Nsu } from '../model/nsu.js';
import type { CaptureKey } from '../model/words.js';
import { CAPTURE_COLUMNS, type CaptureRow, checkedCapture, nsuColumn } from './capture-rows.js';
import { captureValues } from './captures.js';
import type { Queryable, Transaction } from './database.js';
import { instant } from './database.js';

/** Documents in one page for the host. Those that share the last NSU come along, so that a page never ends inside one. */
const PAGE_SIZE = 50;

/** Documents after one NSU and up to another, in NSU order. */
export async function documentsBetween(
  db: Queryable,
  capture: CaptureKey,
  after: Nsu,
  upTo: Nsu,
): Promise<{ documents: HandoverPage['documents']; isLast: boolean }> {
  const { rows } = await db.query<HandoverPage['documents'][number]>(
    `select d.id, ${nsuColumn('d.nsu', 'nsu')}, d.kind from documents d
     where company_id = $1 and document_type = $2 and environment = $3 and nsu > $4 and nsu <= $5
     order by nsu fetch first ${PAGE_SIZE} rows with ties`,
    [...captureValues(capture), after, upTo],
  );
  return { documents: rows, isLast: rows.length < PAGE_SIZE };
}

/** Documents at or below what the host has taken that came later, in NSU order; as many as a page holds. */
export async function lateDocuments(db: Queryable, capture: CaptureKey): Promise<HandoverPage['documents']> {
  const { rows } = await db.query<HandoverPage['documents'][number]>(
    `select d.id, ${nsuColumn('d.nsu', 'nsu')}, d.kind from late_documents l join documents d on d.id = l.document_id
     where l.company_id = $1 and l.document_type = $2 and l.environment = $3 order by l.nsu, d.id limit ${PAGE_SIZE}`,
    captureValues(capture),
  );
  return rows;
}

/** Remembers those of the documents that have an NSU at or below what the host has taken. True: there are some. */
export async function rememberLate(tx: Transaction, documentIds: readonly string[], handed: Nsu): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into late_documents (document_id, company_id, document_type, environment, nsu)
     select id, company_id, document_type, environment, nsu from documents where id = any ($1::uuid[]) and nsu <= $2
     on conflict do nothing`,
    [documentIds, handed],
  );
  return rowCount > 0;
}

/** Remembers the documents of a range that were not on the page that covered it: they came while the host had that page in hand. */
export async function rememberMissed(
  tx: Transaction,
  capture: CaptureKey,
  range: { readonly after: Nsu; readonly upTo: Nsu; readonly handed: readonly string[] },
): Promise<void> {
  await tx.query(
    `insert into late_documents (document_id, company_id, document_type, environment, nsu)
     select id, company_id, document_type, environment, nsu from documents
     where company_id = $1 and document_type = $2 and environment = $3 and nsu > $4 and nsu <= $5 and id <> all ($6::uuid[])
     on conflict do nothing`,
    [...captureValues(capture), range.after, range.upTo, range.handed],
  );
}

/** Late documents that the host has taken, and those that it will get in the sequence, because it went back. */
export async function forgetLate(
  tx: Transaction,
  capture: CaptureKey,
  taken: readonly string[],
  handed: Nsu,
): Promise<void> {
  await tx.query(
    `delete from late_documents
     where company_id = $1 and document_type = $2 and environment = $3 and (document_id = any ($4::uuid[]) or nsu > $5)`,
    [...captureValues(capture), taken, handed],
  );
}

/** Writes how far the host has taken documents. Counts as a change of the capture, but never touches the government's cursor. */
export async function writeHandedNsu(
  tx: Transaction,
  capture: CaptureKey,
  handed: Nsu,
  now: number,
): Promise<CaptureRow | null> {
  const { rows } = await tx.query<CaptureRow>(
    `update captures c set handed_nsu = $4, revision = revision + 1, updated_at = $5
     where company_id = $1 and document_type = $2 and environment = $3 returning ${CAPTURE_COLUMNS}`,
    [...captureValues(capture), handed, instant(now)],
  );
  return rows[0] ? checkedCapture(rows[0]) : null;
}
