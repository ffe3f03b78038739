import type { Nsu } from '../model/nsu.js';
import type { CaptureKey } from '../model/words.js';
import { nsuColumn } from './capture-rows.js';
import type { Queryable } from './database.js';
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
    `select id, ${nsuColumn('from_nsu', 'fromNsu')}, ${nsuColumn('to_nsu', 'toNsu')}, status, cause, attempts,
       next_attempt_at as "nextAttemptAt", last_status_code as "lastStatusCode", created_at as "createdAt",
       resolved_at as "resolvedAt"
     from gaps ${where.where} order by from_nsu, id limit ${limit + 1}`,
    where.values,
  );
  return pageOf(rows, limit, (row) => [row.fromNsu, row.id]);
}
