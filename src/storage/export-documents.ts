import type { Queryable } from './database.js';
import { instant } from './database.js';
import { DOCUMENT_COLUMNS, type DocumentRow, LISTED } from './documents.js';
import type { ExportPosition, ExportRow } from './exports.js';

/**
 * The documents of an export, in the order of their issue. Those that do not say when they were issued count by when they were captured
 * and come last.
 */

export interface ExportDocument extends DocumentRow {
  /** Documents of the same key, kind and event that were captured before it: copies with other bytes. */
  readonly copiesBefore: number;
  /** Its amount is that of another document of the same key as well: the whole note of a summary, or the first of copies. */
  readonly countedElsewhere: boolean;
}

type Selection = Pick<ExportRow, 'companyId' | 'documentType' | 'environment' | 'fromAt' | 'toAt' | 'asOf'>;

const OF_EXPORT = `d.company_id = $1 and d.document_type = $2 and d.environment = $3 and ${LISTED} and d.captured_at <= $6`;
const DATED = `${OF_EXPORT} and d.issued_at >= $4 and d.issued_at < $5`;
const UNDATED = `${OF_EXPORT} and d.issued_at is null and d.captured_at >= $4 and d.captured_at < $5`;

const COPIES_BEFORE = `(select count(*)::int from documents e
   where e.key = d.key and e.company_id = d.company_id and e.document_type = d.document_type and e.environment = d.environment
     and e.kind = d.kind and e.event_type is not distinct from d.event_type
     and e.event_sequence is not distinct from d.event_sequence and (e.captured_at, e.id) < (d.captured_at, d.id)) as "copiesBefore"`;

/** A whole note before its summary, else what was captured first: of each key one amount counts. */
const COUNTED_ELSEWHERE = `(d.event_type is null and d.total is not null and exists (select from documents e
   where e.key = d.key and e.company_id = d.company_id and e.document_type = d.document_type and e.environment = d.environment
     and e.event_type is null and e.total is not null and e.captured_at <= $6 and ${LISTED.replaceAll('d.', 'e.')}
     and (e.kind = 'resNFe', e.captured_at, e.id) < (d.kind = 'resNFe', d.captured_at, d.id))) as "countedElsewhere"`;

/** How many documents an export will have. */
export async function countExportDocuments(db: Queryable, selection: Selection): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select ((select count(*) from documents d where ${DATED}) + (select count(*) from documents d where ${UNDATED}))::int as count`,
    valuesOf(selection),
  );
  return rows[0]?.count ?? 0;
}

/** Up to `limit` documents after a position (null: from the beginning). */
export async function nextExportDocuments(
  db: Queryable,
  selection: Selection,
  after: ExportPosition | null,
  limit: number,
): Promise<ExportDocument[]> {
  const dated = after?.undated ? [] : await walk(db, selection, DATED, 'd.issued_at', after, limit);
  if (dated.length >= limit) return dated;
  const from = after?.undated ? after : null;
  return [...dated, ...(await walk(db, selection, UNDATED, 'd.captured_at', from, limit - dated.length))];
}

/** Where a document stands in the order of an export: the next part begins after it. */
export function positionOf({
  id,
  issuedAt,
  capturedAt,
}: Pick<DocumentRow, 'id' | 'issuedAt' | 'capturedAt'>): ExportPosition {
  return { undated: issuedAt === null, at: issuedAt ?? capturedAt, id };
}

async function walk(
  db: Queryable,
  selection: Selection,
  condition: string,
  column: string,
  after: ExportPosition | null,
  limit: number,
): Promise<ExportDocument[]> {
  // The first of both lets the index skip what is done, the second decides among documents of one instant.
  const later = after === null ? '' : `and ${column} >= $7 and (${column}, d.id) > ($7, $8)`;
  const { rows } = await db.query<ExportDocument>(
    `select ${DOCUMENT_COLUMNS}, ${COPIES_BEFORE}, ${COUNTED_ELSEWHERE} from documents d where ${condition} ${later} order by ${column}, d.id limit ${limit}`,
    [...valuesOf(selection), ...(after === null ? [] : [instant(after.at), after.id])],
  );
  return rows;
}

function valuesOf({ companyId, documentType, environment, fromAt, toAt, asOf }: Selection): unknown[] {
  return [companyId, documentType, environment, instant(fromAt), instant(toAt), instant(asOf)];
}
