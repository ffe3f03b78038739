import type { Nsu } from '../model/nsu.js';
import type { CaptureKey } from '../model/words.js';
import { nsuColumn } from './capture-rows.js';
import type { Queryable } from './database.js';
import { instant } from './database.js';

/** What somebody asked to have again, and what came of it. */

export const REPROCESS_STATUSES = ['pending', 'done', 'not_available', 'refused', 'failed'] as const;
/**
 * `done`: the documents are here. `not_available`: the government has no such document for this company, for good. `refused`: it was not
 * asked, see `reason`. `failed`: it was asked in vain.
 */
export type ReprocessStatus = (typeof REPROCESS_STATUSES)[number];

/** A request to have something again. */
export interface ReprocessRow extends CaptureKey {
  readonly id: string;
  readonly nsu: Nsu | null;
  readonly key: string | null;
  readonly archiveId: string | null;
  readonly status: ReprocessStatus;
  /** Of a refusal. */
  readonly reason: string | null;
  readonly retryAt: number | null;
  readonly statusCode: string | null;
  readonly statusText: string | null;
  readonly documentIds: readonly string[];
  readonly createdAt: number;
  readonly settledAt: number | null;
}

/** A request to be written down. */
export type NewReprocess = CaptureKey &
  Pick<ReprocessRow, 'id' | 'createdAt'> & {
    readonly nsu?: Nsu | undefined;
    readonly key?: string | undefined;
    readonly archiveId?: string | undefined;
  };

/** Writes a request that is to be carried out. */
export async function insertReprocess(db: Queryable, request: NewReprocess): Promise<void> {
  await db.query(
    `insert into reprocess_requests (id, company_id, document_type, environment, nsu, key, archive_id, status, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, 'pending', $8)`,
    [
      request.id,
      request.companyId,
      request.documentType,
      request.environment,
      request.nsu ?? null,
      request.key ?? null,
      request.archiveId ?? null,
      instant(request.createdAt),
    ],
  );
}

/** The request of this id, or null. */
export async function getReprocess(db: Queryable, id: string): Promise<ReprocessRow | null> {
  const { rows } = await db.query<ReprocessRow>(
    `select id, company_id as "companyId", document_type as "documentType", environment, ${nsuColumn('nsu', 'nsu')}, key,
       archive_id as "archiveId", status, reason, retry_at as "retryAt", status_code as "statusCode",
       status_text as "statusText", document_ids as "documentIds", created_at as "createdAt", settled_at as "settledAt"
     from reprocess_requests where id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

/** How a request ended. */
export interface ReprocessEnd {
  readonly status: Exclude<ReprocessStatus, 'pending'>;
  readonly reason?: string | undefined;
  readonly retryAt?: number | null | undefined;
  readonly statusCode?: string | null | undefined;
  readonly statusText?: string | undefined;
  readonly documentIds?: readonly string[] | undefined;
}

/** The government call that is made for a request: whoever settles that one settles the other. */
export async function giveReprocessToCall(db: Queryable, id: string, callId: string): Promise<void> {
  await db.query('update reprocess_requests set call_id = $2 where id = $1', [id, callId]);
}

/** Writes how a request ended, given by its id or by its call. One that brought its documents stays so; a late answer ends any other anew. */
export async function settleReprocess(
  db: Queryable,
  which: { readonly id: string } | { readonly callId: string },
  end: ReprocessEnd,
  now: number,
): Promise<void> {
  const [column, value] = 'id' in which ? ['id', which.id] : ['call_id', which.callId];
  await db.query(
    `update reprocess_requests set status = $2, reason = $3, retry_at = $4, status_code = $5, status_text = $6,
       document_ids = $7, settled_at = $8
     where ${column} = $1 and status <> 'done'`,
    [
      value,
      end.status,
      end.reason ?? null,
      instant(end.retryAt),
      end.statusCode ?? null,
      end.statusText ?? null,
      end.documentIds ?? [],
      instant(now),
    ],
  );
}
