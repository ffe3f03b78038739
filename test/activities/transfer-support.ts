import { createHash, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { documentRow } from '../../src/activities/page/page-documents.js';
import { decodeItem } from '../../src/documents/index.js';
import { parseNsu } from '../../src/model/nsu.js';
import type { CaptureKey } from '../../src/model/words.js';
import { insertArchive } from '../../src/storage/archives.js';
import type { Database } from '../../src/storage/database.js';
import type { DocumentRow } from '../../src/storage/documents.js';
import { archiveKey, type ObjectStore } from '../../src/storage/object-store/index.js';
import { insertDocuments } from '../../src/storage/page.js';

const PAGE = 50;

/** Documents as pages leave them: answers of fifty in the object store, rows that point into them. Gives the rows, in their order. */
export async function storePages(
  { db, store }: { readonly db: Database; readonly store: ObjectStore },
  {
    capture,
    taxId,
    firstNsu = 1,
    at = Date.UTC(2026, 10, 30, 12),
  }: { capture: CaptureKey; taxId: string; firstNsu?: number; at?: number },
  xmls: readonly string[],
): Promise<DocumentRow[]> {
  const all: DocumentRow[] = [];
  for (let first = 0; first < xmls.length; first += PAGE) {
    let answer = '<retDistDFeInt><loteDistDFeInt>';
    const items = xmls.slice(first, first + PAGE).map((xml, i) => {
      const content = gzipSync(xml).toString('base64');
      answer += '<docZip>';
      const item = {
        offset: answer.length,
        length: content.length,
        nsu: parseNsu(firstNsu + first + i),
        schema: null,
        encoding: 'base64+gzip',
      } as const;
      answer += `${content}</docZip>`;
      const decoded = decodeItem(
        { content: Buffer.from(content), encoding: 'base64+gzip', schema: null },
        capture.documentType,
      );
      if (!decoded.ok) throw new Error(decoded.detail);
      return { item, decoded };
    });
    const body = Buffer.from(`${answer}</loteDistDFeInt></retDistDFeInt>`);
    const objectKey = archiveKey(capture, at, `${randomUUID()}:1`);
    await store.put(objectKey, body);
    const sha256 = createHash('sha256').update(body).digest('hex');
    const none = { requestKey: null, callId: null, contentType: null, httpStatus: null };
    const archiveId = await insertArchive(db, {
      ...capture,
      ...none,
      id: randomUUID(),
      objectKey,
      size: body.length,
      sha256,
      capturedAt: at,
    });
    const place = { capture, taxId, archiveId, objectKey, origin: 'distribution', capturedAt: at + first } as const;
    const rows = items.map(({ item, decoded }) => documentRow(place, item, decoded));
    await db.transaction((tx) => insertDocuments(tx, rows));
    all.push(...rows);
  }
  return all;
}

export async function gathered(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of source) pieces.push(piece);
  return Buffer.concat(pieces);
}
