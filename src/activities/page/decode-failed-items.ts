import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HousekeepingActivities } from '../../model/activity-contract.js';
import type { DecodedItem } from '../../model/document.js';
import { lockCapture } from '../../storage/captures.js';
import { getCompany } from '../../storage/companies.js';
import type { Transaction } from '../../storage/database.js';
import { isContentError } from '../../storage/database-error.js';
import {
  dueFailedItems,
  type FailedItemRow,
  lockFailedItem,
  rescheduleFailedItem,
  resolveFailedItem,
} from '../../storage/failed-items.js';
import { ObjectNotFound } from '../../storage/object-store/index.js';
import { countDocuments } from '../../storage/page.js';
import { beat } from '../call/call-watch.js';
import { type CallContext, limitsOf } from '../dependencies.js';
import { rebuilding } from '../failures.js';
import { Announcements } from './announcements.js';
import { documentRow, type ItemPlace, nextDecoding } from './page-documents.js';
import { storeDocuments } from './store-items.js';

/** Items in one run; the next run takes the rest. */
const BATCH = 200;

/**
 * Decodes due failed items again, from their archives: a newer version may read what an older one could not. What becomes a document is
 * stored, counted and announced as if it had been readable at once.
 */
export function createDecodeFailedItems(deps: CallContext): HousekeepingActivities['decodeFailedItems'] {
  return () => {
    const stopBeating = beat(limitsOf(deps).beat);
    return rebuilding(() => decodeDue(deps)).finally(stopBeating);
  };
}

async function decodeDue(deps: CallContext): Promise<{ resolved: number; stillFailing: number }> {
  let resolved = 0;
  const due = await dueFailedItems(deps.database, await deps.clock.now(), BATCH);
  for (const item of due) {
    const decoded = await decodeAgain(deps, item);
    if (await keep(deps, item, decoded)) resolved += 1;
    await nextTurn();
  }
  return { resolved, stillFailing: due.length - resolved };
}

async function decodeAgain({ objectStore, decodeItem }: CallContext, item: FailedItemRow): Promise<DecodedItem> {
  try {
    const content = await objectStore.getRange(item.objectKey, item.byteOffset, item.byteLength);
    return decodeItem({ content, encoding: item.encoding, schema: item.schema }, item.documentType);
  } catch (error) {
    if (error instanceof ObjectNotFound) return { ok: false, failure: 'empty', detail: 'its archive is gone' };
    throw error;
  }
}

/** True: the item is a document now. */
async function keep(deps: CallContext, item: FailedItemRow, decoded: DecodedItem): Promise<boolean> {
  if (!decoded.ok) return stillFails(deps, item, decoded);
  try {
    const stored = await deps.database.transaction((tx) => becomeDocument(deps, tx, item, decoded));
    if (stored === null) return false;
    deps.wakeEndpoints(stored.wake);
    const { companyId, documentType, environment } = item;
    if (stored.lateForHost) deps.wakeCapture?.({ companyId, documentType, environment });
    return true;
  } catch (error) {
    if (!isContentError(error)) throw error;
    // One item that the database refuses must not keep the others waiting.
    return stillFails(deps, item, { failure: 'internal', detail: 'the database refused the decoded document' });
  }
}

async function stillFails(
  { database, clock, timeScale }: CallContext,
  item: FailedItemRow,
  { failure, detail }: Pick<FailedItemRow, 'failure' | 'detail'>,
): Promise<false> {
  const nextAttemptAt = nextDecoding(item.attempts + 1, await clock.now(), timeScale);
  await rescheduleFailedItem(database, item, { failure, detail, nextAttemptAt });
  return false;
}

/** Null: somebody else resolved the item, or the company is gone. */
async function becomeDocument(
  { clock }: CallContext,
  tx: Transaction,
  item: FailedItemRow,
  decoded: Extract<DecodedItem, { ok: true }>,
): Promise<{ wake: string[]; lateForHost: boolean } | null> {
  // The capture's row first, as in a page's transaction: what documents say about one another is derived under its lock.
  const row = await lockCapture(tx, item);
  const company = row && (await getCompany(tx, row.companyId));
  if (!row || !company || !(await lockFailedItem(tx, item))) return null;
  const now = await clock.now(tx);
  const { companyId, documentType, environment } = row;
  const place: ItemPlace = {
    capture: { companyId, documentType, environment },
    taxId: company.taxId,
    archiveId: item.archiveId,
    objectKey: item.objectKey,
    origin: 'distribution',
    capturedAt: now,
  };
  const announcements = new Announcements(tx, row, company, now);
  const document = documentRow(place, { ...item, offset: item.byteOffset, length: item.byteLength }, decoded);
  const [fresh] = await storeDocuments(tx, row, company.taxId, [document], announcements, now);
  if (fresh) await countDocuments(tx, row, 1);
  const { othersFail } = await resolveFailedItem(tx, item, { documentId: fresh?.id ?? null, now });
  if (!othersFail) await announcements.close('item_failed');
  const wake = await announcements.publish();
  return { wake, lateForHost: announcements.lateForHost };
}
