import type { Queryable, Transaction } from './database.js';
import { Filter } from './filter.js';
import type { Page, PageRequest } from './keyset.js';
import { pageOf, readCursor } from './keyset.js';

/** A company whose documents are captured. */
export interface CompanyRow {
  readonly id: string;
  /** CNPJ (14 characters, letters legal) or CPF (11 digits), without punctuation. */
  readonly taxId: string;
  /** First 8 characters of a CNPJ, the whole CPF. */
  readonly root: string;
  readonly name: string;
  /** Two letters. */
  readonly uf: string;
  readonly externalId: string | null;
  readonly tags: string[];
  readonly createdAt: number;
  /** When its erasure was asked for. */
  readonly deletingAt: number | null;
}

const COLUMNS = `id, tax_id as "taxId", root, name, uf, external_id as "externalId", tags,
  created_at as "createdAt", deleting_at as "deletingAt"`;

/** First 8 characters of a CNPJ (its branches share them), the whole of a CPF. */
export function taxIdRoot(taxId: string): string {
  return taxId.length === 14 ? taxId.slice(0, 8) : taxId;
}

/** As much of a tax ID as may be seen in logs, errors and Temporal. */
export function taxIdEnding(taxId: string): string {
  return taxId.slice(-4);
}

export interface NewCompany {
  readonly id: string;
  readonly taxId: string;
  readonly name: string;
  readonly uf: string;
  readonly externalId?: string | null;
  readonly tags?: readonly string[];
}

/** Adds a company. The same tax ID twice is an answer, not an error, and leaves a surrounding transaction usable. */
export async function createCompany(
  db: Queryable,
  company: NewCompany,
): Promise<{ ok: true; company: CompanyRow } | { ok: false; problem: 'company_exists' }> {
  const { rows } = await db.query<CompanyRow>(
    `insert into companies (id, tax_id, root, name, uf, external_id, tags) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (tax_id) do nothing returning ${COLUMNS}`,
    [
      company.id,
      company.taxId,
      taxIdRoot(company.taxId),
      company.name,
      company.uf,
      company.externalId ?? null,
      company.tags ?? [],
    ],
  );
  return rows[0] ? { ok: true, company: rows[0] } : { ok: false, problem: 'company_exists' };
}

/** The company of this id, or null. */
export async function getCompany(db: Queryable, id: string): Promise<CompanyRow | null> {
  const { rows } = await db.query<CompanyRow>(`select ${COLUMNS} from companies where id = $1`, [id]);
  return rows[0] ?? null;
}

/**
 * Orders about one company come one after the other: start a capture, store a certificate, delete it. Not by its row, which a page holds at
 * its end, after the capture's (docs/storage.md, "Order of locks"). Call it first in the transaction.
 */
export async function lockOrders(tx: Transaction, companyId: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`orders/${companyId}`]);
}

/** The company of this tax ID, in its plain form, or null. */
export async function findCompanyByTaxId(db: Queryable, taxId: string): Promise<CompanyRow | null> {
  const { rows } = await db.query<CompanyRow>(`select ${COLUMNS} from companies where tax_id = $1`, [taxId]);
  return rows[0] ?? null;
}

export interface CompanyFilter {
  readonly taxId?: string | undefined;
  readonly root?: string | undefined;
  readonly externalId?: string | undefined;
  readonly tag?: string | undefined;
  /** The companies that an API key may see; undefined: all. */
  readonly visible?: readonly string[] | undefined;
}

/** Newest first. @throws {InvalidCursor} */
export async function listCompanies(
  db: Queryable,
  filter: CompanyFilter,
  { limit, cursor }: PageRequest,
): Promise<Page<CompanyRow>> {
  const position = readCursor(cursor, ['instant', 'uuid']);
  const where = new Filter()
    .add(filter.taxId, (v) => `tax_id = ${v}`)
    .add(filter.root, (v) => `root = ${v}`)
    .add(filter.externalId, (v) => `external_id = ${v}`)
    .add(filter.tag === undefined ? undefined : [filter.tag], (v) => `tags @> ${v}::text[]`)
    .add(filter.visible, (v) => `id = any(${v}::uuid[])`)
    .after(position, 'created_at, id', '<');
  const { rows } = await db.query<CompanyRow>(
    `select ${COLUMNS} from companies ${where.where} order by created_at desc, id desc limit ${limit + 1}`,
    where.values,
  );
  return pageOf(rows, limit, (row) => [row.createdAt, row.id]);
}

/** What may be changed of a company; absent: stays. */
export interface CompanyPatch {
  readonly name?: string | undefined;
  readonly uf?: string | undefined;
  readonly externalId?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** Changes what the patch names. Null: no such company. A tax ID never changes. */
export async function patchCompany(db: Queryable, id: string, patch: CompanyPatch): Promise<CompanyRow | null> {
  const { rows } = await db.query<CompanyRow>(
    `update companies set
       name = coalesce($2, name),
       uf = coalesce($3, uf),
       external_id = case when $4 then $5 else external_id end,
       tags = coalesce($6, tags)
     where id = $1 returning ${COLUMNS}`,
    [
      id,
      patch.name ?? null,
      patch.uf ?? null,
      patch.externalId !== undefined,
      patch.externalId ?? null,
      patch.tags ?? null,
    ],
  );
  return rows[0] ?? null;
}
