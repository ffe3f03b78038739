import type { DocumentKind } from '../model/document.js';
import type { DocumentType } from '../model/words.js';
import type { Queryable } from './database.js';
import { Filter } from './filter.js';
import type { Page, PageRequest } from './keyset.js';
import { pageOf, readCursor } from './keyset.js';

/** A document whose webhook became due. */
export interface UsageRecord {
  readonly documentId: string;
  readonly companyId: string;
  readonly documentType: DocumentType;
  readonly kind: DocumentKind;
}

/**
 * The month of use that an instant falls into, as `2026-11`. By the clock of Brasília, not UTC: bills and books of the companies that this
 * counts for close by it, and three hours of every month's last evening would be in the next one.
 */
export function monthOfUse(at: number): string {
  const { year, month } = Object.fromEntries(BRASILIA.formatToParts(at).map(({ type, value }) => [type, value]));
  return `${year}-${month}`;
}
const BRASILIA = new Intl.DateTimeFormat('en', { timeZone: 'America/Sao_Paulo', year: 'numeric', month: '2-digit' });

/**
 * Counts documents as used, each in the month in which its webhook became due. A document counts once, however often this is repeated.
 *
 * @param now milliseconds
 */
export async function recordUsage(db: Queryable, records: readonly UsageRecord[], now: number): Promise<void> {
  if (records.length === 0) return;
  await db.query(
    `insert into usage_records (document_id, company_id, document_type, kind, month)
     select *, $5::date from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[])
     on conflict (document_id) do nothing`,
    [
      records.map(({ documentId }) => documentId),
      records.map(({ companyId }) => companyId),
      records.map(({ documentType }) => documentType),
      records.map(({ kind }) => kind),
      firstOfMonth(monthOfUse(now)),
    ],
  );
}

/** How many documents of a type one company got in one month. */
export interface MonthlyUsage {
  readonly companyId: string;
  readonly documentType: DocumentType;
  readonly documents: number;
  /** The same by kind. */
  readonly kinds: Readonly<Record<string, number>>;
}

export interface UsageFilter {
  /** `2026-11` */
  readonly month: string;
  readonly companyId?: string | undefined;
  /** The companies that an API key may see; undefined: all. */
  readonly visible?: readonly string[] | undefined;
}

/** Documents per company and type, in the order of both. @throws {InvalidCursor} */
export async function monthlyUsage(
  db: Queryable,
  { month, companyId, visible }: UsageFilter,
  { limit, cursor }: PageRequest,
): Promise<Page<MonthlyUsage>> {
  const where = new Filter()
    .add(firstOfMonth(month), (v) => `month = ${v}`)
    .add(companyId, (v) => `company_id = ${v}`)
    .add(visible, (v) => `company_id = any(${v}::uuid[])`)
    .after(readCursor(cursor, ['uuid', 'text']), 'company_id, document_type', '>');
  const { rows } = await db.query<MonthlyUsage>(
    `with page as (
       select distinct company_id, document_type from usage_records ${where.where}
       order by company_id, document_type limit ${limit + 1})
     select p.company_id as "companyId", p.document_type as "documentType", sum(k.documents)::int as documents,
       jsonb_object_agg(k.kind, k.documents) as kinds
     from page p cross join lateral (
       select kind, count(*)::int as documents from usage_records u
       where u.month = $1 and u.company_id = p.company_id and u.document_type = p.document_type group by kind) k
     group by 1, 2 order by 1, 2`,
    where.values,
  );
  return pageOf(rows, limit, (row) => [row.companyId, row.documentType]);
}

const firstOfMonth = (month: string) => `${month}-01`;
