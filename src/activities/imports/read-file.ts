import { decodeItem, rolesOf } from '../../documents/index.js';
import type { DecodedItem } from '../../model/document.js';
import {
  type CaptureKey,
  DOCUMENT_TYPES,
  type DocumentType,
  ENVIRONMENTS,
  type Environment,
} from '../../model/words.js';
import type { FileResult, ImportRow } from '../../storage/imports.js';
import { INDEX_NAME, PROBLEMS_NAME } from '../exports/index-file.js';
import type { UploadedFile } from './upload.js';

/** A file that is a document. */
export type Decoded = Extract<DecodedItem, { ok: true }>;

/** A file that is a fiscal document with a key. */
export interface DocumentFile {
  readonly file: UploadedFile;
  readonly bytes: Uint8Array;
  readonly capture: CaptureKey;
  readonly key: string;
  readonly decoded: Decoded;
  /**
   * Whether the company takes part in it, as far as it says: events and summaries do not name everybody. They belong to it when it has another
   * document of the key.
   */
  readonly belongs: 'yes' | 'no' | 'by_key';
}

/** A file that is none, and why. */
export interface OtherFile {
  readonly file: UploadedFile;
  readonly result: FileResult;
  readonly reason: string;
}

const ZIP = Buffer.from('PK\x03\x04');
const PDF = Buffer.from('%PDF-');

/** Reads one file and says what it is. */
export async function readFile(
  file: UploadedFile,
  upload: ImportRow,
  taxId: string,
): Promise<DocumentFile | OtherFile> {
  const bytes = await file.read();
  // The index of a large export is too large for a document, which it does not want to be.
  const unread = 'unreadable' in bytes ? bytes.unreadable : null;
  if (isIndex(file.name) && (unread === null || unread === 'too_large'))
    return { file, result: 'not_a_document', reason: 'export_index' };
  if ('unreadable' in bytes) return { file, result: 'unreadable', reason: bytes.unreadable };
  if (bytes.length === 0) return { file, result: 'unreadable', reason: 'empty' };
  if (ZIP.equals(bytes.subarray(0, ZIP.length))) return { file, result: 'not_a_document', reason: 'nested_zip' };
  if (PDF.equals(bytes.subarray(0, PDF.length))) return { file, result: 'not_a_document', reason: 'pdf' };
  if (!looksLikeXml(bytes)) return { file, result: 'not_a_document', reason: 'not_xml' };
  const { documentType, decoded } = decode(bytes);
  if (!decoded.ok) return { file, result: 'unreadable', reason: decoded.failure };
  const { document } = decoded;
  if (document.kind === 'unknown') return { file, result: 'not_a_document', reason: reasonOf(document.root) };
  if (document.key === null) return { file, result: 'unreadable', reason: 'no_key' };
  const capture = {
    companyId: upload.companyId,
    documentType,
    environment: environmentOf(document.metadata.environment) ?? upload.environment,
  };
  return { file, bytes, capture, key: document.key, decoded, belongs: belongs(documentType, decoded, taxId) };
}

/** The tables that an export has at its top, in whatever folder they were packed again. */
function isIndex(name: string): boolean {
  return [INDEX_NAME, PROBLEMS_NAME].includes(name.split('/').at(-1) ?? '');
}

/** After blanks and a mark of its encoding it begins with `<`; in UTF-16 with a zero beside. */
function looksLikeXml(bytes: Uint8Array): boolean {
  return /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\0]*</.test(Buffer.from(bytes.subarray(0, 200)).toString('latin1'));
}

/** By the document type that knows its root. */
function decode(bytes: Uint8Array): { documentType: DocumentType; decoded: DecodedItem } {
  let last: { documentType: DocumentType; decoded: DecodedItem } | undefined;
  for (const documentType of DOCUMENT_TYPES) {
    last = { documentType, decoded: decodeItem({ content: bytes, encoding: 'identity', schema: null }, documentType) };
    if (!last.decoded.ok || last.decoded.document.kind !== 'unknown') break;
  }
  if (!last) throw new Error('there are document types');
  return last;
}

/** What people import by mistake: the note as it was sent to be authorized. */
const UNAUTHORIZED = new Set(['NFe', 'enviNFe', 'CTe', 'enviCTe', 'CTeOS', 'evento', 'envEvento']);

function reasonOf(root: string): string {
  return UNAUTHORIZED.has(root) ? 'without_protocol' : 'unknown_root';
}

function environmentOf(said: string | undefined): Environment | undefined {
  return ENVIRONMENTS.find((environment) => environment === said);
}

function belongs(documentType: DocumentType, { document }: Decoded, taxId: string): DocumentFile['belongs'] {
  const { kind, metadata, event } = document;
  if (rolesOf(documentType, metadata, taxId).length > 0 || event?.author === taxId) return 'yes';
  return event !== null || kind === 'resNFe' ? 'by_key' : 'no';
}
