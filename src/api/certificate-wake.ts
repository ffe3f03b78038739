import type { FastifyBaseLogger } from 'fastify';
import pLimit from 'p-limit';
import { listCaptures } from '../storage/captures.js';
import { listCompanies } from '../storage/companies.js';
import { pendingManifestations } from '../storage/manifestation-queue.js';
import type { ApiDependencies } from './dependencies.js';
import { MAX_LIMIT } from './paging.js';

/** Signals at once: a root with hundreds of branches must not crowd out everything else. */
const CONCURRENCY = 10;

/**
 * Wakes the captures, and whatever is pending to be said, that a new certificate may serve: those of every company with its root. One
 * that is not reached looks for a certificate by itself later, so a failure costs time and nothing else.
 */
export async function wakeCapturesOfRoot(
  { database, temporal }: Pick<ApiDependencies, 'database' | 'temporal'>,
  root: string,
  log: FastifyBaseLogger,
): Promise<void> {
  const wakeOneOf = pLimit(CONCURRENCY);
  let reached = true;
  const notReached = (error: unknown) => {
    reached = false;
    log.warn({ err: error }, 'not everything could be told of its new certificate');
  };
  for (let cursor: string | null = null; reached; ) {
    const companies = await listCompanies(database, { root }, { limit: MAX_LIMIT, cursor });
    const ids = companies.rows.map(({ id }) => id);
    const captures = await listCaptures(
      database,
      { enabled: true, visible: ids },
      // No company has more captures than document types and environments together.
      { limit: MAX_LIMIT * 6 },
    );
    await wakeOneOf.map(captures.rows, async (capture) => {
      if (!reached) return; // no answer once is an outage: waiting for it again and again helps nobody
      await temporal.wakeCapture(capture).catch(notReached);
    });
    const pending = await pendingManifestations(database, ids);
    await wakeOneOf.map(pending, async (capture) => {
      if (reached) await temporal.wakeManifestation(capture).catch(notReached);
    });
    cursor = companies.nextCursor;
    if (cursor === null) break;
  }
}
