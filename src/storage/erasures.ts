import { disableCapture } from './capture-orders.js';
import type { CaptureRow } from './capture-rows.js';
import { listCompanyCaptures } from './captures.js';
import { lockOrders } from './companies.js';
import type { Queryable, Transaction } from './database.js';
import { instant } from './database.js';

/** The deletion of companies: what was asked for, and how far it is. The deleting itself: erase-company.ts. */

export interface ErasureRow {
  readonly companyId: string;
  readonly status: 'waiting' | 'erasing' | 'done';
  readonly requestedAt: number;
  /** End of the grace: nothing is deleted before. */
  readonly dueAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly rowsDeleted: number;
  readonly objectsDeleted: number;
}

const COLUMNS = `company_id as "companyId", status, requested_at as "requestedAt", due_at as "dueAt", started_at as "startedAt",
  finished_at as "finishedAt", rows_deleted::float8 as "rowsDeleted", objects_deleted::float8 as "objectsDeleted"`;

/** Null: its deletion was never asked for, or taken back. */
export async function getErasure(db: Queryable, companyId: string): Promise<ErasureRow | null> {
  const { rows } = await db.query<ErasureRow>(`select ${COLUMNS} from erasures where company_id = $1`, [companyId]);
  return rows[0] ?? null;
}

/**
 * Asks for the deletion of a company: its captures stop now, the rest happens from `dueAt` on (milliseconds). A repeat may only make it
 * sooner. Null: no such company.
 */
export async function requestErasure(
  tx: Transaction,
  companyId: string,
  { now, dueAt }: { readonly now: number; readonly dueAt: number },
): Promise<{ readonly erasure: ErasureRow; readonly stopped: readonly CaptureRow[] } | null> {
  await lockOrders(tx, companyId);
  const stopped = (await listCompanyCaptures(tx, companyId)).filter(({ enabled }) => enabled);
  for (const capture of stopped) await disableCapture(tx, capture, now);
  const { rowCount } = await tx.query('update companies set deleting_at = coalesce(deleting_at, $2) where id = $1', [
    companyId,
    instant(now),
  ]);
  if (rowCount === 0) return null;
  const { rows } = await tx.query<ErasureRow>(
    `insert into erasures (company_id, status, requested_at, due_at, updated_at) values ($1, 'waiting', $2, $3, $2)
     on conflict (company_id) do update set due_at = least(erasures.due_at, excluded.due_at)
     returning ${COLUMNS}`,
    [companyId, instant(now), instant(dueAt)],
  );
  const [erasure] = rows;
  if (!erasure) throw new Error('insert into erasures returned nothing');
  return { erasure, stopped };
}

/** Takes a deletion back while nothing is deleted. False: it has begun, or was not asked for. Captures stay stopped. */
export async function cancelErasure(tx: Transaction, companyId: string): Promise<boolean> {
  await lockOrders(tx, companyId);
  const { rowCount } = await tx.query(`delete from erasures where company_id = $1 and status = 'waiting'`, [companyId]);
  if (rowCount === 0) return false;
  await tx.query('update companies set deleting_at = null where id = $1', [companyId]);
  return true;
}

/** From here on nothing can be taken back. A repeat changes nothing. */
export async function beginErasure(tx: Transaction, companyId: string, now: number): Promise<void> {
  await lockOrders(tx, companyId);
  await tx.query(
    `update erasures set status = 'erasing', started_at = $2, updated_at = $2 where company_id = $1 and status = 'waiting'`,
    [companyId, instant(now)],
  );
}

/** Adds to what was deleted, and says that somebody works on it. */
export async function countErased(
  db: Queryable,
  companyId: string,
  { rows = 0, objects = 0, now }: { readonly rows?: number; readonly objects?: number; readonly now: number },
): Promise<void> {
  await db.query(
    `update erasures set rows_deleted = rows_deleted + $2, objects_deleted = objects_deleted + $3, updated_at = $4
     where company_id = $1`,
    [companyId, rows, objects, instant(now)],
  );
}

/** Deletions that are due since before an instant and that nobody has worked on since: their run was lost. Milliseconds. */
export async function overdueErasures(db: Queryable, before: number, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select company_id as id from erasures where status <> 'done' and due_at < $1 and updated_at < $1 order by due_at limit $2`,
    [instant(before), limit],
  );
  return rows.map(({ id }) => id);
}

/** Companies that were deleted after an instant (milliseconds). */
export async function erasedSince(db: Queryable, since: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select company_id as id from erasures where status = 'done' and finished_at > $1`,
    [instant(since)],
  );
  return rows.map(({ id }) => id);
}
