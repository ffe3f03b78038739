import type { DocumentType } from '../model/words.js';
import { cte } from './cte.js';
import { nfe } from './nfe.js';
import { nfse } from './nfse.js';
import type { DocumentReader } from './reader.js';

/** The document types that can be read. Documents of another type are stored all the same, as kind `unknown`. */
const READERS: readonly DocumentReader[] = [nfe, cte, nfse];

/** The reader of a document type; undefined: nobody reads it. */
export function readerOf(documentType: DocumentType): DocumentReader | undefined {
  return READERS.find((reader) => reader.documentType === documentType);
}
