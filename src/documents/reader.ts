import type { DecodedDocument, DocumentKind } from '../model/document.js';
import type { DocumentType } from '../model/words.js';
import { compilePaths, Fields, type Found, type PathNode, type Paths } from './xml/paths.js';

/** What a reader makes of the fields that it asked for. */
export type Reading = Pick<DecodedDocument, 'key' | 'metadata' | 'event' | 'implies' | 'warnings'>;

/** How documents with one root element are read. */
export interface RootReader {
  readonly kind: DocumentKind;
  readonly root: PathNode;
  read(found: Found): Reading;
}

/** One document type: everything that the rest of the decoder knows about it. CT-e and NFS-e are added as one more of these each. */
export interface DocumentReader {
  readonly documentType: DocumentType;
  readonly roots: readonly RootReader[];
  /** Metadata fields, besides `issuer`, that name parties whose role makes a document `received` (design section 7). */
  readonly otherPartyFields: readonly string[];
  /** Fields that name parties whose role says nothing of the direction. */
  readonly mentionedFields?: readonly string[];
  /** The key of a document whose root nobody knows, from the texts that may hold it. Absent: as NF-e and CT-e write theirs. */
  readonly searchedKey?: (texts: readonly string[]) => Pick<Reading, 'key' | 'metadata'>;
}

/**
 * @param rootElement local name of the root element, which alone decides the kind
 * @param paths what the reader needs, relative to the root
 */
export function rootReader<Name extends string>(
  kind: DocumentKind,
  rootElement: string,
  paths: Paths<Name>,
  read: (fields: Fields<Name>) => Reading,
): RootReader {
  const { root, fields } = compilePaths(rootElement, paths);
  return { kind, root, read: (found) => read(new Fields(fields, found)) };
}

/** The same object without its undefined fields: absent means absent, also in JSON and for `in`. */
export function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const name of Object.keys(fields) as (keyof T)[]) {
    const value = fields[name];
    if (value !== undefined) {
      kept[name] = value as Exclude<T[keyof T], undefined>;
    }
  }
  return kept;
}
