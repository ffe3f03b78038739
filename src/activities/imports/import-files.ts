import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DECODE_LIMITS } from '../../documents/index.js';
import type { ImportActivities } from '../../model/import-contract.js';
import { type CompanyRow, getCompany } from '../../storage/companies.js';
import { getImport, type ImportRow, waitingEntries } from '../../storage/imports.js';
import { requireWanted } from '../exports/step.js';
import { type DocumentFile, type OtherFile, readFile } from './read-file.js';
import { type ImportDependencies, storeFiles } from './store-files.js';
import { filesOf } from './upload.js';

/** What one transaction takes: its files are in memory. */
const BATCH = { files: 200, bytes: 16 * 1024 * 1024 };
/** A step ends after so long, so that its progress shows and other companies have their turn. Milliseconds. */
const LONGEST_STEP = 20_000;

type Progress = Awaited<ReturnType<ImportActivities['importFiles']>>;

/**
 * Works off the next files of an upload. When all were looked at, once more those which wait: events and summaries that do not name the company
 * belong to it only through another document, which may stand behind them.
 */
export async function importFiles(deps: ImportDependencies, importId: string): Promise<Progress> {
  const upload = await getImport(deps.database, importId);
  const company = upload && (await getCompany(deps.database, upload.companyId));
  if (upload?.status !== 'running' || !company) return null;
  const total = upload.total ?? 0;
  if (upload.nextEntry < LAST) return work(deps, { upload, company, total });
  const waiting = await waitingEntries(deps.database, importId, BATCH.files);
  if (waiting.length === 0) return { more: false, done: total, total };
  return work(deps, { upload, company, total, waiting: new Set(waiting) });
}

/** What `nextEntry` says when all files were looked at: the largest integer of its column. */
const LAST = 2_147_483_647;

interface Work {
  readonly upload: ImportRow;
  readonly company: CompanyRow;
  readonly total: number;
  /** These alone, and for good. */
  readonly waiting?: ReadonlySet<number>;
}

async function work(deps: ImportDependencies, { upload, company, total, waiting }: Work): Promise<Progress> {
  const ends = performance.now() + LONGEST_STEP;
  const final = waiting !== undefined;
  let files: (DocumentFile | OtherFile)[] = [];
  let bytes = 0;
  let seen = 0;
  const commit = async (nextEntry: number) => {
    requireWanted();
    const stored = await storeFiles(deps, { upload, company, files, nextEntry, final });
    files = [];
    bytes = 0;
    return stored;
  };
  for await (const file of filesOf(deps.objectStore, upload)) {
    seen += 1;
    if (final ? !waiting.has(file.entry) : file.entry < upload.nextEntry) continue;
    files.push(await readFile(file, upload, company.taxId));
    bytes += Math.min(file.size, DECODE_LIMITS.expandedBytes);
    await nextTurn();
    if (files.length < BATCH.files && bytes < BATCH.bytes) continue;
    if (!(await commit(final ? LAST : file.entry + 1))) return null;
    if (!final && performance.now() > ends) return { more: true, done: seen, total };
  }
  return (await commit(LAST)) ? { more: true, done: seen, total } : null;
}
