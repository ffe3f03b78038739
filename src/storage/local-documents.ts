import type { PointAsk } from '../model/point-query.js';
import type { CaptureKey } from '../model/words.js';
import { captureValues } from './captures.js';
import type { Queryable } from './database.js';
import { DOCUMENT_COLUMNS, type DocumentRow } from './documents.js';

/**
 * The document that a point query would ask for, where this company has it in this environment: the newest first. Never another company's
 * copy, which may show what this one must not see.
 *
 * A key is had when its note is: a summary alone is not, because the government may have the whole note by now, unless it never will
 * (cancelled or denied). Empty: the government has to be asked.
 */
export async function findLocal(db: Queryable, capture: CaptureKey, ask: PointAsk): Promise<string[]> {
  const byNsu = 'nsu' in ask;
  const { rows } = await db.query<{ id: string }>(
    `select id from documents where company_id = $1 and document_type = $2 and environment = $3 and ${byNsu ? BY_NSU : BY_KEY}`,
    [...captureValues(capture), byNsu ? ask.nsu : ask.key],
  );
  return rows.map(({ id }) => id);
}

const BY_NSU = 'nsu = $4 order by captured_at desc, id desc';
const BY_KEY = `key = $4 and event is null and kind <> 'unknown' and (kind <> 'resNFe' or full_xml = 'not_applicable')
  order by kind = 'resNFe', captured_at desc, id desc limit 1`;

/** The stored documents with these bytes: what an answer brought, known before or not. In the order of the hashes. */
export async function documentsWithBytes(
  db: Queryable,
  capture: CaptureKey,
  { keys, nsus, hashes }: { keys: readonly string[]; nsus: readonly string[]; hashes: readonly string[] },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from documents where company_id = $1 and document_type = $2 and environment = $3
       and xml_sha256 = any($4::text[]) and (key = any($5::text[]) or nsu = any($6::bigint[]))
     order by array_position($4::text[], xml_sha256), captured_at, id`,
    [...captureValues(capture), hashes, keys, nsus],
  );
  return rows.map(({ id }) => id);
}

/** Documents by their ids, in that order; those that are not there any more are left out. */
export async function documentsById(db: Queryable, ids: readonly string[]): Promise<DocumentRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.query<DocumentRow>(
    `select ${DOCUMENT_COLUMNS} from documents d where id = any($1::uuid[]) order by array_position($1::uuid[], id)`,
    [ids],
  );
  return rows;
}
