import { performance } from 'node:perf_hooks';
import { log } from '@temporalio/activity';
import type { HousekeepingActivities } from '../../model/activity-contract.js';
import type { DocumentKind } from '../../model/document.js';
import { isUnlisted } from '../../model/suppression.js';
import { DocumentPdfs, NoPdf, PdfFailed, type PdfFailure } from '../../pdf/index.js';
import type { Transaction } from '../../storage/database.js';
import type { DocumentRow } from '../../storage/documents.js';
import { ObjectNotFound } from '../../storage/object-store/index.js';
import { type DuePdf, duePdfs, queuePdfs, recordPdfFailure } from '../../storage/pdfs.js';
import { XmlDamaged } from '../../storage/read-xml.js';
import { beat } from '../call/call-watch.js';
import { type CallContext, limitsOf } from '../dependencies.js';
import { rebuilding } from '../failures.js';

/** Their PDF is made once they are here, before anybody asks for it. */
const MADE_AT_CAPTURE: ReadonlySet<DocumentKind> = new Set(['NFSe']);

/** Documents whose rows are in memory at once; a good second of work. */
const BATCH = 50;
/** Milliseconds after which no further batch begins: the next minute's run goes on. */
const RUN_MS = 30_000;

const MINUTE = 60_000;
const MOST_ATTEMPTS = 8;
const LONGEST_WAIT_MS = 60 * MINUTE;
/** What the document itself is the reason of: it will be the same every time. */
const FINAL: ReadonlySet<PdfFailure> = new Set(['unreadable', 'other_document', 'contradiction']);

/** Queues the PDFs of new documents. Not of those that the customer chose not to have: they are made when somebody asks. */
export function queuePdfsOf(tx: Transaction, news: readonly DocumentRow[], at: number): Promise<void> {
  const printed = news.filter(({ kind, suppressed }) => MADE_AT_CAPTURE.has(kind) && !isUnlisted(suppressed));
  return queuePdfs(
    tx,
    printed.map(({ id }) => id),
    at,
  );
}

/** Makes the PDFs that are due, for about half a minute. One that cannot be made does not keep the others waiting. */
export function createMakePdfs(deps: CallContext): HousekeepingActivities['makePdfs'] {
  const pdfs = new DocumentPdfs(deps);
  return () => {
    const stopBeating = beat(limitsOf(deps).beat);
    return rebuilding(() => makeDue(deps, pdfs)).finally(stopBeating);
  };
}

async function makeDue(deps: CallContext, pdfs: DocumentPdfs): Promise<{ made: number; failed: number }> {
  const began = performance.now();
  const done = { made: 0, failed: 0 };
  for (let due = BATCH; due === BATCH && performance.now() - began < RUN_MS; ) {
    const batch = await duePdfs(deps.database, await deps.clock.now(), BATCH);
    due = batch.length;
    const made = await Promise.all(batch.map((one) => makeOne(deps, pdfs, one)));
    done.made += made.filter(Boolean).length;
    done.failed += made.filter((one) => !one).length;
  }
  return done;
}

/** False: in vain, and recorded as such. */
async function makeOne(
  { database, clock }: CallContext,
  pdfs: DocumentPdfs,
  { document, attempts }: DuePdf,
): Promise<boolean> {
  try {
    await pdfs.get(document);
    return true;
  } catch (error) {
    const failure = failureOf(error);
    if (failure === null) throw error;
    const triesAgain = !failure.final && attempts + 1 < MOST_ATTEMPTS;
    const nextAttemptAt = triesAgain ? (await clock.now()) + Math.min(MINUTE * 2 ** attempts, LONGEST_WAIT_MS) : null;
    await recordPdfFailure(database, document.id, { failure: failure.code, nextAttemptAt });
    if (!triesAgain) log.warn('a PDF cannot be made', { documentId: document.id, failure: failure.code });
    return false;
  }
}

/** Null: the document is not to blame; the database or the object store is away. */
function failureOf(error: unknown): { readonly code: string; readonly final: boolean } | null {
  if (error instanceof PdfFailed) return { code: error.failure, final: FINAL.has(error.failure) };
  if (error instanceof NoPdf) return { code: 'no_pdf', final: true };
  // Somebody may bring the archive back from a backup.
  if (error instanceof XmlDamaged || error instanceof ObjectNotFound) return { code: 'content_damaged', final: false };
  return null;
}
