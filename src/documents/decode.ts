import { hash } from 'node:crypto';
import {
  type DecodedDocument,
  type DecodedItem,
  type DecodeItem,
  DOCUMENT_KINDS,
  type DocumentKind,
  type ItemFailure,
} from '../model/document.js';
import type { DocumentType } from '../model/words.js';
import { keyMetadata } from './access-key.js';
import { toUtf8 } from './charset.js';
import { searchedKey } from './document-key.js';
import { extractXml } from './extract.js';
import { DECODE_LIMITS, type DecodeLimits } from './limits.js';
import type { Reading, RootReader } from './reader.js';
import { readerOf } from './registry.js';
import { parse, XmlFault } from './xml/parse.js';
import type { Found, PathNode } from './xml/paths.js';
import { scan } from './xml/scan.js';

/** Decodes one item of a page: encoded bytes → XML → what it says. Every input has an answer; nothing is thrown. */
export const decodeItem: DecodeItem = (item, documentType) => decodeWithin(DECODE_LIMITS, item, documentType);

/** {@link decodeItem} under other limits. */
export function decodeWithin(
  limits: DecodeLimits,
  item: Parameters<DecodeItem>[0],
  documentType: DocumentType,
): DecodedItem {
  try {
    const extracted = extractXml(item.content, item.encoding, limits);
    if (!extracted.ok) {
      return extracted;
    }
    const text = toUtf8(extracted.xml);
    if (!text.ok) {
      return failed('encoding', text.detail);
    }
    const document = readDocument(text.utf8, documentType, limits);
    const warnings = [...text.warnings, ...schemaWarnings(item.schema, document), ...document.warnings];
    return {
      ok: true,
      document: { ...document, warnings },
      xmlSha256: hash('sha256', extracted.xml, 'hex'),
      xmlLength: extracted.xml.length,
    };
  } catch (error) {
    // Only the kind of an unforeseen error: its message could quote the document.
    return error instanceof XmlFault
      ? failed(error.failure, error.message)
      : failed('internal', error instanceof Error ? error.name : typeof error);
  }
}

/** @throws {XmlFault} */
function readDocument(utf8: Buffer, documentType: DocumentType, limits: DecodeLimits): DecodedDocument {
  const readers = readerOf(documentType)?.roots ?? [];
  const roots = readers.map((reader) => reader.root);
  const scanned = scan(utf8, roots, limits.depth);
  if (scanned !== null) {
    return knownDocument(readers, scanned.root, scanned.found);
  }
  const parsed = parse(utf8.toString('utf8'), roots, limits);
  return parsed.root === null
    ? { kind: 'unknown', root: parsed.rootName, ...unknownReading(parsed.keyTexts, documentType) }
    : knownDocument(readers, parsed.root, parsed.found);
}

/** @throws {Error} for a root that none of the readers has, which would be a bug */
function knownDocument(readers: readonly RootReader[], root: PathNode, found: Found): DecodedDocument {
  const reader = readers.find((candidate) => candidate.root === root);
  if (reader === undefined) {
    throw new Error('a root without a reader');
  }
  return { kind: reader.kind, root: root.name, ...reader.read(found) };
}

function unknownReading(keyTexts: readonly string[], documentType: DocumentType): Reading {
  const search = readerOf(documentType)?.searchedKey ?? searchedAccessKey;
  return { ...search(keyTexts), event: null, implies: null, warnings: [] };
}

function searchedAccessKey(keyTexts: readonly string[]): Pick<Reading, 'key' | 'metadata'> {
  const key = searchedKey(keyTexts);
  return { key, metadata: key === null ? {} : keyMetadata(key) };
}

/**
 * The root element decides; the `schema` attribute is a hint. Of `procNFe_v4.00.xsd` only what stands before the `_` counts: versions and
 * the way they are written differ (case C25).
 */
function schemaWarnings(schema: string | null, document: DecodedDocument): string[] {
  const hint = schema?.split(/[_.]/)[0] as DocumentKind | undefined;
  return hint !== undefined && DOCUMENT_KINDS.includes(hint) && hint !== document.kind
    ? [`schema_differs: announced as ${hint}, is ${document.kind}`]
    : [];
}

function failed(failure: ItemFailure, detail: string): DecodedItem {
  return { ok: false, failure, detail };
}
