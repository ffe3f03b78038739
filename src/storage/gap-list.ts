import type { Nsu } from '../model/nsu.js';
import type { CaptureKey } from '../model/words.js';
import { nsuColumn } from './capture-rows.js';
import type { Queryable } from './database.js';
import { instant } from './database.js';
import { Filter } from './filter.js';
import type { Page, PageRequest } from './keyset.js';
import { pageOf, readCursor } from './keyset.js';

/** A recovery item or range as the API shows it; both ends included. */
export interface GapRow {
  readonly id: string;
  readonly fromNsu: Nsu;
  readonly toNsu: Nsu;
  readonly status: string;
  readonly cause: string;
  readonly attempts: number;
  readonly nextAttemptAt: number | null;
  readonly lastStatusCode: string | null;
  readonly createdAt: number;
  readonly resolvedAt: number | null;
}

const COLUMNS = `id, ${nsuColumn('from_nsu', 'fromNsu')}, ${nsuColumn('to_nsu', 'toNsu')}, status, cause, attempts,
  next_attempt_at as "nextAttemptAt", last_status_code as "lastStatusCode", created_at as "createdAt",
  resolved_at as "resolvedAt"`;

/** The gap of this id and capture, or null. */
export async function getGap(db: Queryable, capture: CaptureKey, id: string): Promise<GapRow | null> {
  const { rows } = await db.query<GapRow>(
    `select ${COLUMNS} from gaps where company_id = $1 and document_type = $2 and environment = $3 and id = $4`,
    [capture.companyId, capture.documentType, capture.environment, id],
  );
  return rows[0] ?? null;
}

/** A person's word: the item, or every number of the range, is asked for from now on, with a new series of attempts. */
export async function recoverGap(db: Queryable, id: string, now: number): Promise<GapRow | null> {
  const { rows } = await db.query<GapRow>(
    `update gaps set status = 'pending', attempts = 0, next_attempt_at = $2, resolved_at = null
     where id = $1 and status <> 'recovered' returning ${COLUMNS}`,
    [id, instant(now)],
  );
  return rows[0] ?? null;
}

/** In the order of the numbers. @throws {InvalidCursor} */
export async function listGaps(
  db: Queryable,
  capture: CaptureKey,
  { status }: { readonly status?: string | undefined },
  { limit, cursor }: PageRequest,
): Promise<Page<GapRow>> {
  const where = new Filter()
    .add(capture.companyId, (v) => `company_id = ${v}`)
    .add(capture.documentType, (v) => `document_type = ${v}`)
    .add(capture.environment, (v) => `environment = ${v}`)
    .add(status, (v) => `status = ${v}`)
    .after(readCursor(cursor, ['nsu', 'uuid']), 'from_nsu, id', '>');
  const { rows } = await db.query<GapRow>(
    `select ${COLUMNS} from gaps ${where.where} order by from_nsu, id limit ${limit + 1}`,
    where.values,
  );
  return pageOf(rows, limit, (row) => [row.fromNsu, row.id]);
}
