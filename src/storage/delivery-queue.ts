import type { Queryable } from './database.js';
import { instant } from './database.js';

/** The sender's side of deliveries: take what is due, say how it went. All instants are milliseconds of the one clock. */

export interface LeasedDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly companyId: string;
  readonly body: string;
  /** Made since it was last queued. */
  readonly attempts: number;
  readonly firstAttemptAt: number | null;
}

/** Whose deliveries, how many, and for how long. */
export interface LeaseRequest {
  readonly endpointId: string;
  /** Names this sender's lease; every later word about these deliveries must carry it. */
  readonly leaseId: string;
  readonly now: number;
  /** Until then nobody else takes them. */
  readonly until: number;
  readonly limit: number;
}

/**
 * Takes due deliveries of one endpoint, in the order in which they are to be started. Rows that another sender is just taking are
 * passed over, rows of a lease that has run out are taken again: their sender is dead or has let go.
 */
export async function leaseDue(db: Queryable, request: LeaseRequest): Promise<LeasedDelivery[]> {
  const { rows } = await db.query<Omit<LeasedDelivery, 'body'> & { body: string | null }>(
    `with due as (
       select id from deliveries
       where endpoint_id = $1 and status = 'pending' and next_attempt_at <= $2 and (leased_until is null or leased_until <= $2)
       order by next_attempt_at, id limit $3
       for update skip locked
     ), leased as (
       update deliveries d set lease_id = $4, leased_until = $5 from due where d.id = due.id
       returning d.id, d.event_id, d.company_id, d.attempts, d.first_attempt_at, d.next_attempt_at
     )
     select l.id, l.event_id as "eventId", l.company_id as "companyId", nullif(e.body, '') as body, l.attempts,
       l.first_attempt_at as "firstAttemptAt"
     from leased l left join events e on e.id = l.event_id order by l.next_attempt_at, l.id`,
    [request.endpointId, instant(request.now), request.limit, request.leaseId, instant(request.until)],
  );
  const expired = rows.filter((row) => row.body === null).map((row) => row.id);
  if (expired.length > 0) await cancelExpired(db, expired);
  return rows.filter((row): row is LeasedDelivery => row.body !== null);
}

/** Bodies are kept for 90 days; a delivery that was held for longer has nothing left to send. */
async function cancelExpired(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.query(
    `update deliveries set status = 'cancelled', lease_id = null, leased_until = null,
       last_error = 'expired: the event is no longer kept' where id = any ($1::uuid[])`,
    [ids],
  );
}

/** One attempt as it is kept, and what follows from it. */
export interface RecordedAttempt {
  readonly deliveryId: string;
  readonly at: number;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly response: string | null;
  readonly status: 'delivered' | 'pending' | 'exhausted';
  /** Of `pending`. */
  readonly nextAttemptAt: number | null;
}

/**
 * Logs attempts and moves their deliveries on, in one statement. A delivery whose lease has meanwhile gone to another sender is only
 * touched by a success: that is true whoever reports it.
 */
export async function recordAttempts(
  db: Queryable,
  leaseId: string,
  attempts: readonly RecordedAttempt[],
): Promise<void> {
  if (attempts.length === 0) return;
  await db.query(
    `with a as (
       select * from unnest($2::uuid[], $3::timestamptz[], $4::int[], $5::int[], $6::text[], $7::text[], $8::text[], $9::timestamptz[])
         as given (delivery_id, at, duration_ms, status_code, error, response, status, next_attempt_at)
     ), logged as (
       insert into delivery_attempts (delivery_id, at, duration_ms, status_code, error, response)
       select delivery_id, at, duration_ms, status_code, error, response from a order by at
     )
     update deliveries d set
       status = a.status, attempts = d.attempts + 1, first_attempt_at = coalesce(d.first_attempt_at, a.at),
       next_attempt_at = a.next_attempt_at, lease_id = null, leased_until = null,
       last_status_code = a.status_code, last_error = a.error,
       delivered_at = case when a.status = 'delivered' then a.at + make_interval(secs => a.duration_ms / 1000.0) end
     from a where d.id = a.delivery_id and d.status = 'pending' and (d.lease_id = $1 or a.status = 'delivered')`,
    [
      leaseId,
      attempts.map((a) => a.deliveryId),
      attempts.map((a) => instant(a.at)),
      attempts.map((a) => a.durationMs),
      attempts.map((a) => a.statusCode),
      attempts.map((a) => a.error),
      attempts.map((a) => a.response),
      attempts.map((a) => a.status),
      attempts.map((a) => instant(a.nextAttemptAt)),
    ],
  );
}

/** Gives back what this sender took and did not start. */
export async function releaseLeases(db: Queryable, leaseId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db.query(
    'update deliveries set lease_id = null, leased_until = null where id = any ($2::uuid[]) and lease_id = $1',
    [leaseId, ids],
  );
}

/** When the endpoint's next delivery is due, or another sender's lease on a due one runs out. Null: nothing is pending. */
export async function nextDueAt(db: Queryable, endpointId: string, now: number): Promise<number | null> {
  const pending = `from deliveries where endpoint_id = $1 and status = 'pending'`;
  const { rows } = await db.query<{ at: number | null }>(
    `select least(
       (select next_attempt_at ${pending} and (leased_until is null or leased_until <= $2) order by next_attempt_at limit 1),
       (select min(leased_until) ${pending} and next_attempt_at <= $2 and leased_until > $2)
     ) as at`,
    [endpointId, instant(now)],
  );
  return rows[0]?.at ?? null;
}
