import type { Queryable, Transaction } from './database.js';
import { instant } from './database.js';
import { DOCUMENT_COLUMNS, type DocumentRow } from './documents.js';

/** Where PDFs stand that are kept, and which are still to be made. */

export interface KeptPdf {
  readonly objectKey: string;
  /** Hash of all that its bytes depend on. */
  readonly madeOf: string;
  /** Hex. */
  readonly sha256: string;
}

/** What is to be made in the background, whenever there is time. */
export async function queuePdfs(tx: Transaction, documentIds: readonly string[], now: number): Promise<void> {
  if (documentIds.length === 0) return;
  await tx.query(
    `insert into pdfs (document_id, status, next_attempt_at) select id, 'pending', $2 from unnest($1::uuid[]) as d (id)
     on conflict do nothing`,
    [documentIds, instant(now)],
  );
}

/** The kept PDF of a document, or null. */
export async function findPdf(db: Queryable, documentId: string): Promise<KeptPdf | null> {
  const { rows } = await db.query<KeptPdf>(
    `select object_key as "objectKey", made_of as "madeOf", sha256 from pdfs
     where document_id = $1 and object_key is not null`,
    [documentId],
  );
  return rows[0] ?? null;
}

/**
 * Records a PDF whose object stands already.
 *
 * @returns the object that it takes the place of, if there was one; `gone` when the document was deleted meanwhile, and nothing was recorded
 */
export async function recordPdf(
  db: Queryable,
  documentId: string,
  { objectKey, madeOf, sha256 }: KeptPdf,
): Promise<{ readonly replaced: string | null } | 'gone'> {
  const { rows } = await db.query<{ replaced: string | null }>(
    `with before as (select object_key from pdfs where document_id = $1),
       kept as (
         insert into pdfs (document_id, status, object_key, made_of, sha256) select id, 'done', $2, $3, $4 from documents where id = $1
         on conflict (document_id) do update set status = 'done', object_key = excluded.object_key, made_of = excluded.made_of,
           sha256 = excluded.sha256, next_attempt_at = null, failure = null
         returning document_id)
     select nullif((select object_key from before), $2) as replaced from kept`,
    [documentId, objectKey, madeOf, sha256],
  );
  return rows[0] ?? 'gone';
}

/** A PDF to be made ahead of being asked for. */
export interface DuePdf {
  readonly document: DocumentRow;
  /** Made so far, in vain. */
  readonly attempts: number;
}

/** Documents whose PDF is to be made by now, those that waited longest first. */
export async function duePdfs(db: Queryable, now: number, limit: number): Promise<DuePdf[]> {
  const { rows } = await db.query<DocumentRow & { pdfAttempts: number }>(
    `select ${DOCUMENT_COLUMNS}, p.attempts as "pdfAttempts" from pdfs p join documents d on d.id = p.document_id
     where p.status = 'pending' and p.next_attempt_at <= $1 order by p.next_attempt_at, p.document_id limit $2`,
    [instant(now), limit],
  );
  return rows.map(({ pdfAttempts, ...document }) => ({ document, attempts: pdfAttempts }));
}

/** An attempt was in vain. `nextAttemptAt` null: the background tries no more. One that somebody got in the meantime stays. */
export async function recordPdfFailure(
  db: Queryable,
  documentId: string,
  { failure, nextAttemptAt }: { readonly failure: string; readonly nextAttemptAt: number | null },
): Promise<void> {
  await db.query(
    `update pdfs set attempts = attempts + 1, failure = $2, next_attempt_at = $3,
       status = case when $3::timestamptz is null then 'failed' else 'pending' end
     where document_id = $1 and status = 'pending'`,
    [documentId, failure, instant(nextAttemptAt)],
  );
}
