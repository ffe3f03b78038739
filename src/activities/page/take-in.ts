import { createHash } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import type { ReadAnswer } from '../../government/types.js';
import type { DecodedItem } from '../../model/document.js';
import { compareNsu, type Nsu, tryParseNsu, ZERO_NSU } from '../../model/nsu.js';
import type { CaptureKey, DocumentType } from '../../model/words.js';
import { type ArchiveRow, insertArchive } from '../../storage/archives.js';
import { ObjectNotFound } from '../../storage/object-store/index.js';
import type { CallContext } from '../dependencies.js';
import { decodeItems, storeDecoded } from './decode-archive.js';

/**
 * Takes in an answer whose rows are gone while its object stands: the database came back older than the object store. Its documents are
 * stored, and the cursor goes to the end of its page, in one transaction; an answer without documents becomes known, and no more. What is evidently of
 * another document type is left where it is.
 *
 * @param object `writtenAt`: milliseconds
 * @returns how many documents were not here
 */
export async function takeIn(
  deps: CallContext,
  { companyId, documentType, environment }: CaptureKey,
  { key, writtenAt }: { readonly key: string; readonly writtenAt: number },
): Promise<number> {
  const capture = { companyId, documentType, environment };
  const body = await bytesOf(deps, key);
  if (body === null) return 0;
  const archive: ArchiveRow = {
    ...capture,
    id: uuid(),
    objectKey: key,
    requestKey: null,
    callId: null,
    size: body.length,
    sha256: createHash('sha256').update(body).digest('hex'),
    contentType: null,
    httpStatus: null,
    capturedAt: writtenAt,
  };
  const read = isProof(key) ? wholeDocument(body) : readAnswer(deps, capture, body);
  if (!read || read.items.length === 0) {
    await insertArchive(deps.database, archive);
    return 0;
  }
  const decoded = await decodeItems(deps, capture, read);
  if (isForeign(documentType, decoded)) return 0;
  const reached = pageEnd(documentType, read, decoded);
  const origin = reached === null ? 'reprocess' : 'distribution';
  return (await storeDecoded(deps, archive, { read, decoded, origin, reached })).fresh;
}

/** Null: it was deleted since it was listed. */
async function bytesOf({ objectStore }: CallContext, key: string): Promise<Buffer | null> {
  try {
    return await objectStore.get(key);
  } catch (error) {
    if (error instanceof ObjectNotFound) return null;
    throw error;
  }
}

/** The event that a call registered, beside the call's answer (docs/storage.md). */
const isProof = (key: string) => /\.\d{6}-[0-9A-Z]{44,50}-\d+$/.test(key);

function wholeDocument(content: Buffer): ReadAnswer {
  const item = { nsu: null, schema: null, offset: 0, length: content.length, encoding: 'identity', content } as const;
  const outcome = { kind: 'documents', statusCode: '', ultNsu: ZERO_NSU, maxNsu: ZERO_NSU, items: 1 } as const;
  return { outcome, items: [item], statusText: '', serverTime: null, warnings: [] };
}

/** As a page; what is none, of a service that gives single documents in another form, as one of those. */
function readAnswer({ services }: CallContext, capture: CaptureKey, body: Buffer): ReadAnswer | undefined {
  const page = services[capture.documentType]?.read(body, { capture, ultNsu: ZERO_NSU });
  if (capture.documentType !== 'nfse' || page?.outcome.kind !== 'unreadable') return page;
  return services.nfse?.read(body, { capture, ultNsu: ZERO_NSU, onDemand: { note: '' } });
}

/** Models of documents in the access keys of each type; the keys of NFS-e have none and are longer. */
const MODELS: Readonly<Record<DocumentType, readonly string[]>> = {
  nfe: ['55', '65'],
  cte: ['57', '64', '67'],
  nfse: [],
};
const NFSE_KEY = 50;

function fits(documentType: DocumentType, key: string): boolean {
  return documentType === 'nfse' ? key.length === NFSE_KEY : MODELS[documentType].includes(key.slice(20, 22));
}

function keysOf(decoded: readonly DecodedItem[]): string[] {
  return decoded.flatMap((item) => (item.ok && item.document.key !== null ? [item.document.key] : []));
}

function isForeign(documentType: DocumentType, decoded: readonly DecodedItem[]): boolean {
  const keys = keysOf(decoded);
  return keys.length > 0 && !keys.some((key) => fits(documentType, key));
}

/**
 * Where a page ends; null for what may be something else. The question is not known any more, and answers to other questions look alike: one
 * document by its number or key, all that belongs to one key. Their pointers are no cursor (C15). So a page is only what none of those can be: several
 * items with numbers that rise, up to the pointer and no further, about several keys of this document type.
 */
function pageEnd(
  documentType: DocumentType,
  { outcome, items }: ReadAnswer,
  decoded: readonly DecodedItem[],
): Nsu | null {
  if (outcome.kind !== 'documents') return null;
  const { ultNsu } = outcome;
  let last = ZERO_NSU;
  for (const item of items) {
    const nsu = tryParseNsu(item.nsu);
    if (nsu === null || compareNsu(nsu, last) <= 0) return null;
    last = nsu;
  }
  const keys = new Set(keysOf(decoded));
  const several = keys.size > 1 && [...keys].every((key) => fits(documentType, key));
  return several && compareNsu(last, ultNsu) <= 0 ? ultNsu : null;
}
