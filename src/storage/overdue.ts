import type { CaptureKey } from '../model/words.js';
import type { Queryable } from './database.js';
import { instant } from './database.js';

/** Captures and endpoints that should have moved by themselves and did not: their run was lost, or a signal was. */

/** Phases that wait for people or for the host, not for a time. A run lost in one of them is started by whoever ends the wait. */
const WAITS_FOR_PEOPLE = ['certificate', 'disabled', 'attention', 'handing-over'];

/** Longest spread after a service's pause: captures that wait in it are late on purpose. */
const LONGEST_SPREAD = '1 hour';

/** Captures `c` with the row `s` of their service. */
export const OVERDUE_CAPTURES = `captures c
  left join services s on s.service = c.document_type || '-distribution' and s.environment = c.environment`;

/**
 * Enabled captures whose next query was due before an instant. Not those that are held by a person, that wait for people, that have a
 * call in hand, or whose service is paused or was within the last hour.
 *
 * @param now @param before SQL of instants
 */
export function isOverdue(now: string, before: string): string {
  return `c.enabled and c.phase not in (${WAITS_FOR_PEOPLE.map((phase) => `'${phase}'`).join(', ')})
    and (c.not_before < ${before} or (c.not_before is null and c.updated_at < ${before}))
    and coalesce(to_timestamp((c.state ->> 'nextQueryAt')::float8 / 1000), c.updated_at) < ${before}
    and (c.held_until is null or c.held_until < ${before})
    and (c.call_deadline is null or c.call_deadline < ${now})
    and s.paused_until is null
    and (s.last_paused_until is null or s.last_paused_until < ${now}::timestamptz - interval '${LONGEST_SPREAD}')`;
}

/**
 * Overdue captures, longest overdue first.
 *
 * @param before milliseconds
 */
export async function overdueCaptures(
  db: Queryable,
  now: number,
  before: number,
  limit: number,
): Promise<CaptureKey[]> {
  const { rows } = await db.query<CaptureKey>(
    `select c.company_id as "companyId", c.document_type as "documentType", c.environment from ${OVERDUE_CAPTURES}
     where ${isOverdue('$1', '$2')} order by c.not_before limit $3`,
    [instant(now), instant(before), limit],
  );
  return rows;
}

/** Enabled endpoints with deliveries that were due before `before`, or whose sender's lease ran out then. */
export async function overdueEndpoints(db: Queryable, before: number, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select e.id from endpoints e
     where e.status = 'enabled' and e.deleted_at is null and exists (
       select from deliveries d where d.endpoint_id = e.id and d.status = 'pending' and d.next_attempt_at < $1
         and (d.leased_until is null or d.leased_until < $1))
     limit $2`,
    [instant(before), limit],
  );
  return rows.map((row) => row.id);
}
