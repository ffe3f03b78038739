import type { ItemEncoding, ItemFailure } from '../model/document.js';
import type { Nsu } from '../model/nsu.js';
import type { CaptureKey } from '../model/words.js';
import { nsuColumn } from './capture-rows.js';
import { captureValues } from './captures.js';
import type { Queryable, Transaction } from './database.js';
import { instant } from './database.js';

/** Items that could not be decoded. Their bytes stay in the archive and are tried again. */
export interface FailedItemRow extends CaptureKey {
  readonly id: string;
  readonly nsu: Nsu | null;
  readonly schema: string | null;
  readonly failure: ItemFailure;
  readonly detail: string;
  readonly archiveId: string;
  readonly objectKey: string;
  readonly byteOffset: number;
  readonly byteLength: number;
  readonly encoding: ItemEncoding;
  readonly attempts: number;
  readonly nextAttemptAt: number | null;
  readonly createdAt: number;
}

const COLUMNS = `f.id, f.company_id as "companyId", f.document_type as "documentType", f.environment,
  ${nsuColumn('f.nsu', 'nsu')}, f.schema, f.failure, f.detail, f.archive_id as "archiveId", f.object_key as "objectKey",
  f.byte_offset as "byteOffset", f.byte_length as "byteLength", f.encoding, f.attempts,
  f.next_attempt_at as "nextAttemptAt", f.created_at as "createdAt"`;

/** Stores failed items. One place in an archive is one item, and so is an NSU that comes again while it still fails. */
export async function insertFailedItems(tx: Transaction, items: readonly FailedItemRow[]): Promise<void> {
  if (items.length === 0) return;
  await tx.query(
    `insert into failed_items (id, company_id, document_type, environment, nsu, schema, failure, detail, archive_id,
       object_key, byte_offset, byte_length, encoding, attempts, next_attempt_at, created_at)
     select r.id, r."companyId", r."documentType", r.environment, r.nsu, r.schema, r.failure, r.detail, r."archiveId",
       r."objectKey", r."byteOffset", r."byteLength", r.encoding, r.attempts,
       to_timestamp(r."nextAttemptAt" / 1000.0), to_timestamp(r."createdAt" / 1000.0)
     from json_to_recordset($1) as r (id uuid, "companyId" uuid, "documentType" text, environment text, nsu bigint,
       schema text, failure text, detail text, "archiveId" uuid, "objectKey" text, "byteOffset" int, "byteLength" int,
       encoding text, attempts int, "nextAttemptAt" bigint, "createdAt" bigint)
     where not exists (
       select from failed_items f where f.company_id = r."companyId" and f.document_type = r."documentType"
         and f.environment = r.environment and f.nsu = r.nsu and f.resolved_at is null)
     on conflict (archive_id, byte_offset) do nothing`,
    [JSON.stringify(items)],
  );
}

/** Those whose time has come, oldest first. */
export async function dueFailedItems(db: Queryable, now: number, limit: number): Promise<FailedItemRow[]> {
  const { rows } = await db.query<FailedItemRow>(
    `select ${COLUMNS} from failed_items f where resolved_at is null and next_attempt_at <= $1
     order by next_attempt_at limit $2`,
    [instant(now), limit],
  );
  return rows;
}

/** Takes the item for this transaction. False: another one resolved or moved it. */
export async function lockFailedItem(tx: Transaction, item: FailedItemRow): Promise<boolean> {
  const { rows } = await tx.query(
    'select from failed_items where id = $1 and resolved_at is null and attempts = $2 for update',
    [item.id, item.attempts],
  );
  return rows.length === 1;
}

/** Decoding it failed again: it is due once more, later. */
export async function rescheduleFailedItem(
  db: Queryable,
  item: FailedItemRow,
  failed: Pick<FailedItemRow, 'failure' | 'detail'> & { nextAttemptAt: number },
): Promise<void> {
  await db.query(
    `update failed_items set failure = $3, detail = $4, next_attempt_at = $5, attempts = attempts + 1
     where id = $1 and attempts = $2 and resolved_at is null`,
    [item.id, item.attempts, failed.failure, failed.detail, instant(failed.nextAttemptAt)],
  );
}

/** Says which document it became, and whether the capture has other items that fail. */
export async function resolveFailedItem(
  tx: Transaction,
  item: FailedItemRow,
  { documentId, now }: { documentId: string | null; now: number },
): Promise<{ othersFail: boolean }> {
  await tx.query('update failed_items set resolved_at = $2, document_id = $3 where id = $1', [
    item.id,
    instant(now),
    documentId,
  ]);
  return { othersFail: await hasFailedItems(tx, item) };
}

/**
 * Ends the failed items of these numbers: whole copies of their documents are here. Says how many there were, and whether the capture has
 * others that fail.
 */
export async function resolveFailedNsus(
  tx: Transaction,
  capture: CaptureKey,
  nsus: readonly Nsu[],
  now: number,
): Promise<{ resolved: number; othersFail: boolean }> {
  const { rowCount: resolved } = await tx.query(
    `update failed_items f set resolved_at = $4, document_id = (
       select d.id from documents d where d.company_id = f.company_id and d.document_type = f.document_type
         and d.environment = f.environment and d.nsu = f.nsu order by d.captured_at desc limit 1)
     where company_id = $1 and document_type = $2 and environment = $3 and nsu = any($5::bigint[]) and resolved_at is null`,
    [...captureValues(capture), instant(now), nsus],
  );
  return { resolved, othersFail: await hasFailedItems(tx, capture) };
}

/** As above for items of one archive, by where they stand in it: what came without a number. */
export async function resolveFailedPlaces(
  tx: Transaction,
  capture: CaptureKey,
  archiveId: string,
  documents: readonly { readonly id: string; readonly byteOffset: number }[],
  now: number,
): Promise<{ resolved: number; othersFail: boolean }> {
  const { rowCount: resolved } = await tx.query(
    `update failed_items f set resolved_at = $2, document_id = (select id from documents where id = p.id)
     from unnest($3::uuid[], $4::int[]) as p (id, byte_offset)
     where f.archive_id = $1 and f.byte_offset = p.byte_offset and f.resolved_at is null`,
    [archiveId, instant(now), documents.map(({ id }) => id), documents.map(({ byteOffset }) => byteOffset)],
  );
  return { resolved, othersFail: await hasFailedItems(tx, capture) };
}

async function hasFailedItems(tx: Transaction, capture: CaptureKey): Promise<boolean> {
  const { rows } = await tx.query(
    `select from failed_items where company_id = $1 and document_type = $2 and environment = $3 and resolved_at is null
     limit 1`,
    captureValues(capture),
  );
  return rows.length > 0;
}
