import type { Known } from '../../storage/import-documents.js';
import type { ImportFile } from '../../storage/imports.js';
import type { DocumentFile } from './read-file.js';

/** What becomes of a document file. `store`: it is new. */
export type Judgement = { readonly store: true } | Pick<ImportFile, 'result' | 'reason' | 'documentId'>;

/**
 * The same bytes are there already; so is the same document in other bytes, unless the copy that is there is for somebody who may not see
 * everything and this one is not: a full copy is stored beside, and nothing that is there is ever replaced.
 *
 * @param known what the company has of the key, files before this one included
 * @param final no more files come that it could belong to
 */
export function judge(document: DocumentFile, known: readonly Known[], final: boolean): Judgement {
  const { decoded, belongs } = document;
  const same = known.filter((one) => isSame(one, document));
  const equal = same.find(({ xmlSha256 }) => xmlSha256 === decoded.xmlSha256);
  if (equal) return { result: 'already_there', reason: null, documentId: equal.id };
  const [first] = same;
  const tellsMore = decoded.document.metadata.masked !== true && same.every(({ masked }) => masked);
  if (first && !tellsMore) return { result: 'already_there', reason: 'other_bytes', documentId: first.id };
  if (belongs === 'yes' || (belongs === 'by_key' && known.length > 0)) return { store: true };
  if (belongs === 'by_key' && !final) return { result: 'waiting', reason: null, documentId: null };
  const reason = belongs === 'by_key' ? 'document_unknown' : 'not_a_party';
  return { result: 'not_of_company', reason, documentId: null };
}

/** A file that is going to be stored, for those behind it. */
export function asKnown({ key, decoded }: DocumentFile, id: string): Known {
  const { kind, event, metadata } = decoded.document;
  return {
    id,
    key,
    kind,
    eventType: event?.type ?? null,
    eventSequence: event?.sequence ?? null,
    xmlSha256: decoded.xmlSha256,
    masked: metadata.masked === true,
  };
}

function isSame(one: Known, { key, decoded }: DocumentFile): boolean {
  const { kind, event } = decoded.document;
  return (
    one.key === key &&
    one.kind === kind &&
    one.eventType === (event?.type ?? null) &&
    (one.eventSequence ?? null) === (event?.sequence ?? null)
  );
}
