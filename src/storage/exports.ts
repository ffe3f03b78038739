import type { ExportInput } from '../model/export-contract.js';
import type { CaptureKey, DocumentType, Environment, ExportStatus } from '../model/words.js';
import type { Queryable, Transaction } from './database.js';
import { instant } from './database.js';
import { Filter } from './filter.js';
import type { Page, PageRequest } from './keyset.js';
import { pageOf, readCursor } from './keyset.js';
import { companyPrefix } from './object-store/index.js';

/** Exports and their parts. The row is the truth of how far one is; its workflow only drives it. */

/** Documents of a part, and what became of them. */
export interface ExportCounts {
  readonly documents: number;
  readonly xmlFiles: number;
  readonly pdfFiles: number;
  /** Documents that could not be read, or not be printed. */
  readonly problems: number;
}

/** A document's place in an export, in the order of their issue. */
export interface ExportPosition {
  readonly undated: boolean;
  /** Milliseconds. */
  readonly at: number;
  readonly id: string;
}

/** An export, being made or done. */
export interface ExportRow extends CaptureKey, ExportCounts {
  readonly id: string;
  /** Inclusive. Milliseconds, as all instants here. */
  readonly fromAt: number;
  /** Exclusive. */
  readonly toAt: number;
  readonly pdf: boolean;
  readonly status: ExportStatus;
  readonly error: string | null;
  /** Documents captured later are not in it. */
  readonly asOf: number;
  /** Null: not counted yet. */
  readonly total: number | null;
  readonly objectKey: string | null;
  /** Bytes. */
  readonly size: string | null;
  /** Hex. */
  readonly sha256: string | null;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  /** When what the object store holds of it is deleted. */
  readonly expiresAt: number | null;
}

/** A part that was written. */
export interface ExportPart {
  readonly number: number;
  readonly objectKey: string;
  readonly problems: number;
  /** The next part begins after this document. */
  readonly last: ExportPosition;
}

const COLUMNS = `id, company_id as "companyId", document_type as "documentType", environment, from_at as "fromAt", to_at as "toAt", pdf,
  status, error, as_of as "asOf", total, documents, xml_files as "xmlFiles", pdf_files as "pdfFiles", problems,
  object_key as "objectKey", size, sha256, created_at as "createdAt", finished_at as "finishedAt", expires_at as "expiresAt"`;

/** Everything that the object store holds of an export. */
export const exportPrefix = ({ id, companyId }: Pick<ExportRow, 'id' | 'companyId'>): string =>
  `${companyPrefix(companyId)}exports/${id}/`;

/** An export to be made. */
export type NewExport = Pick<
  ExportRow,
  'id' | 'companyId' | 'documentType' | 'environment' | 'fromAt' | 'toAt' | 'pdf' | 'createdAt'
>;

/** Writes an export that is to be made. */
export async function insertExport(db: Queryable, made: NewExport): Promise<ExportRow> {
  const { rows } = await db.query<ExportRow>(
    `insert into exports (id, company_id, document_type, environment, from_at, to_at, pdf, as_of, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $8) returning ${COLUMNS}`,
    [
      made.id,
      made.companyId,
      made.documentType,
      made.environment,
      instant(made.fromAt),
      instant(made.toAt),
      made.pdf,
      instant(made.createdAt),
    ],
  );
  const [row] = rows;
  if (!row) throw new Error('an insert returned no row');
  return row;
}

/** The export of this id, or null. */
export async function getExport(db: Queryable, id: string): Promise<ExportRow | null> {
  const { rows } = await db.query<ExportRow>(`select ${COLUMNS} from exports where id = $1`, [id]);
  return rows[0] ?? null;
}

export interface ExportFilter {
  readonly companyId?: string | undefined;
  readonly documentType?: DocumentType | undefined;
  readonly environment?: Environment | undefined;
  readonly status?: ExportStatus | undefined;
  /** The companies that an API key may see; undefined: all. */
  readonly visible?: readonly string[] | undefined;
}

/** Newest first. @throws {InvalidCursor} */
export async function listExports(
  db: Queryable,
  filter: ExportFilter,
  { limit, cursor }: PageRequest,
): Promise<Page<ExportRow>> {
  const where = new Filter()
    .add(filter.companyId, (v) => `company_id = ${v}`)
    .add(filter.visible, (v) => `company_id = any(${v}::uuid[])`)
    .add(filter.documentType, (v) => `document_type = ${v}`)
    .add(filter.environment, (v) => `environment = ${v}`)
    .add(filter.status, (v) => `status = ${v}`)
    .after(readCursor(cursor, ['instant', 'uuid']), 'created_at, id', '<');
  const { rows } = await db.query<ExportRow>(
    `select ${COLUMNS} from exports ${where.where} order by created_at desc, id desc limit ${limit + 1}`,
    where.values,
  );
  return pageOf(rows, limit, (row) => [row.createdAt, row.id]);
}

/** Its workflow runs. Null: there is no such export, or it has ended. */
export async function openExport(db: Queryable, id: string, total: number, now: number): Promise<ExportRow | null> {
  const { rows } = await db.query<ExportRow>(
    `update exports set status = 'running', total = coalesce(total, $2), updated_at = $3
     where id = $1 and status in ('pending', 'running') returning ${COLUMNS}`,
    [id, total, instant(now)],
  );
  return rows[0] ?? null;
}

/** In their order. */
export async function listParts(db: Queryable, exportId: string): Promise<ExportPart[]> {
  const { rows } = await db.query<{
    number: number;
    objectKey: string;
    problems: number;
    undated: boolean;
    at: number;
    id: string;
  }>(
    `select number, object_key as "objectKey", problems, last_undated as undated, last_at as at, last_id as id
     from export_parts where export_id = $1 order by number`,
    [exportId],
  );
  return rows.map(({ undated, at, id, ...part }) => ({ ...part, last: { undated, at, id } }));
}

/** False: somebody else was first with this number, or the export has ended. Then the part is nobody's. */
export async function commitPart(
  tx: Transaction,
  exportId: string,
  { number, objectKey, last, ...counts }: ExportPart & ExportCounts,
  now: number,
): Promise<boolean> {
  const { rowCount: running } = await tx.query(`select from exports where id = $1 and status = 'running' for update`, [
    exportId,
  ]);
  if (running === 0) return false;
  const { rowCount } = await tx.query(
    `insert into export_parts (export_id, number, object_key, problems, last_undated, last_at, last_id)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [exportId, number, objectKey, counts.problems, last.undated, instant(last.at), last.id],
  );
  if (rowCount === 0) return false;
  await tx.query(
    `update exports set documents = documents + $2, xml_files = xml_files + $3, pdf_files = pdf_files + $4,
       problems = problems + $5, updated_at = $6 where id = $1`,
    [exportId, counts.documents, counts.xmlFiles, counts.pdfFiles, counts.problems, instant(now)],
  );
  return true;
}

/** The file that came of it. */
export interface FinishedExport {
  readonly objectKey: string;
  readonly size: number;
  readonly sha256: string;
  readonly expiresAt: number;
}

/** False: it has ended meanwhile. */
export async function finishExport(
  tx: Transaction,
  id: string,
  { objectKey, size, sha256, expiresAt }: FinishedExport,
  now: number,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update exports set status = 'done', object_key = $2, size = $3, sha256 = $4, expires_at = $5, finished_at = $6, updated_at = $6
     where id = $1 and status = 'running'`,
    [id, objectKey, size, sha256, instant(expiresAt), instant(now)],
  );
  if (rowCount > 0) await tx.query('delete from export_parts where export_id = $1', [id]);
  return rowCount > 0;
}

/** What a step that came too late may still write after the end is looked for once more a day later. Milliseconds. */
const LAST_LOOK = 86_400_000;

/** Ends an export, also one that is done: then its file goes. Null: there is none, or it had no file any more. */
export async function endExport(
  db: Queryable,
  id: string,
  end: { readonly status: 'cancelled' } | { readonly status: 'failed'; readonly error: string },
  now: number,
): Promise<ExportRow | null> {
  const from = end.status === 'failed' ? `('pending', 'running')` : `('pending', 'running', 'done')`;
  const { rows } = await db.query<ExportRow>(
    `update exports set status = $2, error = $3, object_key = null, expires_at = $4, finished_at = coalesce(finished_at, $5), updated_at = $5
     where id = $1 and status in ${from} returning ${COLUMNS}`,
    [id, end.status, 'error' in end ? end.error : null, instant(now + LAST_LOOK), instant(now)],
  );
  return rows[0] ?? null;
}

/** Exports whose workflow has not been heard of since an instant. */
export async function overdueExports(db: Queryable, since: number, limit: number): Promise<ExportInput[]> {
  const { rows } = await db.query<ExportInput>(
    `select id as "exportId", company_id as "companyId" from exports where status in ('pending', 'running') and updated_at < $1 order by updated_at limit $2`,
    [instant(since), limit],
  );
  return rows;
}

/** Those whose time is over, and of which the object store may hold something. */
export async function expiredExports(db: Queryable, now: number): Promise<Pick<ExportRow, 'id' | 'companyId'>[]> {
  const { rows } = await db.query<Pick<ExportRow, 'id' | 'companyId'>>(
    'select id, company_id as "companyId" from exports where expires_at <= $1 order by expires_at',
    [instant(now)],
  );
  return rows;
}

/** Its objects are gone. */
export async function markExpired(db: Queryable, id: string): Promise<void> {
  await db.query(
    `update exports set status = case status when 'done' then 'expired' else status end, object_key = null, expires_at = null
     where id = $1`,
    [id],
  );
}
