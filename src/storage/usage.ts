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
 * Counts documents as used. A document counts once, however often this is repeated.
 *
 * @param now its calendar month in UTC is the month of use
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
      firstOfMonth(new Date(now).toISOString().slice(0, 7)),
    ],
  );
}

export interface MonthlyUsage {
  readonly companyId: string;
  readonly documentType: DocumentType;
  readonly documents: number;
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
    `select company_id as "companyId", document_type as "documentType", count(*)::int as documents from usage_records
     ${where.where} group by company_id, document_type order by company_id, document_type limit ${limit + 1}`,
    where.values,
  );
  return pageOf(rows, limit, (row) => [row.companyId, row.documentType]);
}

const firstOfMonth = (month: string) => `${month}-01`;
