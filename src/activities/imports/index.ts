import type { ImportActivities, ImportRowActivities } from '../../model/import-contract.js';
import { endImport, getImport, openImport } from '../../storage/imports.js';
import { ObjectNotFound } from '../../storage/object-store/index.js';
import { step } from '../exports/step.js';
import { rebuilding } from '../failures.js';
import { importFiles } from './import-files.js';
import type { ImportDependencies } from './store-files.js';
import { countUpload, UploadRefused } from './upload.js';

export type { ImportDependencies } from './store-files.js';

/** Imports, by the queue that their activities are served on. */
export function createImportActivities(deps: ImportDependencies): {
  readonly bulk: ImportActivities;
  readonly background: ImportRowActivities;
} {
  return {
    bulk: {
      openImport: ({ importId }) => step(deps, () => open(deps, importId)),
      importFiles: ({ importId }) => step(deps, () => importFiles(deps, importId)),
    },
    background: { closeImport: ({ importId, failed }) => rebuilding(() => close(deps, importId, failed)) },
  };
}

async function open(
  { database, objectStore, clock }: ImportDependencies,
  importId: string,
): ReturnType<ImportActivities['openImport']> {
  const upload = await getImport(database, importId);
  if (upload === null || (upload.status !== 'pending' && upload.status !== 'running')) return null;
  try {
    const total = upload.total ?? (await countUpload(objectStore, upload));
    const opened = await openImport(database, importId, total, await clock.now());
    return opened && { done: 0, total };
  } catch (error) {
    if (!(error instanceof UploadRefused || error instanceof ObjectNotFound)) throw error;
    const code = error instanceof UploadRefused ? error.code : 'internal';
    await endImport(database, importId, code, await clock.now());
    return null;
  }
}

async function close(
  { database, objectStore, clock }: ImportDependencies,
  importId: string,
  failed: boolean,
): Promise<void> {
  const upload = await getImport(database, importId);
  if (upload === null) return;
  await endImport(database, importId, failed ? 'internal' : null, await clock.now());
  await objectStore.delete(upload.objectKey);
}
