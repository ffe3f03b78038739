import { log } from '@temporalio/activity';
import { scaled } from '../../cadence/index.js';
import type { HousekeepingActivities } from '../../model/activity-contract.js';
import type { CaptureKey } from '../../model/words.js';
import type { CaptureRow } from '../../storage/capture-rows.js';
import { lockCapture } from '../../storage/captures.js';
import { getCompany } from '../../storage/companies.js';
import type { Transaction } from '../../storage/database.js';
import { isContentError } from '../../storage/database-error.js';
import type { DocumentRow } from '../../storage/documents.js';
import {
  capturesWithDueHeld,
  decideHeld,
  type HeldDocument,
  holdDocuments,
  takeDueHeld,
  takeHeldOf,
} from '../../storage/held-documents.js';
import { beat } from '../call/call-watch.js';
import { type CallContext, limitsOf } from '../dependencies.js';
import { rebuilding } from '../failures.js';
import { Announcements } from './announcements.js';
import { followed, mayHold, reasonsByKey } from './delivery-policy.js';

/** An event whose document has not come by then is told of anyhow: it may be one that this company never gets. */
const LONGEST_WAIT_MS = 24 * 3_600_000;

/** Documents of one capture in one transaction. */
const BATCH = 200;
/** Transactions for one capture in one run: thousands wait at once when somebody asks for the history. */
const ROUNDS = 20;
/** Captures in one run; the next minute's run takes the rest. */
const CAPTURES = 500;

/** Keeps the webhooks of new documents back that wait for the document they speak of. */
export function holdBack(tx: Transaction, row: CaptureRow, held: readonly HeldDocument[], at: number): Promise<void> {
  return holdDocuments(tx, row, held, at + scaled(LONGEST_WAIT_MS, row.state.timeScale));
}

/** Decides for documents that waited for one of the new ones. Gives those whose webhook is due now. */
export async function releaseWith(
  tx: Transaction,
  capture: CaptureKey,
  news: readonly DocumentRow[],
): Promise<DocumentRow[]> {
  if (!mayHold(capture.documentType)) return [];
  const reasons = reasonsByKey(news);
  if (reasons.size === 0) return [];
  const taken = await takeHeldOf(tx, capture, [...reasons.keys()]);
  const decided = new Map(taken.map(({ documentId, key }) => [documentId, followed(reasons.get(key))]));
  return (await decideHeld(tx, decided)).filter(({ suppressed }) => suppressed === null);
}

/** Sends what has waited long enough for a document that never came. */
export function createReleaseHeld(deps: CallContext): HousekeepingActivities['releaseHeld'] {
  return () => {
    const stopBeating = beat(limitsOf(deps).beat);
    return rebuilding(() => releaseDue(deps)).finally(stopBeating);
  };
}

async function releaseDue(deps: CallContext): Promise<{ released: number }> {
  let released = 0;
  for (const capture of await capturesWithDueHeld(deps.database, await deps.clock.now(), CAPTURES)) {
    try {
      for (let round = 0, count = BATCH; count === BATCH && round < ROUNDS; round++) {
        count = await releaseDueOf(deps, capture);
        released += count;
      }
    } catch (error) {
      if (!isContentError(error)) throw error;
      // What the database refuses of one company must not keep the others waiting.
      log.error('held webhooks of a capture cannot be released', { companyId: capture.companyId });
    }
  }
  return { released };
}

async function releaseDueOf({ database, clock, wakeEndpoints }: CallContext, capture: CaptureKey): Promise<number> {
  const { count, wake } = await database.transaction(async (tx) => {
    // The capture's row first, as in a page's transaction: the document that is waited for may be coming just now.
    const row = await lockCapture(tx, capture);
    const company = row && (await getCompany(tx, row.companyId));
    if (!row || !company) return { count: 0, wake: [] };
    const now = await clock.now(tx);
    const taken = await takeDueHeld(tx, capture, now, BATCH);
    const documents = await decideHeld(tx, new Map(taken.map(({ documentId }) => [documentId, null])));
    const announcements = new Announcements(tx, row, company, now);
    await announcements.documents(documents);
    return { count: documents.length, wake: await announcements.publish() };
  });
  wakeEndpoints(wake);
  return count;
}
