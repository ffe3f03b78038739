import type { ExportActivities, ExportRowActivities } from '../../model/export-contract.js';
import { countExportDocuments } from '../../storage/export-documents.js';
import { endExport, exportPrefix, getExport, openExport } from '../../storage/exports.js';
import { rebuilding } from '../failures.js';
import type { ExportDependencies } from './dependencies.js';
import { joinExport } from './join-export.js';
import { step } from './step.js';
import { writePart } from './write-part.js';

export type { ExportDependencies } from './dependencies.js';

/** Exports, by the queue that their activities are served on. */
export function createExportActivities(deps: ExportDependencies): {
  readonly bulk: ExportActivities;
  readonly background: ExportRowActivities;
} {
  return {
    bulk: {
      writeExportPart: ({ exportId }) => step(deps, () => writePart(deps, exportId)),
      joinExport: ({ exportId }) => step(deps, () => joinExport(deps, exportId)),
    },
    background: {
      openExport: ({ exportId }) => rebuilding(() => open(deps, exportId)),
      dropExport: ({ exportId, failed }) => rebuilding(() => drop(deps, exportId, failed)),
    },
  };
}

async function open(
  { database, clock }: ExportDependencies,
  exportId: string,
): ReturnType<ExportRowActivities['openExport']> {
  const row = await getExport(database, exportId);
  if (row === null) return null;
  const total = row.total ?? (await countExportDocuments(database, row));
  const opened = await openExport(database, exportId, total, await clock.now());
  return opened && { done: opened.documents, total: opened.total };
}

async function drop(
  { database, objectStore, clock }: ExportDependencies,
  exportId: string,
  failed: boolean,
): Promise<void> {
  const end = failed ? ({ status: 'failed', error: 'internal' } as const) : ({ status: 'cancelled' } as const);
  const row = await getExport(database, exportId);
  if (row === null || row.status === 'done') return;
  await endExport(database, exportId, end, await clock.now());
  await objectStore.deletePrefix(exportPrefix(row));
}
