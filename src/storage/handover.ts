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
