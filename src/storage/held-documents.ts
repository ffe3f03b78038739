import { UNLISTED } from '../model/suppression.js';
import type { CaptureKey } from '../model/words.js';
import { captureValues } from './captures.js';
import type { Queryable, Transaction } from './database.js';
import { instant } from './database.js';
import { DOCUMENT_COLUMNS, type DocumentRow } from './documents.js';

/** Documents whose webhook waits. Everything here happens under the lock of the capture's row. */

export interface HeldDocument {
  readonly documentId: string;
  readonly key: string;
}

/** @param releaseAt milliseconds */
export async function holdDocuments(
  tx: Transaction,
  capture: CaptureKey,
  held: readonly HeldDocument[],
  releaseAt: number,
): Promise<void> {
  if (held.length === 0) return;
  await tx.query(
    `insert into held_documents (company_id, document_type, environment, document_id, key, release_at)
     select $1, $2, $3, document_id, key, $4 from unnest($5::uuid[], $6::text[]) as h (document_id, key)`,
    [
      ...captureValues(capture),
      instant(releaseAt),
      held.map(({ documentId }) => documentId),
      held.map(({ key }) => key),
    ],
  );
}

/**
 * Everything that was stored without a word because it is older than the customer wanted is told of after all, the oldest first.
 * Documents that had not to be captured stay where they are.
 *
 * @returns how many
 */
export async function releaseHistory(tx: Transaction, capture: CaptureKey, now: number): Promise<number> {
  const { rowCount } = await tx.query(
    `insert into held_documents (company_id, document_type, environment, document_id, key, release_at)
     select $1, $2, $3, id, coalesce(key, ''),
       $4::timestamptz + row_number() over (order by nsu nulls last, captured_at, id) * interval '1 millisecond'
     from documents where company_id = $1 and document_type = $2 and environment = $3 and suppressed like $5
     on conflict do nothing`,
    [...captureValues(capture), instant(now), `${UNLISTED.beforeCutoff}:%`],
  );
  return rowCount;
}

/** Those that waited for one of these keys wait no more. */
export async function takeHeldOf(
  tx: Transaction,
  capture: CaptureKey,
  keys: readonly string[],
): Promise<HeldDocument[]> {
  const { rows } = await tx.query<HeldDocument>(
    `delete from held_documents where company_id = $1 and document_type = $2 and environment = $3 and key = any($4)
     returning document_id as "documentId", key`,
    [...captureValues(capture), keys],
  );
  return rows;
}

/** Those of one capture that have waited long enough wait no more. */
export async function takeDueHeld(
  tx: Transaction,
  capture: CaptureKey,
  now: number,
  limit: number,
): Promise<HeldDocument[]> {
  const { rows } = await tx.query<HeldDocument>(
    `delete from held_documents where document_id in (
       select document_id from held_documents
       where company_id = $1 and document_type = $2 and environment = $3 and release_at <= $4 order by release_at limit $5)
     returning document_id as "documentId", key`,
    [...captureValues(capture), instant(now), limit],
  );
  return rows;
}

/** Captures that have a document which has waited long enough. */
export async function capturesWithDueHeld(db: Queryable, now: number, limit: number): Promise<CaptureKey[]> {
  const { rows } = await db.query<CaptureKey>(
    `select company_id as "companyId", document_type as "documentType", environment from held_documents
     where release_at <= $1 group by company_id, document_type, environment order by min(release_at) limit $2`,
    [instant(now), limit],
  );
  return rows;
}

/**
 * Writes what was decided of webhooks that had waited.
 *
 * @param suppressed by document id: why none is sent, or null
 * @returns the documents, in NSU order
 */
export async function decideHeld(
  tx: Transaction,
  suppressed: ReadonlyMap<string, string | null>,
): Promise<DocumentRow[]> {
  if (suppressed.size === 0) return [];
  const { rows } = await tx.query<DocumentRow>(
    `with decided as (
       update documents d set suppressed = h.suppressed from unnest($1::uuid[], $2::text[]) as h (id, suppressed)
       where d.id = h.id returning d.*)
     select ${DOCUMENT_COLUMNS} from decided d order by d.nsu nulls last, d.captured_at, d.id`,
    [[...suppressed.keys()], [...suppressed.values()]],
  );
  return rows;
}
