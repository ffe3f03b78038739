import { isWholeDocument } from '../../documents/index.js';
import type { ItemFailure } from '../../model/document.js';
import { ZERO_NSU } from '../../model/nsu.js';
import type { CaptureKey } from '../../model/words.js';
import type { CaptureRow } from '../../storage/capture-rows.js';
import type { Transaction } from '../../storage/database.js';
import type { DocumentRow } from '../../storage/documents.js';
import { type FailedItemRow, insertFailedItems } from '../../storage/failed-items.js';
import { insertGaps } from '../../storage/gaps.js';
import { rememberLate } from '../../storage/handover.js';
import { decideHeld } from '../../storage/held-documents.js';
import { insertDocuments, type Relative, relativesOf, updateDerived } from '../../storage/page.js';
import { queuePdfsOf } from '../background/make-pdfs.js';
import { considerAwareness, scheduleAwareness } from '../manifestation/awareness.js';
import type { Announcements } from './announcements.js';
import { type Chosen, decideDeliveries } from './delivery-policy.js';
import { holdBack, releaseWith } from './held-webhooks.js';
import { recognizeOwnEvents } from './own-events.js';
import { contradictedNsus, deriveTogether } from './page-documents.js';
import { recognizeSameBytes } from './same-bytes.js';

/**
 * Stores documents with what they say about one another and about those that were there; announces and counts the new ones, as far as
 * the capture's delivery policy lets it. A repeat stores nothing. Gives the new ones.
 */
export async function storeDocuments(
  tx: Transaction,
  capture: CaptureRow,
  taxId: string,
  given: readonly DocumentRow[],
  announcements: Announcements,
  at: number,
): Promise<DocumentRow[]> {
  const { left: others, numbered: own } = await recognizeOwnEvents(tx, capture, given);
  if (others.length === 0 && own.length === 0) return [];
  const relatives = await relativesOf(tx, capture, {
    nsus: others.map(({ nsu }) => nsu).filter((nsu) => nsu !== null),
    keys: others.map(({ key }) => key).filter((key) => key !== null),
  });
  const { left: rows, untold, numbered } = await recognizeSameBytes(tx, others, relatives);
  const { fresh, changed } = deriveTogether(rows, relatives);
  const chosen = { taxId, options: capture.options };
  const { documents: decided, held } = decideDeliveries(fresh, relatives, chosen);
  const documents = await considerAwareness(tx, capture, taxId, decided, relatives, at);
  const inserted = await insertDocuments(tx, documents);
  await updateDerived(tx, changed);
  const news = documents.filter(({ id }) => inserted.has(id));
  await queuePdfsOf(tx, news, at);
  await holdBack(
    tx,
    capture,
    held.filter(({ documentId }) => inserted.has(documentId)),
    at,
  );
  const told = await tellLater(tx, capture, untold, relatives, chosen, at);
  const released = await releaseWith(tx, capture, [...news, ...told]);
  await announcements.documents(inOrder([...news, ...told], released));
  if (await scheduleAwareness(tx, capture, news, at)) announcements.awarenessScheduled = true;
  if (capture.handedNsu !== ZERO_NSU) {
    const stored = [...news.map(({ id }) => id), ...own, ...numbered];
    announcements.lateForHost = await rememberLate(tx, stored, capture.handedNsu);
  }
  const contradicted = contradictedNsus(news, relatives);
  if (contradicted.length > 0) {
    await announcements.open(
      'same_nsu_other_bytes',
      `NSU ${contradicted[0]} came again with other bytes; both are kept`,
    );
  }
  return news;
}

/**
 * Documents that were here without anybody having been told of them, and have come by distribution now: decided like new ones. Gives them
 * with what was decided.
 */
async function tellLater(
  tx: Transaction,
  capture: CaptureRow,
  untold: readonly DocumentRow[],
  relatives: readonly Relative[],
  chosen: Chosen,
  at: number,
): Promise<DocumentRow[]> {
  const asNew = untold.map((document) => ({ ...document, origin: 'distribution' as const }));
  const { documents, held } = decideDeliveries(asNew, relatives, chosen);
  const silent = documents.filter(({ suppressed }) => suppressed !== null);
  await decideHeld(tx, new Map(silent.map(({ id, suppressed }) => [id, suppressed])));
  await holdBack(tx, capture, held, at);
  return documents;
}

/** Those whose webhook is due: new ones in their order, and behind each what had waited for it. */
function inOrder(news: readonly DocumentRow[], released: readonly DocumentRow[]): DocumentRow[] {
  const waiting = new Set(released);
  const order: DocumentRow[] = [];
  for (const document of news.filter(({ suppressed }) => suppressed === null)) {
    order.push(document);
    for (const other of waiting) {
      if (other.key !== document.key || !isWholeDocument(document.kind)) continue;
      order.push(other);
      waiting.delete(other);
    }
  }
  return order;
}

/** Failures of the bytes themselves: decoding them again cannot help, a fresh copy can. */
const BROKEN_BYTES: ReadonlySet<ItemFailure> = new Set(['base64', 'gzip', 'encoding', 'not_well_formed', 'empty']);

/** Stores what could not be decoded. Broken bytes are asked for again, once, as recovery items. */
export async function storeFailures(
  tx: Transaction,
  capture: CaptureKey,
  rows: readonly FailedItemRow[],
  announcements: Announcements,
  at: number,
): Promise<void> {
  const [first] = rows;
  if (!first) return;
  await insertFailedItems(tx, rows);
  const broken = rows.filter(({ failure, nsu }) => nsu !== null && BROKEN_BYTES.has(failure));
  const copies = broken.flatMap(({ nsu }) =>
    nsu === null ? [] : [{ from: nsu, to: nsu, status: 'pending', cause: 'failed_item' } as const],
  );
  await insertGaps(tx, capture, copies, at);
  const which = first.nsu === null ? 'an item without NSU' : `NSU ${first.nsu}`;
  const others = rows.length > 1 ? ` and ${rows.length - 1} more` : '';
  await announcements.open('item_failed', `${which}${others} could not be decoded (${first.failure})`);
}
