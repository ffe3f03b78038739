import type { DeliveryStatus, DocumentType } from '../model/words.js';
import type { Queryable } from './database.js';
import { instant } from './database.js';
import { DELIVERY_ID, endpointsOf, WANTS } from './events.js';
import { Filter } from './filter.js';
import type { Page, PageRequest } from './keyset.js';
import { pageOf, readCursor } from './keyset.js';

/** Deliveries as people see them, and sending again. What the sender does with them: delivery-queue.ts. */

/** One event on its way to one endpoint. */
export interface DeliveryRow {
  readonly id: string;
  /** The `webhook-id`. */
  readonly eventId: string;
  readonly endpointId: string;
  readonly companyId: string;
  readonly type: string | null;
  readonly action: string | null;
  readonly documentId: string | null;
  readonly status: DeliveryStatus;
  /** Since it was last queued; every attempt ever made is in {@link listAttempts}. */
  readonly attempts: number;
  readonly nextAttemptAt: number | null;
  readonly lastStatusCode: number | null;
  readonly lastError: string | null;
  readonly createdAt: number;
  readonly deliveredAt: number | null;
}

/** One try of a delivery. */
export interface AttemptRow {
  readonly at: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  /** First bytes of the answer. */
  readonly response: string | null;
}

export interface DeliveryFilter {
  readonly endpointId?: string | undefined;
  readonly companyId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly documentId?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
  /** The companies that an API key may see; undefined: all. */
  readonly visible?: readonly string[] | undefined;
}

const STATUS = `case when d.status = 'pending' and p.status = 'disabled' then 'held' else d.status end`;
const SELECT = `
  select d.id, d.event_id as "eventId", d.endpoint_id as "endpointId", d.company_id as "companyId", e.type, e.action,
    e.document_id as "documentId", ${STATUS} as status, d.attempts,
    case when d.status = 'pending' then d.next_attempt_at end as "nextAttemptAt",
    d.last_status_code as "lastStatusCode", d.last_error as "lastError", d.created_at as "createdAt", d.delivered_at as "deliveredAt"
  from deliveries d left join events e on e.id = d.event_id left join endpoints p on p.id = d.endpoint_id`;

/** Newest first. @throws {InvalidCursor} */
export async function listDeliveries(
  db: Queryable,
  filter: DeliveryFilter,
  { limit, cursor }: PageRequest,
): Promise<Page<DeliveryRow>> {
  const position = readCursor(cursor, ['instant', 'uuid']);
  const where = new Filter()
    .add(filter.endpointId, (v) => `d.endpoint_id = ${v}`)
    .add(filter.companyId, (v) => `d.company_id = ${v}`)
    .add(filter.eventId, (v) => `d.event_id = ${v}`)
    .add(filter.documentId, (v) => `e.document_id = ${v}`)
    .add(filter.status, (v) => `${STATUS} = ${v}`)
    .add(filter.visible, (v) => `d.company_id = any (${v}::uuid[])`)
    .after(position, 'd.created_at, d.id', '<');
  const { rows } = await db.query<DeliveryRow>(
    `${SELECT} ${where.where} order by d.created_at desc, d.id desc limit ${limit + 1}`,
    where.values,
  );
  return pageOf(rows, limit, (row) => [row.createdAt, row.id]);
}

/** The delivery of this id, or null. */
export async function getDelivery(db: Queryable, id: string): Promise<DeliveryRow | null> {
  const { rows } = await db.query<DeliveryRow>(`${SELECT} where d.id = $1`, [id]);
  return rows[0] ?? null;
}

/** Every attempt of a delivery that is still kept, oldest first. */
export async function listAttempts(db: Queryable, deliveryId: string): Promise<AttemptRow[]> {
  const { rows } = await db.query<AttemptRow>(
    `select at, status_code as "statusCode", error, duration_ms as "durationMs", response
     from delivery_attempts where delivery_id = $1 order by id`,
    [deliveryId],
  );
  return rows;
}

/** What was queued again. */
export interface Resent {
  /** Deliveries, not events: an event that two endpoints want counts twice. */
  readonly count: number;
  /** The enabled ones among their endpoints; wake them. */
  readonly endpointIds: readonly string[];
}

/** Queued again: due now, with a fresh 3 days. The id of the event and the log of attempts stay. A lease that is held runs on. */
const AGAIN = `status = 'pending', attempts = 0, first_attempt_at = null, delivered_at = null`;

/**
 * Sends one delivery again, to its own endpoint only. Null: there is none, its endpoint was deleted, or its event's body is no
 * longer kept.
 */
export async function resendDelivery(db: Queryable, id: string, at: number): Promise<Resent | null> {
  const { rows } = await db.query<{ endpointId: string; status: string }>(
    `update deliveries d set ${AGAIN}, next_attempt_at = $2 from endpoints p, events e
     where d.id = $1 and p.id = d.endpoint_id and p.deleted_at is null and e.id = d.event_id and e.body <> ''
     returning p.id as "endpointId", p.status`,
    [id, instant(at)],
  );
  const [row] = rows;
  if (!row) return null;
  return { count: 1, endpointIds: row.status === 'enabled' ? [row.endpointId] : [] };
}

/** Sends a document's event again to every endpoint that wants it now. Zero where it never had one, or its body is no longer kept. */
export function resendDocument(db: Queryable, documentId: string, at: number): Promise<Resent> {
  return inOneGo(db, at, 'select * from events where document_id = $2', [documentId]);
}

/** Sends again what was told about an access key, its events included. `visible`: the companies that may be touched; undefined: all. */
export function resendKey(db: Queryable, key: string, at: number, visible?: readonly string[]): Promise<Resent> {
  return inOneGo(
    db,
    at,
    `select e.* from documents d join events e on e.document_id = d.id
     where d.key = $2 and ($3::uuid[] is null or d.company_id = any ($3))`,
    [key, visible ?? null],
  );
}

/** Of one company; `from` inclusive, `to` exclusive, by the events' `createdAt`. */
export interface ResendPeriod {
  readonly companyId: string;
  readonly from: number;
  readonly to: number;
  readonly documentType?: DocumentType | undefined;
}

/** Few enough events for one short statement. */
const BATCH = 2_000;

/**
 * Sends a company's events of a period again, in their order, to every endpoint that wants them now: also one that did not exist
 * then. In batches with a commit each; a repeat after a failure in between does no harm.
 */
export async function resendPeriod(db: Queryable, period: ResendPeriod, at: number): Promise<Resent> {
  const endpointIds = new Set<string>();
  let count = 0;
  for (let after: string | null = '0'; after !== null; ) {
    const values = [period.companyId, instant(period.from), instant(period.to), period.documentType ?? null, after];
    const batch = `select * from events where company_id = $2 and created_at >= $3 and created_at < $4
      and ($5::text is null or document_type = $5) and sequence > $6 order by sequence limit ${BATCH}`;
    const resent = await fanOutAgain(db, at, batch, values);
    for (const id of resent.endpointIds) endpointIds.add(id);
    count += resent.count;
    after = resent.lastOfBatch;
  }
  return { count, endpointIds: [...endpointIds] };
}

async function inOneGo(db: Queryable, at: number, events: string, values: readonly unknown[]): Promise<Resent> {
  const { count, endpointIds } = await fanOutAgain(db, at, events, values);
  return { count, endpointIds };
}

/**
 * @param events a statement that selects events; its parameters begin at $2
 * @returns also the last sequence of a full batch: there may be more
 */
async function fanOutAgain(
  db: Queryable,
  at: number,
  events: string,
  values: readonly unknown[],
): Promise<Resent & { lastOfBatch: string | null }> {
  const { rows } = await db.query<{ count: number; endpointIds: string[]; lastOfBatch: string | null }>(
    `with e as materialized (${events}), queued as (
       insert into deliveries (id, event_id, endpoint_id, company_id, status, next_attempt_at, created_at)
       select ${DELIVERY_ID}, e.id, p.id, e.company_id, 'pending', $1, $1
       from e join lateral ${endpointsOf('e.company_id')} as p on ${WANTS}
       where e.body <> ''
       on conflict (event_id, endpoint_id) do update set ${AGAIN}, next_attempt_at = excluded.next_attempt_at
       returning endpoint_id
     )
     select count(*)::int as count,
       coalesce(array_agg(distinct endpoint_id) filter (where p.status = 'enabled'), '{}') as "endpointIds",
       (select max(sequence) from e having count(*) = ${BATCH}) as "lastOfBatch"
     from queued join endpoints p on p.id = endpoint_id`,
    [instant(at), ...values],
  );
  return rows[0] ?? { count: 0, endpointIds: [], lastOfBatch: null };
}
