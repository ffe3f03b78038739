import type { Nsu } from '../model/nsu.js';
import type { CaptureKey, DocumentType, Environment } from '../model/words.js';
import { nsuColumn } from './capture-rows.js';
import type { Queryable } from './database.js';
import { Filter } from './filter.js';
import type { Page, PageRequest } from './keyset.js';
import { pageOf, readCursor } from './keyset.js';

/** A government call as the API's call log shows it. */
export interface CallLogRow extends CaptureKey {
  readonly id: string;
  readonly startedAt: number;
  readonly service: string;
  /** distNSU, consNSU, consChNFe … */
  readonly kind: string;
  readonly fromNsu: Nsu | null;
  readonly status: 'open' | 'answered' | 'not_sent' | 'unknown';
  readonly answeredAt: number | null;
  readonly durationMs: number | null;
  readonly outcome: string | null;
  readonly statusCode: string | null;
  readonly statusText: string | null;
  readonly ultNsu: Nsu | null;
  readonly maxNsu: Nsu | null;
  readonly documents: number;
  readonly archiveId: string | null;
}

const COLUMNS = `id, started_at as "startedAt", company_id as "companyId", document_type as "documentType", environment,
  service, kind, ${nsuColumn('from_nsu', 'fromNsu')}, status, answered_at as "answeredAt", duration_ms as "durationMs",
  outcome, status_code as "statusCode", status_text as "statusText", ${nsuColumn('ult_nsu', 'ultNsu')},
  ${nsuColumn('max_nsu', 'maxNsu')}, documents, archive_id as "archiveId"`;

/** Which calls are listed. */
export interface CallLogFilter {
  readonly companyId: string;
  readonly documentType: DocumentType;
  readonly environment?: Environment | undefined;
  readonly kind?: string | undefined;
  readonly statusCode?: string | undefined;
}

/** Newest first. @throws {InvalidCursor} */
export async function listCalls(
  db: Queryable,
  filter: CallLogFilter,
  { limit, cursor }: PageRequest,
): Promise<Page<CallLogRow>> {
  const where = new Filter()
    .add(filter.companyId, (v) => `company_id = ${v}`)
    .add(filter.documentType, (v) => `document_type = ${v}`)
    .add(filter.environment, (v) => `environment = ${v}`)
    .add(filter.kind, (v) => `kind = ${v}`)
    .add(filter.statusCode, (v) => `status_code = ${v}`)
    .after(readCursor(cursor, ['instant', 'text']), 'started_at, id', '<');
  const { rows } = await db.query<CallLogRow>(
    `select ${COLUMNS} from calls ${where.where} order by started_at desc, id desc limit ${limit + 1}`,
    where.values,
  );
  return pageOf(rows, limit, (row) => [row.startedAt, row.id]);
}
