import type { DocumentType } from '../model/words.js';
import type { Queryable, Transaction } from './database.js';
import { instant } from './database.js';

/** An event to be stored, as `src/webhooks/body.ts` prepares it. */
interface NewEvent {
  /** `evt_` and the 32 hexadecimal digits of a version 7 UUID. */
  readonly id: string;
  readonly type: string;
  readonly action: string;
  readonly documentType: DocumentType | null;
  readonly documentId: string | null;
  /** The bytes that are signed and sent, made once. */
  readonly body: (sequence: number) => string;
}

/** Events of one company, to be numbered and delivered. */
export interface NewEvents {
  readonly companyId: string;
  /** Milliseconds. */
  readonly at: number;
  readonly events: readonly NewEvent[];
}

/**
 * Stores events of one company and one pending delivery for each endpoint that wants them, in the transaction of whatever they
 * tell of. Gives out the next sequence numbers in the order of `events`. Call it last in the transaction: from here to the commit the company's row is
 * locked, so that a reader of the feed never sees 8 before 7, and other pages of the company wait. Endpoint rows are only read.
 *
 * @returns the enabled endpoints that got something; wake them after the commit
 */
export async function insertEvents(tx: Transaction, { companyId, at, events }: NewEvents): Promise<string[]> {
  if (events.length === 0) return [];
  const before = await takeSequences(tx, companyId, events.length);
  const sequences = events.map((_, i) => before + 1 + i);
  const { rows } = await tx.query<{ endpointId: string }>(STORE_AND_FAN_OUT, [
    companyId,
    instant(at),
    before,
    events.map((event) => event.id),
    sequences,
    events.map((event) => event.type),
    events.map((event) => event.action),
    events.map((event) => event.documentType),
    events.map((event) => event.documentId),
    events.map((event, i) => event.body(before + 1 + i)),
  ]);
  return rows.map((row) => row.endpointId);
}

/** The last sequence given before ours. */
async function takeSequences(tx: Transaction, companyId: string, count: number): Promise<number> {
  const { rows } = await tx.query<{ before: string }>(
    `update companies set event_sequence = event_sequence + $2 where id = $1 returning event_sequence - $2 as before`,
    [companyId, count],
  );
  if (!rows[0]) throw new Error(`company ${companyId} does not exist: its events cannot be stored`);
  return Number(rows[0].before);
}

/**
 * Endpoints that may want a company's events, as a table for a join with {@link WANTS}. Two branches, so that each uses its index:
 * there may be an endpoint per capture.
 *
 * @param company SQL of the company's id
 */
export function endpointsOf(company: string): string {
  const columns = 'select id, status, events, document_types from endpoints';
  return `(${columns} where company_ids is null and deleted_at is null
    union all ${columns} where company_ids @> array[${company}]::uuid[] and deleted_at is null)`;
}

/** Whether endpoint `p` wants event `e`. An alert about no document type in particular goes to endpoints of every type. */
export const WANTS = `(p.events is null or e.type = any (p.events))
  and (p.document_types is null or e.document_type is null or e.document_type = any (p.document_types))`;

/**
 * An id for a delivery that sorts like its event's: time and counter of the event's UUID, then 40 random bits. Deliveries of
 * one page are due at the same instant and start in the order of their ids.
 */
export const DELIVERY_ID = `(substr(e.id, 5, 22) || right(replace(gen_random_uuid()::text, '-', ''), 10))::uuid`;

// Another page of the company may have read the clock after us, or in the same millisecond, and committed before us: our events are
// always later than the one before them.
const STORE_AND_FAN_OUT = `
  with moment as (
    select greatest($2::timestamptz, (
      select created_at + interval '1 millisecond' from events where company_id = $1 and sequence = $3)) as at
  ), e as (
    select * from unnest($4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::uuid[], $10::text[])
      as given (id, sequence, type, action, document_type, document_id, body)
  ), stored as (
    insert into events (id, company_id, sequence, type, action, document_type, document_id, body, created_at)
    select id, $1, sequence, type, action, document_type, document_id, body, at from e, moment
  ), wanted as (
    select e.id, ${DELIVERY_ID} as delivery_id, p.id as endpoint_id, p.status from e join ${endpointsOf('$1')} as p on ${WANTS}
  ), queued as (
    insert into deliveries (id, event_id, endpoint_id, company_id, status, next_attempt_at, created_at)
    select delivery_id, wanted.id, endpoint_id, $1, 'pending', at, at from wanted, moment
  )
  select distinct endpoint_id as "endpointId" from wanted where status = 'enabled'`;

/** An event as the feed gives it. */
export interface FeedEvent {
  readonly sequence: number;
  /** The body as every webhook of this event carries it. */
  readonly body: string;
}

/**
 * The pull feed: events of a company after a sequence, in order. Whoever has seen a sequence has been shown everything before it
 * that is still kept (90 days).
 *
 * @param after 0 for the beginning
 */
export async function feedEvents(db: Queryable, companyId: string, after: number, limit: number): Promise<FeedEvent[]> {
  const { rows } = await db.query<{ sequence: string; body: string }>(
    `select sequence, body from events where company_id = $1 and sequence > $2 and body <> '' order by sequence limit $3`,
    [companyId, after, limit],
  );
  return rows.map(({ sequence, body }) => ({ sequence: Number(sequence), body }));
}
