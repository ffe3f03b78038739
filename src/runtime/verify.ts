import { cadenceOf, scaled } from '../cadence/index.js';
import { extractXml } from '../documents/index.js';
import type { CaptureKey } from '../model/words.js';
import { restoreCapture } from '../storage/capture-orders.js';
import { listCaptures } from '../storage/captures.js';
import { createDatabase, type Database } from '../storage/database.js';
import type { DocumentRow } from '../storage/documents.js';
import { assertMigrated } from '../storage/migrate.js';
import { type ObjectStore, openObjectStore } from '../storage/object-store/index.js';
import { PostgresClock } from '../storage/postgres-clock.js';
import { readXml } from '../storage/read-xml.js';

/** What `malote verify` found, and did. */
export interface Verification {
  readonly captures: number;
  /** Captures whose workflow knows more than the database: nothing is asked for them. */
  readonly behind: readonly CaptureKey[];
  /** Captures that were held for one empty-queue time and go on from the database as it is. */
  readonly repaired: number;
  readonly documentsRead: number;
  /** Documents whose archived bytes are gone or are not those that were captured. */
  readonly damaged: readonly { readonly documentId: string; readonly problem: string }[];
}

/** Newest documents that are read back: what a restore loses is lost at the end. */
const NEWEST = 1_000;
const PAGE = 200;

/**
 * Compares the database with the object store and with what workflows know; with `repair`, takes up every capture again after a
 * restore (docs/operating.md, Restore). To be run while no worker runs.
 *
 * @throws {WrongSchema} @throws {DatabaseError} @throws {InvalidObjectStore}
 */
export async function verify(options: {
  readonly database: string;
  readonly objectStore: string;
  readonly repair: boolean;
}): Promise<Verification> {
  const objectStore = await openObjectStore(options.objectStore);
  const database = createDatabase({ url: options.database, applicationName: 'malote-verify', max: 4 });
  try {
    await assertMigrated(database);
    const found = await verifyCaptures(database, options.repair);
    return { ...found, ...(await verifyNewest(database, objectStore)) };
  } finally {
    await database.close();
  }
}

async function verifyCaptures(
  database: Database,
  repair: boolean,
): Promise<Pick<Verification, 'captures' | 'behind' | 'repaired'>> {
  const behind: CaptureKey[] = [];
  let captures = 0;
  let repaired = 0;
  let cursor: string | null = null;
  do {
    const page = await listCaptures(database, {}, { limit: PAGE, cursor });
    for (const row of page.rows) {
      const { companyId, documentType, environment } = row;
      captures += 1;
      if (row.behind) behind.push({ companyId, documentType, environment });
      if (!repair) continue;
      const now = await new PostgresClock(database).now();
      const hold = scaled(cadenceOf(documentType).emptyQueue, row.state.timeScale);
      await database.transaction((tx) => restoreCapture(tx, row, { now, hold }));
      repaired += 1;
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
  return { captures, behind, repaired };
}

async function verifyNewest(
  database: Database,
  store: ObjectStore,
): Promise<Pick<Verification, 'documentsRead' | 'damaged'>> {
  const { rows } = await database.query<Parameters<typeof readXml>[1] & Pick<DocumentRow, 'id'>>(
    `select id, archive_id as "archiveId", object_key as "objectKey", byte_offset as "byteOffset", byte_length as "byteLength", encoding,
       xml_sha256 as "xmlSha256" from documents order by captured_at desc, id desc limit $1`,
    [NEWEST],
  );
  const damaged: { documentId: string; problem: string }[] = [];
  for (const row of rows) {
    try {
      await readXml(store, row, extracted);
    } catch (error) {
      damaged.push({ documentId: row.id, problem: error instanceof Error ? error.message : 'cannot be read' });
    }
  }
  return { documentsRead: rows.length, damaged };
}

const extracted: Parameters<typeof readXml>[2] = (content, encoding) => {
  const result = extractXml(content, encoding);
  if (!result.ok) throw new Error(result.detail);
  return result.xml;
};
