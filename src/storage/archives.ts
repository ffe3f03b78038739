import type { CaptureKey } from '../model/words.js';
import type { Queryable } from './database.js';
import { instant } from './database.js';

/** One stored answer: the row says what the object holds. */
export interface ArchiveRow extends CaptureKey {
  readonly id: string;
  readonly objectKey: string;
  /** Where the request stands, for services whose answers prove nothing alone. */
  readonly requestKey: string | null;
  readonly callId: string | null;
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  readonly contentType: string | null;
  readonly httpStatus: number | null;
  readonly capturedAt: number;
}

const COLUMNS = `id, company_id as "companyId", document_type as "documentType", environment, object_key as "objectKey",
  request_key as "requestKey", call_id as "callId", size, sha256, content_type as "contentType",
  http_status as "httpStatus", captured_at as "capturedAt"`;

/**
 * Records an archive whose object stands already. Its key is unique: a repeat gives the id of the first, so that everything
 * points at one row.
 */
export async function insertArchive(db: Queryable, archive: ArchiveRow): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `with inserted as (
       insert into archives (id, company_id, document_type, environment, object_key, request_key, call_id, size, sha256,
         content_type, http_status, captured_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
       on conflict (object_key) do nothing returning id)
     select id from inserted union all select id from archives where object_key = $5`,
    [
      archive.id,
      archive.companyId,
      archive.documentType,
      archive.environment,
      archive.objectKey,
      archive.requestKey,
      archive.callId,
      archive.size,
      archive.sha256,
      archive.contentType,
      archive.httpStatus,
      instant(archive.capturedAt),
    ],
  );
  return rows[0]?.id ?? archive.id;
}

/** The archive of this id, or null. */
export async function getArchive(db: Queryable, id: string): Promise<ArchiveRow | null> {
  const { rows } = await db.query<ArchiveRow>(`select ${COLUMNS} from archives where id = $1`, [id]);
  return rows[0] ?? null;
}
