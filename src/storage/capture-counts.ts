import type { CaptureKey } from '../model/words.js';
import type { Queryable } from './database.js';
import { instant } from './database.js';
import { slotsLateral } from './point-quota.js';

/** What the API's capture state shows besides the row. */
export interface CaptureCounts {
  /** Items that could not be decoded and still wait for it. */
  readonly failedItems: number;
  /** Recovery items and ranges by status; a status without any is absent. */
  readonly gaps: Readonly<Record<string, number>>;
  /** Point queries that returned a document, or may have, within the sliding window. */
  readonly pointQueries: { readonly used: number; readonly oldestAt: number | null };
}

/**
 * Counts for each of the captures, in their order.
 *
 * @param since start of the quota's sliding window: now − 1 h, divided by the time scale
 */
export async function countCaptures(
  db: Queryable,
  captures: readonly CaptureKey[],
  since: number,
): Promise<CaptureCounts[]> {
  const { rows } = await db.query<{
    failedItems: number;
    gaps: Record<string, number> | null;
    used: number;
    oldestAt: number | null;
  }>(
    `select failed.count as "failedItems", gaps.counts as gaps, points.used, points."oldestAt"
     from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality as c (company_id, document_type, environment, position)
     cross join lateral (
       select count(*)::int from failed_items f
       where f.company_id = c.company_id and f.document_type = c.document_type and f.environment = c.environment
         and f.resolved_at is null) failed
     cross join lateral (
       select jsonb_object_agg(status, count) as counts from (
         select status, count(*) from gaps g
         where g.company_id = c.company_id and g.document_type = c.document_type and g.environment = c.environment
         group by status) by_status) gaps
     cross join lateral (${slotsLateral('$4')}) points
     order by c.position`,
    [
      captures.map(({ companyId }) => companyId),
      captures.map(({ documentType }) => documentType),
      captures.map(({ environment }) => environment),
      instant(since),
    ],
  );
  return rows.map(({ failedItems, gaps, used, oldestAt }) => ({
    failedItems,
    gaps: gaps ?? {},
    pointQueries: { used, oldestAt },
  }));
}
