import type { ImportInput } from '../model/import-contract.js';
import type { Environment } from '../model/words.js';
import type { Queryable, Transaction } from './database.js';
import { instant } from './database.js';
import { Filter } from './filter.js';
import type { Page, PageRequest } from './keyset.js';
import { pageOf, readCursor } from './keyset.js';
import { companyPrefix } from './object-store/index.js';

/** Imports, and what became of each of their files. */

export const IMPORT_STATUSES = ['pending', 'running', 'done', 'failed'] as const;
export type ImportStatus = (typeof IMPORT_STATUSES)[number];

/** What can become of one file. */
export const FILE_RESULTS = ['imported', 'already_there', 'not_a_document', 'not_of_company', 'unreadable'] as const;
export type FileResult = (typeof FILE_RESULTS)[number];
/** Of a file that may turn out to belong to another one of the same import. */
const WAITING = 'waiting';

/** Why an upload could not be worked off, or not to its end. */
export const IMPORT_ERRORS = ['zip_unreadable', 'too_many_files', 'expands_too_much', 'cancelled', 'internal'] as const;
export type ImportError = (typeof IMPORT_ERRORS)[number];

/** An upload that is worked off. */
export interface ImportRow {
  readonly id: string;
  readonly companyId: string;
  /** Of documents that do not say theirs. */
  readonly environment: Environment;
  readonly notify: boolean;
  readonly fileName: string | null;
  /** The upload, until the import ends. */
  readonly objectKey: string;
  /** Bytes. */
  readonly size: string;
  /** Hex. */
  readonly sha256: string;
  readonly format: 'zip' | 'xml';
  readonly status: ImportStatus;
  readonly error: ImportError | null;
  /** Files. Null: not counted yet. */
  readonly total: number | null;
  /** The entry of the ZIP that comes next. */
  readonly nextEntry: number;
  readonly createdAt: number;
  readonly finishedAt: number | null;
}

/** One file of it, and what became of it. */
export interface ImportFile {
  /** Its place in the ZIP. */
  readonly entry: number;
  readonly name: string;
  readonly result: FileResult | typeof WAITING;
  readonly reason: string | null;
  readonly documentId: string | null;
}

const COLUMNS = `id, company_id as "companyId", environment, notify, file_name as "fileName", object_key as "objectKey", size, sha256, format,
  status, error, total, next_entry as "nextEntry", created_at as "createdAt", finished_at as "finishedAt"`;

/** Everything that the object store holds of an import: its upload, and the documents that came by it. */
export const importPrefix = ({ id, companyId }: Pick<ImportRow, 'id' | 'companyId'>): string =>
  `${companyPrefix(companyId)}imports/${id}/`;

/** An upload to be worked off. */
export type NewImport = Omit<ImportRow, 'status' | 'error' | 'total' | 'nextEntry' | 'finishedAt' | 'size'> & {
  readonly size: number;
};

/** Writes an upload that is to be worked off. */
export async function insertImport(db: Queryable, made: NewImport): Promise<ImportRow> {
  const { rows } = await db.query<ImportRow>(
    `insert into imports (id, company_id, environment, notify, file_name, object_key, size, sha256, format, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10) returning ${COLUMNS}`,
    [
      made.id,
      made.companyId,
      made.environment,
      made.notify,
      made.fileName,
      made.objectKey,
      made.size,
      made.sha256,
      made.format,
      instant(made.createdAt),
    ],
  );
  const [row] = rows;
  if (!row) throw new Error('an insert returned no row');
  return row;
}

/** The import of this id, or null. */
export async function getImport(db: Queryable, id: string): Promise<ImportRow | null> {
  const { rows } = await db.query<ImportRow>(`select ${COLUMNS} from imports where id = $1`, [id]);
  return rows[0] ?? null;
}

export interface ImportFilter {
  readonly companyId?: string | undefined;
  readonly status?: ImportStatus | undefined;
  /** The companies that an API key may see; undefined: all. */
  readonly visible?: readonly string[] | undefined;
}

/** Newest first. @throws {InvalidCursor} */
export async function listImports(
  db: Queryable,
  filter: ImportFilter,
  { limit, cursor }: PageRequest,
): Promise<Page<ImportRow>> {
  const where = new Filter()
    .add(filter.companyId, (v) => `company_id = ${v}`)
    .add(filter.visible, (v) => `company_id = any(${v}::uuid[])`)
    .add(filter.status, (v) => `status = ${v}`)
    .after(readCursor(cursor, ['instant', 'uuid']), 'created_at, id', '<');
  const { rows } = await db.query<ImportRow>(
    `select ${COLUMNS} from imports ${where.where} order by created_at desc, id desc limit ${limit + 1}`,
    where.values,
  );
  return pageOf(rows, limit, (row) => [row.createdAt, row.id]);
}

/** Its workflow runs. Null: it has ended, or there is none. */
export async function openImport(db: Queryable, id: string, total: number, now: number): Promise<ImportRow | null> {
  const { rows } = await db.query<ImportRow>(
    `update imports set status = 'running', total = $2, updated_at = $3
     where id = $1 and status in ('pending', 'running') returning ${COLUMNS}`,
    [id, total, instant(now)],
  );
  return rows[0] ?? null;
}

/** Locks an import that runs. Null: it has ended. */
export async function lockRunningImport(tx: Transaction, id: string): Promise<ImportRow | null> {
  const { rows } = await tx.query<ImportRow>(
    `select ${COLUMNS} from imports where id = $1 and status = 'running' for update`,
    [id],
  );
  return rows[0] ?? null;
}

/** Writes what became of files, and which entry comes next. */
export async function recordFiles(
  tx: Transaction,
  importId: string,
  files: readonly ImportFile[],
  nextEntry: number,
  now: number,
): Promise<void> {
  await tx.query(
    `insert into import_files (import_id, entry, name, result, reason, document_id)
     select $1, f.* from unnest($2::int[], $3::text[], $4::text[], $5::text[], $6::uuid[]) as f
     on conflict (import_id, entry) do update
       set result = excluded.result, reason = excluded.reason, document_id = excluded.document_id`,
    [
      importId,
      files.map(({ entry }) => entry),
      files.map(({ name }) => name),
      files.map(({ result }) => result),
      files.map(({ reason }) => reason),
      files.map(({ documentId }) => documentId),
    ],
  );
  await tx.query('update imports set next_entry = $2, updated_at = $3 where id = $1', [
    importId,
    nextEntry,
    instant(now),
  ]);
}

/** Entries of files that waited for the rest of the ZIP, in its order. */
export async function waitingEntries(db: Queryable, importId: string, limit: number): Promise<number[]> {
  const { rows } = await db.query<{ entry: number }>(
    `select entry from import_files where import_id = $1 and result = $2 order by entry limit $3`,
    [importId, WAITING, limit],
  );
  return rows.map(({ entry }) => entry);
}

/** How many files came to each result; those that wait count as none. */
export async function countFiles(
  db: Queryable,
  importIds: readonly string[],
): Promise<ReadonlyMap<string, Partial<Record<FileResult, number>>>> {
  const { rows } = await db.query<{ id: string; result: FileResult; count: number }>(
    `select import_id as id, result, count(*)::int as count from import_files
     where import_id = any($1::uuid[]) and result <> $2 group by import_id, result`,
    [importIds, WAITING],
  );
  const counts = new Map<string, Partial<Record<FileResult, number>>>();
  for (const { id, result, count } of rows) counts.set(id, { ...counts.get(id), [result]: count });
  return counts;
}

/** In the order of the ZIP. @throws {InvalidCursor} */
export async function listFiles(
  db: Queryable,
  importId: string,
  { result, reason }: { readonly result?: FileResult | undefined; readonly reason?: string | undefined },
  { limit, cursor }: PageRequest,
): Promise<Page<ImportFile>> {
  const where = new Filter()
    .add(importId, (v) => `import_id = ${v}`)
    .add(WAITING, (v) => `result <> ${v}`)
    .add(result, (v) => `result = ${v}`)
    .add(reason, (v) => `reason = ${v}`)
    .after(readCursor(cursor, ['number']), 'entry', '>');
  const { rows } = await db.query<ImportFile>(
    `select entry, name, result, reason, document_id as "documentId" from import_files ${where.where} order by entry limit ${limit + 1}`,
    where.values,
  );
  return pageOf(rows, limit, ({ entry }) => [entry]);
}

/** Ends an import that has not ended. False: it had. */
export async function endImport(db: Queryable, id: string, error: ImportError | null, now: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update imports set status = $2, error = $3, finished_at = $4, updated_at = $4
     where id = $1 and status in ('pending', 'running')`,
    [id, error === null ? 'done' : 'failed', error, instant(now)],
  );
  return rowCount > 0;
}

/** Imports whose workflow has not been heard of since an instant. */
export async function overdueImports(db: Queryable, since: number, limit: number): Promise<ImportInput[]> {
  const { rows } = await db.query<ImportInput>(
    `select id as "importId", company_id as "companyId" from imports
     where status in ('pending', 'running') and updated_at < $1 order by updated_at limit $2`,
    [instant(since), limit],
  );
  return rows;
}
