import type { Origin } from '../model/document.js';
import type { Nsu } from '../model/nsu.js';
import type { OutcomeKind } from '../model/outcome.js';
import type { CaptureKey } from '../model/words.js';
import { nsuColumn } from './capture-rows.js';
import { captureValues } from './captures.js';
import type { Queryable, Transaction } from './database.js';
import { instant } from './database.js';

/**
 * Rows of `calls`: one per government call, written before the call and never reopened (docs/government-call.md). What a row
 * says decides whether the wire may be touched, so every function here is one statement and its conditions are the rule.
 */

export type CallStatus = 'open' | 'answered' | 'not_sent' | 'unknown';

/** A government call, as far as committing its end needs it. */
export interface CallRow extends CaptureKey {
  /** Workflow run id and activity id: every attempt of one activity has the same. */
  readonly id: string;
  readonly startedAt: number;
  readonly service: string;
  readonly kind: string;
  readonly fromNsu: Nsu | null;
  readonly status: CallStatus;
  /** After this no answer can come any more. */
  readonly deadline: number;
  /** Where the answer's object stands, if there is one. */
  readonly archiveKey: string;
  readonly outcome: OutcomeKind | null;
  readonly statusCode: string | null;
  /** Items of the answer that are documents now. */
  readonly documents: number;
  /** The bytes of a small answer; of any answer while the call is open and the object store does not take it. */
  readonly body: Buffer | null;
  /** This call found out whether a paused service answers again. */
  readonly isProbe: boolean;
}

const CALL_COLUMNS = `l.id, l.started_at as "startedAt", l.company_id as "companyId", l.document_type as "documentType",
  l.environment, l.service, l.kind, ${nsuColumn('l.from_nsu', 'fromNsu')}, l.status, l.deadline,
  l.archive_key as "archiveKey", l.outcome, l.status_code as "statusCode", l.documents, l.body,
  exists (select from services s where s.service = l.service and s.environment = l.environment and s.probe_call_id = l.id)
    as "isProbe"`;

/** The calls of these ids that began after `since` (the log is partitioned by that time). */
export async function findCalls(db: Queryable, ids: readonly string[], since: number): Promise<CallRow[]> {
  const { rows } = await db.query<CallRow>(
    `select ${CALL_COLUMNS} from calls l where l.id = any($1) and l.started_at > $2`,
    [ids, instant(since)],
  );
  return rows;
}

/** The row as it is now. Null: it was swept away. */
export async function getCall(db: Queryable, call: Pick<CallRow, 'id' | 'startedAt'>): Promise<CallRow | null> {
  const { rows } = await db.query<CallRow>(
    `select ${CALL_COLUMNS} from calls l where l.id = $1 and l.started_at = $2`,
    [call.id, instant(call.startedAt)],
  );
  return rows[0] ?? null;
}

/** Whose a point call is, and what an earlier commit of it returned. */
export async function pointCallFacts(
  db: Queryable,
  call: Pick<CallRow, 'id' | 'startedAt'>,
): Promise<{ readonly origin: PointOrigin; readonly result: unknown }> {
  const { rows } = await db.query<{ origin: PointOrigin; result: unknown }>(
    'select origin, result from calls where id = $1 and started_at = $2',
    [call.id, instant(call.startedAt)],
  );
  return rows[0] ?? { origin: 'reprocess', result: null };
}

/** What the lease watch reads every few seconds. */
export async function isOpen(db: Queryable, call: Pick<CallRow, 'id' | 'startedAt'>): Promise<boolean> {
  const { rows } = await db.query(`select from calls where id = $1 and started_at = $2 and status = 'open'`, [
    call.id,
    instant(call.startedAt),
  ]);
  return rows.length === 1;
}

/** What is known of a call before it is made. */
export type NewCall = Pick<
  CallRow,
  keyof CaptureKey | 'id' | 'startedAt' | 'service' | 'kind' | 'fromNsu' | 'deadline' | 'archiveKey'
>;

/**
 * Writes the row of a distribution call and gives it the capture's lease, in one statement. The caller holds the capture's
 * row and has asked every question of the guard.
 */
export async function insertDistributionCall(tx: Transaction, call: NewCall): Promise<void> {
  await insertLeased(tx, call, { fences: true, origin: 'distribution' });
}

/** A call of a second pass over numbers that did not come: a page like others, but the cursor stays where it is. */
export const SECOND_PASS = 'pass';

/** NFS-e asked for by key: the note, and its events. No quota counts them. */
export const ON_DEMAND_KINDS = { note: 'nfseByKey', events: 'nfseEvents' } as const;

const POINT_KINDS: readonly string[] = ['consNSU', 'consChNFe', ...Object.values(ON_DEMAND_KINDS)];

/** Whether a call asks for one document outside the sequence. */
export function isPointCall({ kind }: Pick<CallRow, 'kind'>): boolean {
  return POINT_KINDS.includes(kind);
}

/** Which origin the documents of a point call get. */
export type PointOrigin = Extract<Origin, 'recovery' | 'reprocess' | 'on_demand'>;

/**
 * As {@link insertDistributionCall}, for a point call: the lease is the same, so that a tax ID has one call in the air, but the last
 * distribution call stays the one whose late page may still be committed.
 */
export async function insertPointCall(tx: Transaction, call: NewCall, origin: PointOrigin): Promise<void> {
  await insertLeased(tx, call, { fences: false, origin });
}

async function insertLeased(
  tx: Transaction,
  call: NewCall,
  { fences, origin }: { readonly fences: boolean; readonly origin: Origin },
): Promise<void> {
  await tx.query(
    `with leased as (
       update captures set call_id = $4, distribution_call_id = case when $11 then $4 else distribution_call_id end,
         call_deadline = $9
       where company_id = $1 and document_type = $2 and environment = $3
     )
     insert into calls (company_id, document_type, environment, id, started_at, service, kind, from_nsu, deadline, archive_key, origin)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $12)`,
    [...callValues(call), fences, origin],
  );
}

/** Writes the row of a call that needs no lease of the capture: what it carries is leased by itself. */
export async function insertCall(tx: Transaction, call: NewCall): Promise<void> {
  await tx.query(
    `insert into calls (company_id, document_type, environment, id, started_at, service, kind, from_nsu, deadline, archive_key)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    callValues(call),
  );
}

/** The ten columns of a new row, in the order in which both statements above name them. */
function callValues(call: NewCall): unknown[] {
  return [
    ...captureValues(call),
    call.id,
    instant(call.startedAt),
    call.service,
    call.kind,
    call.fromNsu,
    instant(call.deadline),
    call.archiveKey,
  ];
}

/** How a call ended. */
export interface Settlement {
  readonly status: Exclude<CallStatus, 'open'>;
  readonly outcome: OutcomeKind;
  readonly statusCode: string | null;
  readonly statusText: string | null;
  readonly settledAt: number;
  /** Arrival of the answer; null when none came. */
  readonly answeredAt: number | null;
  readonly ultNsu: Nsu | null;
  readonly maxNsu: Nsu | null;
  readonly documents: number;
  readonly archiveId: string | null;
  readonly body: Uint8Array | null;
  /** A point call that returned a document. Default false. */
  readonly granted?: boolean;
  /** What the activity returns, as JSON, for a later attempt of it. */
  readonly result?: unknown;
  /**
   * How long the capture's lease lasts on. Null: it ends now. An instant: another process may still hold the connection of this call,
   * and lets go by then.
   */
  readonly leaseUntil: number | null;
}

/** Writes how the call ended. A row found `unknown` may still become `answered` (a late answer); no other row changes again. */
export async function settleCall(tx: Transaction, call: CallRow, end: Settlement): Promise<void> {
  await tx.query(
    `with released as (
       update captures set call_deadline = case when $15::timestamptz is null then null else least(call_deadline, $15::timestamptz) end
       where company_id = $3 and document_type = $4 and environment = $5 and call_id = $1
         and call_deadline is not null
     )
     update calls set status = $6::text, outcome = $7, status_code = $8, status_text = $9, settled_at = $10::timestamptz, answered_at = $11::timestamptz,
       duration_ms = least(extract(epoch from coalesce($11::timestamptz, $10::timestamptz) - started_at) * 1000, 2147483647),
       ult_nsu = $12, max_nsu = $13, documents = $14, archive_id = $16, body = $17, granted = $18, result = $19
     where id = $1 and started_at = $2 and (status = 'open' or (status = 'unknown' and $6::text = 'answered'))`,
    [
      call.id,
      instant(call.startedAt),
      ...captureValues(call),
      end.status,
      end.outcome,
      end.statusCode,
      end.statusText,
      instant(end.settledAt),
      instant(end.answeredAt),
      end.ultNsu,
      end.maxNsu,
      end.documents,
      instant(end.leaseUntil),
      end.archiveId,
      end.body,
      end.granted ?? false,
      end.result === undefined ? null : JSON.stringify(end.result),
    ],
  );
}

/** Keeps an answer that the object store does not take, until it does. False: the call is settled already. */
export async function holdAnswer(db: Queryable, call: CallRow, body: Uint8Array): Promise<boolean> {
  const { rowCount } = await db.query(
    `update calls set body = $3 where id = $1 and started_at = $2 and status in ('open', 'unknown')`,
    [call.id, instant(call.startedAt), body],
  );
  return rowCount === 1;
}
