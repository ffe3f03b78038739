import { createHash } from 'node:crypto';
import type { ItemEncoding } from '../model/document.js';
import type { DocumentRow } from './documents.js';
import type { ObjectStore } from './object-store/index.js';

/** The archive does not hold the bytes that were captured: bit rot, or an object changed by other hands. */
export class XmlDamaged extends Error {
  override readonly name = 'XmlDamaged';
  constructor(
    readonly documentId: string,
    readonly archiveId: string,
    problem: string,
  ) {
    super(`document ${documentId}: ${problem}; restore archive ${archiveId} from a backup of the object store`);
  }
}

/** Undoes an item's encoding. Throws on bytes that it cannot undo. */
export type ExtractXml = (content: Uint8Array, encoding: ItemEncoding) => Uint8Array;

/**
 * The exact bytes of a document's XML: one ranged read of its archive, decoded and checked against the hash taken at capture.
 *
 * @throws {XmlDamaged} when they are not those bytes any more
 * @throws {ObjectNotFound} when the archive is gone
 * @throws {ObjectStoreUnavailable}
 */
export async function readXml(
  store: ObjectStore,
  row: Pick<DocumentRow, 'id' | 'archiveId' | 'objectKey' | 'byteOffset' | 'byteLength' | 'encoding' | 'xmlSha256'>,
  extractXml: ExtractXml,
): Promise<Uint8Array> {
  const content = await store.getRange(row.objectKey, row.byteOffset, row.byteLength);
  let xml: Uint8Array;
  try {
    xml = extractXml(content, row.encoding);
  } catch {
    throw new XmlDamaged(
      row.id,
      row.archiveId,
      `its ${row.byteLength} archived bytes cannot be decoded as ${row.encoding}`,
    );
  }
  if (createHash('sha256').update(xml).digest('hex') !== row.xmlSha256) {
    throw new XmlDamaged(
      row.id,
      row.archiveId,
      'its archived bytes are not those that were captured (SHA-256 differs)',
    );
  }
  return xml;
}
