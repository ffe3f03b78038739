import type { Queryable } from './database.js';
import { instant } from './database.js';

/** Names one request that a caller may repeat: the API key, method and path, and the caller's Idempotency-Key. */
export interface IdempotencyKey {
  readonly scope: string;
  readonly key: string;
}

/** What is known of a request with this Idempotency-Key. */
export type IdempotencyAnswer =
  /** Nobody has done it: the caller does, and then finishes or abandons it. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'in_flight' }
  /** The same key came with another request before. */
  | { readonly kind: 'other_request' }
  /** `answer` as it was stored: sealed under the master key. */
  | { readonly kind: 'finished'; readonly status: number; readonly answer: Buffer };

/** A request that has not finished after this long died with its process: the next repeat may take its place. Milliseconds. */
const IN_FLIGHT_LIMIT_MS = 5 * 60_000;

/** @param requestMac keyed hash of the request; the request itself is not kept */
export async function beginIdempotent(
  db: Queryable,
  { scope, key }: IdempotencyKey,
  requestMac: string,
  now: number,
): Promise<IdempotencyAnswer> {
  const { rowCount } = await db.query(
    `insert into idempotency as i (scope, key, request_mac, created_at) values ($1, $2, $3, $4)
     on conflict (scope, key) do update set created_at = excluded.created_at
       where i.status is null and i.request_mac = excluded.request_mac and i.created_at < $5`,
    [scope, key, requestMac, instant(now), instant(now - IN_FLIGHT_LIMIT_MS)],
  );
  if (rowCount === 1) return { kind: 'begun' };
  const { rows } = await db.query<{ requestMac: string; status: number | null; answer: Buffer | null }>(
    'select request_mac as "requestMac", status, answer from idempotency where scope = $1 and key = $2',
    [scope, key],
  );
  const [found] = rows;
  // Abandoned between the two statements: as good as in flight, the caller tries again.
  if (!found) return { kind: 'in_flight' };
  if (found.requestMac !== requestMac) return { kind: 'other_request' };
  if (found.status === null || found.answer === null) return { kind: 'in_flight' };
  return { kind: 'finished', status: found.status, answer: found.answer };
}

/** Keeps the answer for repeats. */
export async function finishIdempotent(
  db: Queryable,
  { scope, key }: IdempotencyKey,
  status: number,
  answer: Uint8Array,
): Promise<void> {
  await db.query('update idempotency set status = $3, answer = $4 where scope = $1 and key = $2', [
    scope,
    key,
    status,
    answer,
  ]);
}

/** The request failed in a way that a repeat may mend: it counts as never made. */
export async function abandonIdempotent(db: Queryable, { scope, key }: IdempotencyKey): Promise<void> {
  await db.query('delete from idempotency where scope = $1 and key = $2 and status is null', [scope, key]);
}
