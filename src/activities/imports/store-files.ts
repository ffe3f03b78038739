import { v7 as uuid } from 'uuid';
import { IMPORTED } from '../../model/suppression.js';
import { insertArchive } from '../../storage/archives.js';
import { lockCapture } from '../../storage/captures.js';
import { type CompanyRow, getCompany, lockOrders } from '../../storage/companies.js';
import type { Transaction } from '../../storage/database.js';
import type { DocumentRow } from '../../storage/documents.js';
import { endImport, type ImportFile, type ImportRow, lockRunningImport, recordFiles } from '../../storage/imports.js';
import { countDocuments, insertDocuments, relativesOf, updateDerived } from '../../storage/page.js';
import type { ActivityDependencies } from '../dependencies.js';
import { Announcements } from '../page/announcements.js';
import { deriveTogether, documentRow } from '../page/page-documents.js';
import { archiveFresh, type ImportArchive, type Judged, judgeAll } from './judge-all.js';
import type { DocumentFile, OtherFile } from './read-file.js';

/** What imports need. */
export type ImportDependencies = Pick<
  ActivityDependencies,
  'database' | 'objectStore' | 'clock' | 'wakeEndpoints' | 'limits' | 'failpoint'
>;

/** Files of one upload that are stored together. */
export interface Batch {
  readonly upload: ImportRow;
  readonly company: CompanyRow;
  readonly files: readonly (DocumentFile | OtherFile)[];
  readonly nextEntry: number;
  /** No more files come that these could belong to. */
  readonly final: boolean;
}

/**
 * Stores what is new of some files, and writes what became of each, in one transaction. A repeat finds everything there.
 *
 * @returns false: the import has ended
 */
export async function storeFiles(deps: ImportDependencies, batch: Batch): Promise<boolean> {
  const { database, objectStore } = deps;
  const { final, upload } = batch;
  const documents = batch.files.filter((file) => 'decoded' in file);
  const ids = new Map<number, string>();
  const idOf = (entry: number) => ids.get(entry) ?? ids.set(entry, uuid()).get(entry) ?? '';
  const archives: ImportArchive[] = [];
  for (const group of await judgeAll(database, documents, { final, idOf })) {
    const archive = await archiveFresh(objectStore, upload, group);
    if (archive) archives.push(archive);
  }
  await deps.failpoint?.('files_archived');
  const wake = await database.transaction(async (tx) => {
    await lockOrders(tx, upload.companyId);
    const now = await deps.clock.now(tx);
    if ((await getCompany(tx, upload.companyId))?.deletingAt !== null) await endImport(tx, upload.id, 'cancelled', now);
    if ((await lockRunningImport(tx, upload.id)) === null) return null;
    for (const { capture } of documents) await lockCapture(tx, capture);
    // Again, because a page may have brought some of them meanwhile.
    const judged = await judgeAll(tx, documents, { final, idOf });
    return commit(tx, batch, judged, archives, now);
  });
  await deps.failpoint?.('files_committed');
  if (wake === null) return false;
  deps.wakeEndpoints(wake);
  return true;
}

async function commit(
  tx: Transaction,
  { upload, company, files, nextEntry }: Batch,
  judged: readonly Judged[],
  archives: readonly ImportArchive[],
  now: number,
): Promise<string[]> {
  const results = files.flatMap((file) => ('decoded' in file ? [] : [reported(file, file)]));
  const wake = new Set<string>();
  for (const group of judged) {
    for (const { document, judgement } of group.others) results.push(reported(document, judgement));
    const place = {
      taxId: company.taxId,
      at: now,
      suppressed: upload.notify ? null : `${IMPORTED}: nobody asked for webhooks`,
    };
    const rows = group.fresh.map(({ document, id }) => ({ ...rowOf(document, archives, place), id }));
    const stored = await storeNew(tx, group, rows, archives, now);
    for (const { document, id } of group.fresh) {
      const isNew = stored.some((row) => row.id === id);
      results.push(reported(document, { result: isNew ? 'imported' : 'already_there', documentId: isNew ? id : null }));
    }
    if (!upload.notify) continue;
    const announcements = new Announcements(tx, group.capture, company, now);
    await announcements.documents(stored);
    for (const endpoint of await announcements.publish()) wake.add(endpoint);
  }
  await recordFiles(tx, upload.id, results, nextEntry, now);
  return [...wake];
}

interface Place {
  readonly taxId: string;
  readonly at: number;
  readonly suppressed: string | null;
}

function rowOf(
  document: DocumentFile,
  archives: readonly ImportArchive[],
  { taxId, at, suppressed }: Place,
): DocumentRow {
  const { capture, file, bytes, decoded } = document;
  const archive = archives.find(
    ({ offsets, capture: of }) => offsets.has(file.entry) && of.documentType === capture.documentType,
  );
  const offset = archive?.offsets.get(file.entry);
  // It has become new between two looks. The next attempt sees it so from the beginning.
  if (!archive || offset === undefined) throw new Error('a document to be stored has no archive yet');
  const row = documentRow(
    { capture, taxId, archiveId: archive.id, objectKey: archive.objectKey, origin: 'import', capturedAt: at },
    { nsu: null, schema: null, offset, length: bytes.length, encoding: 'identity' },
    decoded,
  );
  return { ...row, suppressed };
}

/** Stores new documents with what they say about others of their keys, and the archives in which they stand. */
async function storeNew(
  tx: Transaction,
  { capture }: Judged,
  rows: readonly DocumentRow[],
  archives: readonly ImportArchive[],
  now: number,
): Promise<DocumentRow[]> {
  if (rows.length === 0) return [];
  for (const archiveId of new Set(rows.map((row) => row.archiveId))) {
    const archive = archives.find(({ id }) => id === archiveId);
    if (!archive) continue;
    const { id, objectKey, size, sha256 } = archive;
    const unknown = { requestKey: null, callId: null, contentType: null, httpStatus: null };
    await insertArchive(tx, { ...capture, ...unknown, id, objectKey, size, sha256, capturedAt: now });
  }
  const keys = rows.map(({ key }) => key).filter((key) => key !== null);
  const { fresh, changed } = deriveTogether(rows, await relativesOf(tx, capture, { nsus: [], keys }));
  const inserted = await insertDocuments(tx, fresh);
  await updateDerived(tx, changed);
  await countDocuments(tx, capture, inserted.size);
  return fresh.filter(({ id }) => inserted.has(id));
}

function reported(
  { file }: Pick<DocumentFile, 'file'>,
  {
    result,
    reason = null,
    documentId = null,
  }: Pick<ImportFile, 'result'> & Partial<Pick<ImportFile, 'reason' | 'documentId'>>,
): ImportFile {
  return { entry: file.entry, name: file.name, result, reason, documentId };
}
