import { createHash } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import {
  type ExportPart,
  type ExportRow,
  exportPrefix,
  finishExport,
  getExport,
  listParts,
} from '../../storage/exports.js';
import { type ObjectStore, readBlocks } from '../../storage/object-store/index.js';
import type { ExportDependencies } from './dependencies.js';
import { INDEX_HEADER, INDEX_NAME, PROBLEMS_HEADER, PROBLEMS_NAME } from './index-file.js';
import { joinZips, type ZipPart } from './join-zip.js';
import { unlessCancelled } from './step.js';
import { indexOf, problemsOf } from './write-part.js';
import { type ZipEntry, zipOf } from './write-zip.js';

/** How long the file can be downloaded. Milliseconds. */
const KEPT = 7 * 86_400_000;

/** Makes the file of an export from its parts, the index first, and deletes the parts. One that is done stays as it is. */
export async function joinExport(deps: ExportDependencies, exportId: string): Promise<void> {
  const { database, objectStore } = deps;
  const row = await getExport(database, exportId);
  if (row?.status === 'done') return deleteOthers(objectStore, row, row.objectKey);
  if (row?.status !== 'running') return;
  const parts = await listParts(database, exportId);
  const index = `${exportPrefix(row)}${uuid()}`;
  await objectStore.putStream(index, zipOf(indexEntries(objectStore, row, parts)));
  const zips: ZipPart[] = [];
  for (const objectKey of [index, ...parts.map((part) => part.objectKey)])
    zips.push(await partOf(objectStore, objectKey));

  const objectKey = `${exportPrefix(row)}${uuid()}.zip`;
  const measure = { size: 0, hash: createHash('sha256') };
  const joined = measured(unlessCancelled(joinZips(zips)), measure);
  await objectStore.putStream(objectKey, joined, { contentType: 'application/zip' });
  await deps.failpoint?.('export_joined');
  await database.transaction(async (tx) => {
    const now = await deps.clock.now(tx);
    const finished = { objectKey, size: measure.size, sha256: measure.hash.digest('hex'), expiresAt: now + KEPT };
    await finishExport(tx, exportId, finished, now);
  });
  await deleteOthers(objectStore, row, (await getExport(database, exportId))?.objectKey ?? null);
}

/** Everything of an export but its file. */
async function deleteOthers(store: ObjectStore, row: ExportRow, kept: string | null): Promise<void> {
  for await (const { key } of store.list(exportPrefix(row))) if (key !== kept) await store.delete(key);
}

function indexEntries(store: ObjectStore, { fromAt, problems }: ExportRow, parts: readonly ExportPart[]): ZipEntry[] {
  const keys = parts.map(({ objectKey }) => objectKey);
  // A time that the same documents have again in another export.
  const index = { name: INDEX_NAME, content: () => headed(store, INDEX_HEADER, keys.map(indexOf)), at: fromAt };
  if (problems === 0) return [index];
  const withProblems = parts.filter((part) => part.problems > 0).map(({ objectKey }) => problemsOf(objectKey));
  return [index, { name: PROBLEMS_NAME, content: () => headed(store, PROBLEMS_HEADER, withProblems), at: fromAt }];
}

async function* headed(store: ObjectStore, header: string, keys: readonly string[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from(header);
  for (const key of keys) yield await store.get(key);
}

async function partOf(store: ObjectStore, key: string): Promise<ZipPart> {
  const found = await store.head(key);
  if (!found) throw new Error('a part of the export is gone');
  return { size: found.size, read: (start, end) => readBlocks(store, key, start, end) };
}

async function* measured(
  source: AsyncIterable<Buffer>,
  measure: { size: number; readonly hash: ReturnType<typeof createHash> },
): AsyncGenerator<Buffer, void, undefined> {
  for await (const block of source) {
    measure.size += block.length;
    measure.hash.update(block);
    yield block;
  }
}
