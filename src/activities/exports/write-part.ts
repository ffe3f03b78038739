import { v7 as uuid } from 'uuid';
import type { ExportActivities } from '../../model/export-contract.js';
import { getCompany } from '../../storage/companies.js';
import { type ExportDocument, nextExportDocuments, positionOf } from '../../storage/export-documents.js';
import {
  commitPart,
  type ExportCounts,
  type ExportRow,
  exportPrefix,
  getExport,
  listParts,
} from '../../storage/exports.js';
import type { ExportDependencies } from './dependencies.js';
import { type ExportedFiles, pathOf } from './file-names.js';
import { indexRow, problemRow } from './index-file.js';
import { printDocument } from './print-documents.js';
import { type ReadDocument, readDocuments } from './read-documents.js';
import { requireWanted, unlessCancelled } from './step.js';
import { type ZipEntry, zipOf } from './write-zip.js';

/** What a part holds at most: it is in memory while it is written. */
const PART = { documents: 2_000, withPdfs: 500, xmlBytes: 32 * 1024 * 1024 };

/**
 * Writes the next part: one ZIP, and beside it its rows of the index and of the problems. The objects of an attempt have names of their own, and
 * count only once the row of the part says so.
 */
export async function writePart(
  deps: ExportDependencies,
  exportId: string,
): ReturnType<ExportActivities['writeExportPart']> {
  const { database, objectStore } = deps;
  const row = await getExport(database, exportId);
  const company = row && (await getCompany(database, row.companyId));
  if (row?.status !== 'running' || !company) return null;
  const before = (await listParts(database, exportId)).at(-1);
  const most = deps.partDocuments ?? (row.pdf ? PART.withPdfs : PART.documents);
  const documents = withinBytes(await nextExportDocuments(database, row, before?.last ?? null, most));
  const last = documents.at(-1);
  if (!last) return { more: false, done: row.documents, total: row.total };

  const part = await contentsOf(deps, row, documents, company.taxId);
  const objectKey = `${exportPrefix(row)}${uuid()}`;
  await objectStore.putStream(objectKey, unlessCancelled(zipOf(part.entries)));
  await objectStore.put(indexOf(objectKey), Buffer.from(part.index));
  if (part.problems !== '') await objectStore.put(problemsOf(objectKey), Buffer.from(part.problems));
  await deps.failpoint?.('part_written');
  requireWanted();
  const committed = await database.transaction(async (tx) => {
    const number = (before?.number ?? 0) + 1;
    return commitPart(
      tx,
      exportId,
      { number, objectKey, last: positionOf(last), ...part.counts },
      await deps.clock.now(tx),
    );
  });
  await deps.failpoint?.('part_committed');
  const now = await getExport(database, exportId);
  if (now?.status !== 'running') return null;
  // Another attempt wrote this part: its word holds, and the next step goes on from there.
  return { more: committed ? documents.length > 0 : true, done: now.documents, total: now.total };
}

/** Beside the ZIP of a part. */
export const indexOf = (objectKey: string): string => `${objectKey}.index`;
/** Key of the object with a part's problems, beside the part's own. */
export const problemsOf = (objectKey: string): string => `${objectKey}.problems`;

/** As many as fit, at least one. */
function withinBytes(documents: readonly ExportDocument[]): ExportDocument[] {
  let bytes = 0;
  const end = documents.findIndex(({ xmlLength }) => {
    bytes += xmlLength;
    return bytes > PART.xmlBytes;
  });
  return documents.slice(0, end < 0 ? documents.length : Math.max(end, 1));
}

interface PartContents {
  readonly entries: readonly ZipEntry[];
  readonly index: string;
  readonly problems: string;
  readonly counts: ExportCounts;
}

async function contentsOf(
  deps: ExportDependencies,
  { pdf }: ExportRow,
  documents: readonly ExportDocument[],
  taxId: string,
): Promise<PartContents> {
  const read = await readDocuments(deps.objectStore, documents);
  const contents = await Promise.all(documents.map((document) => filesOf(deps, document, read.get(document.id), pdf)));
  return {
    entries: contents.flatMap(({ entries }) => entries),
    index: documents.map((document, i) => indexRow(document, contents[i]?.files ?? {}, taxId)).join(''),
    problems: documents
      .map((document, i) => (contents[i]?.problem ? problemRow(document, contents[i].problem) : ''))
      .join(''),
    counts: {
      documents: documents.length,
      xmlFiles: contents.filter(({ files }) => files.xml).length,
      pdfFiles: contents.filter(({ files }) => files.pdf).length,
      problems: contents.filter(({ problem }) => problem).length,
    },
  };
}

interface DocumentContents {
  readonly entries: readonly ZipEntry[];
  readonly files: ExportedFiles;
  readonly problem?: string;
}

async function filesOf(
  { database, renderPdf }: ExportDependencies,
  document: ExportDocument,
  read: ReadDocument | undefined,
  withPdf: boolean,
): Promise<DocumentContents> {
  if (!read || 'problem' in read) {
    const problem = read?.problem ?? 'não lido';
    return { entries: [], files: { remark: problem }, problem };
  }
  const path = pathOf(document);
  const xml: ZipEntry = { name: `${path}.xml`, content: () => [read.xml], at: document.capturedAt };
  if (!withPdf) return { entries: [xml], files: { xml: xml.name } };
  requireWanted();
  const printed = await printDocument(database, renderPdf, document, read.xml);
  if ('pdf' in printed) {
    const pdf: ZipEntry = { ...xml, name: `${path}.pdf`, content: () => [printed.pdf], compress: false };
    return { entries: [xml, pdf], files: { xml: xml.name, pdf: pdf.name } };
  }
  if ('remark' in printed) return { entries: [xml], files: { xml: xml.name, remark: printed.remark } };
  return { entries: [xml], files: { xml: xml.name, remark: printed.problem }, problem: printed.problem };
}
