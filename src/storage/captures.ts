import type { CaptureState } from '../model/capture-state.js';
import type { CaptureKey, DocumentType, Environment, Phase } from '../model/words.js';
import { CAPTURE_COLUMNS, type CaptureRow, checkedCapture } from './capture-rows.js';
import type { Queryable, Transaction } from './database.js';
import { instant } from './database.js';
import { Filter } from './filter.js';
import type { Page, PageRequest } from './keyset.js';
import { pageOf, readCursor } from './keyset.js';

/** Reading captures, and the one way to commit a state. What people ask of a capture: capture-orders.ts. */

export const captureValues = (capture: CaptureKey) => [capture.companyId, capture.documentType, capture.environment];

/** Null: there is no such capture. @throws {UnknownStateVersion} */
export async function getCapture(db: Queryable, capture: CaptureKey): Promise<CaptureRow | null> {
  const { rows } = await db.query<CaptureRow>(
    `select ${CAPTURE_COLUMNS} from captures c where company_id = $1 and document_type = $2 and environment = $3`,
    captureValues(capture),
  );
  return rows[0] ? checkedCapture(rows[0]) : null;
}

/** As {@link getCapture}, and nobody else changes the row until the transaction ends. */
export async function lockCapture(tx: Transaction, capture: CaptureKey): Promise<CaptureRow | null> {
  const { rows } = await tx.query<CaptureRow>(
    `select ${CAPTURE_COLUMNS} from captures c where company_id = $1 and document_type = $2 and environment = $3 for no key update`,
    captureValues(capture),
  );
  return rows[0] ? checkedCapture(rows[0]) : null;
}

/** The captures of one company, stopped ones included. */
export async function listCompanyCaptures(
  db: Queryable,
  companyId: string,
  documentType?: DocumentType,
): Promise<CaptureRow[]> {
  const where = new Filter()
    .add(companyId, (v) => `company_id = ${v}`)
    .add(documentType, (v) => `document_type = ${v}`);
  const { rows } = await db.query<CaptureRow>(
    `select ${CAPTURE_COLUMNS} from captures c ${where.where} order by document_type, enabled desc, environment`,
    where.values,
  );
  return rows.map(checkedCapture);
}

export interface CaptureFilter {
  readonly phase?: Phase | undefined;
  readonly documentType?: DocumentType | undefined;
  readonly environment?: Environment | undefined;
  readonly uf?: string | undefined;
  readonly enabled?: boolean | undefined;
  /** The companies that an API key may see; undefined: all. */
  readonly visible?: readonly string[] | undefined;
}

/** In the order of their keys. @throws {InvalidCursor} @throws {UnknownStateVersion} */
export async function listCaptures(
  db: Queryable,
  filter: CaptureFilter,
  { limit, cursor }: PageRequest,
): Promise<Page<CaptureRow>> {
  const position = readCursor(cursor, ['uuid', 'text', 'text']);
  const where = new Filter()
    .add(filter.phase, (v) => `c.phase = ${v}`)
    .add(filter.documentType, (v) => `c.document_type = ${v}`)
    .add(filter.environment, (v) => `c.environment = ${v}`)
    .add(filter.enabled, (v) => `c.enabled = ${v}`)
    .add(filter.uf, (v) => `exists (select from companies where id = c.company_id and uf = ${v})`)
    .add(filter.visible, (v) => `c.company_id = any(${v}::uuid[])`)
    .after(position, 'c.company_id, c.document_type, c.environment', '>');
  const { rows } = await db.query<CaptureRow>(
    `select ${CAPTURE_COLUMNS} from captures c ${where.where}
     order by c.company_id, c.document_type, c.environment limit ${limit + 1}`,
    where.values,
  );
  return pageOf(rows.map(checkedCapture), limit, captureValues);
}

/** What is written together with a capture's state. */
export interface StateExtras {
  readonly now: number;
  /** Earliest next distribution call; only ever later than the row's. Absent: stays. */
  readonly notBefore?: number | null | undefined;
  /** The call that this commit settles. */
  readonly lastQuery?:
    | {
        readonly at: number;
        readonly statusCode: string | null;
        readonly statusText: string | null;
        /** The service looked for documents and said what it found. Default false. */
        readonly searched?: boolean;
      }
    | undefined;
  /** New documents in this commit. */
  readonly documents?: number | undefined;
}

/**
 * Writes a state and what the columns repeat of it, and counts the revision. Fences, leases and locks are the caller's.
 * Null: there is no such capture.
 */
export async function commitState(
  tx: Transaction,
  capture: CaptureKey,
  state: CaptureState,
  { now, notBefore, lastQuery, documents }: StateExtras,
): Promise<CaptureRow | null> {
  const { rows } = await tx.query<CaptureRow>(
    `update captures c set
       state = $4, phase = $5, ult_nsu = $6, max_nsu = $7,
       not_before = greatest(not_before, $8),
       last_query_at = coalesce($9, last_query_at),
       last_status_code = case when $9::timestamptz is null then last_status_code else $10 end,
       last_status_text = case when $9::timestamptz is null then last_status_text else $11 end,
       searched_at = case when $14 then $9 else searched_at end,
       documents = documents + $12,
       progressed_at = case when ${PROGRESS} then $13 else progressed_at end,
       revision = revision + 1,
       updated_at = $13
     where company_id = $1 and document_type = $2 and environment = $3
     returning ${CAPTURE_COLUMNS}`,
    [
      ...captureValues(capture),
      JSON.stringify(state),
      state.phase,
      state.ultNsu,
      state.maxNsu,
      instant(notBefore),
      instant(lastQuery?.at),
      lastQuery?.statusCode ?? null,
      lastQuery?.statusText ?? null,
      documents ?? 0,
      instant(now),
      lastQuery?.searched ?? false,
    ],
  );
  return rows[0] ? checkedCapture(rows[0]) : null;
}

/** Nothing is pending, the cursor moves, documents came; or a stop or hold ends: standing still counts anew. */
const PROGRESS = `($7::bigint <= $6::bigint or $6::bigint <> ult_nsu or $12 > 0
  or phase = 'stopped' or (phase = 'paused' and state ->> 'reason' = 'held by a person'))`;
