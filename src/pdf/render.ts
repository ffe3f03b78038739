import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import { Piscina } from 'piscina';
import { NoPdf, PdfFailed } from './errors.js';
import type { PdfRequest } from './request.js';
import type { ThreadAnswer } from './thread.js';

/** Laying out holds a thread for milliseconds; the largest legal note for a good part of a second. What takes longer is an attack or a fault. */
const LIMIT_MS = 20_000;
/** One processor is left for the event loop, which must go on answering. */
const THREADS = Math.min(4, Math.max(1, availableParallelism() - 1));
/** Megabytes. The largest legal note (990 items, 3 MB of XML) takes about a hundred. */
const LARGEST_HEAP = 512;

/** Waiting for a thread does not count against the time limit, so requests wait here and not in the pool. */
const turn = pLimit(THREADS);
let pool: Piscina<PdfRequest, ThreadAnswer> | undefined;

/**
 * Makes the PDF of a document in a worker thread. Threads start with the first request and end when nothing was asked for half a minute.
 *
 * The same XML and situation give the same bytes for as long as `PDF_LAYOUT_VERSION` is the same.
 *
 * @param limitMs milliseconds for the making itself
 * @throws {NoPdf} when there is no printed form of this kind
 * @throws {PdfFailed} when this document cannot be printed; trying again helps only for `too_slow`
 */
export function renderPdf(request: PdfRequest, limitMs = LIMIT_MS): Promise<Uint8Array> {
  return turn(async () => {
    const answer = await answerOf(request, limitMs);
    if ('pdf' in answer) return answer.pdf;
    throw 'noPdf' in answer ? new NoPdf(answer.noPdf, answer.message) : new PdfFailed(answer.failure, answer.message);
  });
}

/** Ends the threads; the next request starts new ones. */
export async function closePdfThreads(): Promise<void> {
  const closing = pool;
  pool = undefined;
  await closing?.close();
}

async function answerOf(request: PdfRequest, limitMs: number): Promise<ThreadAnswer> {
  const limit = AbortSignal.timeout(limitMs);
  try {
    pool ??= new Piscina({
      filename: new URL(import.meta.url.endsWith('.ts') ? 'thread.ts' : 'thread.js', import.meta.url).href,
      name: 'answer' satisfies keyof typeof import('./thread.js'),
      minThreads: 0,
      maxThreads: THREADS,
      idleTimeout: 30_000,
      resourceLimits: { maxOldGenerationSizeMb: LARGEST_HEAP },
    });
    // A copy of its own: a view would take its whole buffer along, which may be an archive of fifty documents.
    const xml = new Uint8Array(request.xml);
    // The signal ends the thread, whatever it is doing.
    return await pool.run({ ...request, xml }, { signal: limit, transferList: [xml.buffer] });
  } catch (error) {
    if (limit.aborted) throw new PdfFailed('too_slow', `The PDF was not done within ${limitMs} ms`);
    throw new PdfFailed(
      'internal',
      `The thread that made the PDF failed (${error instanceof Error ? error.name : typeof error})`,
    );
  }
}
