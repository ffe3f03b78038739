import type { Nsu } from '../model/nsu.js';
import type { CaptureKey } from '../model/words.js';
import { nsuColumn } from './capture-rows.js';
import type { Queryable } from './database.js';
import { instant } from './database.js';

/** What the nightly look finds: numbers that nothing is known of, and recovery items whose time has come or is over. */

/** Active captures after a key, in the order of their keys. */
export async function activeCaptures(db: Queryable, after: CaptureKey | null, limit: number): Promise<CaptureKey[]> {
  const { rows } = await db.query<CaptureKey>(
    `select company_id as "companyId", document_type as "documentType", environment from captures
     where enabled and ($1::uuid is null or (company_id, document_type, environment) > ($1, $2, $3))
     order by company_id, document_type, environment limit $4`,
    [after?.companyId ?? null, after?.documentType ?? '', after?.environment ?? '', limit],
  );
  return rows;
}

/** Both ends included. */
export interface MissingRange extends CaptureKey {
  readonly from: Nsu;
  readonly to: Nsu;
}

const keyColumns = (captures: readonly CaptureKey[]) => [
  captures.map(({ companyId }) => companyId),
  captures.map(({ documentType }) => documentType),
  captures.map(({ environment }) => environment),
];

const CAPTURES = 'unnest($1::uuid[], $2::text[], $3::text[]) as c (company_id, document_type, environment)';
const SAME = (one: string, other: string) =>
  `${one}.company_id = ${other}.company_id and ${one}.document_type = ${other}.document_type and ${one}.environment = ${other}.environment`;

/**
 * Numbers of these captures between the first that came in sequence after `since` and the cursor, that are neither a document, nor a failed
 * item, nor part of a recovery item or range. One statement, so that a page being committed is seen whole or not at all.
 *
 * @param since milliseconds; 0: from the first page on
 */
export async function missingRanges(
  db: Queryable,
  captures: readonly CaptureKey[],
  since: number,
): Promise<MissingRange[]> {
  const { rows } = await db.query<MissingRange>(
    `with bounds as (
       select c.*, k.ult_nsu as high, (
         select min(nsu) from documents d where ${SAME('d', 'c')} and d.origin = 'distribution' and d.captured_at > $4) as low
       from ${CAPTURES} join captures k on ${SAME('k', 'c')}
     ), known as (
       select b.company_id, b.document_type, b.environment, b.high, d.nsu as first, d.nsu as last
       from bounds b join documents d on ${SAME('d', 'b')} and d.nsu between b.low and b.high
       union all
       select b.company_id, b.document_type, b.environment, b.high, f.nsu, f.nsu
       from bounds b join failed_items f on ${SAME('f', 'b')} and f.nsu between b.low and b.high and f.resolved_at is null
       union all
       select b.company_id, b.document_type, b.environment, b.high, g.from_nsu, g.to_nsu
       from bounds b join gaps g on ${SAME('g', 'b')} and g.to_nsu >= b.low and g.from_nsu <= b.high
       union all
       select company_id, document_type, environment, high, high + 1, high + 1 from bounds where low is not null
     ), steps as (
       select *, max(last) over (partition by company_id, document_type, environment order by first, last
         rows between unbounded preceding and 1 preceding) as reached from known
     )
     select company_id as "companyId", document_type as "documentType", environment,
       ${nsuColumn('(reached + 1)', 'from')}, ${nsuColumn('(first - 1)', 'to')}
     from steps where first > reached + 1 order by 1, 2, 3, reached`,
    [...keyColumns(captures), instant(since)],
  );
  return rows;
}

/** Second passes begin at their captures' next permitted query, instead of waiting for the night that they were put off to. Gives how many gaps. */
export async function duePasses(db: Queryable, captures: readonly CaptureKey[], now: number): Promise<number> {
  const { rowCount } = await db.query(
    `update gaps g set next_attempt_at = $4 from ${CAPTURES}
     where ${SAME('g', 'c')} and g.means = 'pass' and g.status = 'pending' and g.next_attempt_at > $4`,
    [...keyColumns(captures), instant(now)],
  );
  return rowCount;
}

/** Items that rested are due again, with a new series of attempts. Says whose. */
export async function reopenExhausted(
  db: Queryable,
  captures: readonly CaptureKey[],
  now: number,
): Promise<{ items: number; captures: CaptureKey[] }> {
  const { rows } = await db.query<CaptureKey>(
    `update gaps g set status = 'pending', attempts = 0, next_attempt_at = $4 from ${CAPTURES}
     where ${SAME('g', 'c')} and g.status = 'exhausted'
     returning g.company_id as "companyId", g.document_type as "documentType", g.environment`,
    [...keyColumns(captures), instant(now)],
  );
  return { items: rows.length, captures: rows };
}

/** Gives up what the government does not keep any more. */
export async function expireGaps(
  db: Queryable,
  captures: readonly CaptureKey[],
  { now, before }: { readonly now: number; readonly before: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `update gaps g set status = 'expired', resolved_at = $4, next_attempt_at = null from ${CAPTURES}
     where ${SAME('g', 'c')} and g.status in ('pending', 'exhausted', 'awaiting_confirmation') and g.created_at <= $5`,
    [...keyColumns(captures), instant(now), instant(before)],
  );
  return rowCount;
}
