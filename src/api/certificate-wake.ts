import type { FastifyBaseLogger } from 'fastify';
import pLimit from 'p-limit';
import { listCaptures } from '../storage/captures.js';
import { listCompanies } from '../storage/companies.js';
import type { ApiDependencies } from './dependencies.js';
import { MAX_LIMIT } from './paging.js';

/** Signals at once: a root with hundreds of branches must not crowd out everything else. */
const CONCURRENCY = 10;

/**
 * Wakes the captures that a new certificate may serve: those of every company with its root. One that is not reached looks
 * for a certificate by itself later, so a failure costs time and nothing else.
 */
export async function wakeCapturesOfRoot(
  { database, temporal }: Pick<ApiDependencies, 'database' | 'temporal'>,
  root: string,
  log: FastifyBaseLogger,
): Promise<void> {
  const wakeOneOf = pLimit(CONCURRENCY);
  let reached = true;
  for (let cursor: string | null = null; reached; ) {
    const companies = await listCompanies(database, { root }, { limit: MAX_LIMIT, cursor });
    const captures = await listCaptures(
      database,
      { enabled: true, visible: companies.rows.map(({ id }) => id) },
      // No company has more captures than document types and environments together.
      { limit: MAX_LIMIT * 6 },
    );
    await wakeOneOf.map(captures.rows, async (capture) => {
      if (!reached) return; // no answer once is an outage: waiting for it again and again helps nobody
      await temporal.wakeCapture(capture).catch((error: unknown) => {
        reached = false;
        log.warn({ err: error }, 'captures could not be told of their new certificate');
      });
    });
    cursor = companies.nextCursor;
    if (cursor === null) break;
  }
}
