import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReadAnswer } from '../../government/types.js';
import type { DecodedItem, Origin } from '../../model/document.js';
import type { ArchiveActivities } from '../../model/nightly-contract.js';
import { compareNsu, maxNsu, type Nsu, ZERO_NSU } from '../../model/nsu.js';
import { RECOVERY_MEANS } from '../../model/recovery.js';
import { type ArchiveRow, getArchive, insertArchive } from '../../storage/archives.js';
import { findCalls, isPointCall } from '../../storage/calls.js';
import { commitState, lockCapture } from '../../storage/captures.js';
import { getCompany } from '../../storage/companies.js';
import type { Queryable, Transaction } from '../../storage/database.js';
import { resolveFailedNsus, resolveFailedPlaces } from '../../storage/failed-items.js';
import { documentsWithBytes } from '../../storage/local-documents.js';
import { ObjectNotFound } from '../../storage/object-store/index.js';
import { countDocuments } from '../../storage/page.js';
import { closeRecovered } from '../../storage/recovery.js';
import { type ReprocessEnd, settleReprocess } from '../../storage/reprocess-requests.js';
import { beat } from '../call/call-watch.js';
import { itemRows } from '../call/ended-call.js';
import { type CallContext, limitsOf } from '../dependencies.js';
import { captureUnknown, rebuilding } from '../failures.js';
import { Announcements } from './announcements.js';
import type { ItemPlace } from './page-documents.js';
import { storeDocuments, storeFailures } from './store-items.js';

type Decode = ArchiveActivities['decodeArchive'];
type Decoded = Awaited<ReturnType<Decode>>;

/**
 * Decodes an archive again, as a newer version may read what an older one could not, and as rows may have been lost that its object still
 * holds. No government query: documents that are here stay as they are and make no webhook, others are stored and announced.
 */
export function createDecodeArchive(deps: CallContext): Decode {
  return ({ capture, archiveId, requestId }) => {
    const stopBeating = beat(limitsOf(deps).beat);
    return rebuilding(async () => {
      const archive = await getArchive(deps.database, archiveId);
      if (!archive || archive.companyId !== capture.companyId) throw captureUnknown('capture');
      return decodeKnown(deps, archive, requestId);
    }).finally(stopBeating);
  };
}

const NOTHING: Decoded = { documents: 0, fresh: 0, failed: 0 };

async function decodeKnown(deps: CallContext, archive: ArchiveRow, requestId: string): Promise<Decoded> {
  const read = await readArchive(deps, archive);
  if (!('items' in read) || read.items.length === 0) {
    const end: ReprocessEnd = 'items' in read ? { status: 'not_available', reason: 'no_documents' } : read;
    await settleReprocess(deps.database, { id: requestId }, end, await deps.clock.now());
    return NOTHING;
  }
  const decoded = await decodeItems(deps, archive, read);
  return storeDecoded(deps, archive, { read, decoded, origin: 'reprocess', requestId });
}

/** One item at a time, with a turn of the event loop in between. */
export async function decodeItems(
  deps: CallContext,
  { documentType }: Pick<ArchiveRow, 'documentType'>,
  { items }: ReadAnswer,
): Promise<DecodedItem[]> {
  const decoded: DecodedItem[] = [];
  for (const item of items) {
    decoded.push(deps.decodeItem(item, documentType));
    await nextTurn();
  }
  return decoded;
}

/** Stores what came of an archive, and the archive itself if it is not here, in one transaction. */
export async function storeDecoded(deps: CallContext, archive: ArchiveRow, found: DecodedArchive): Promise<Decoded> {
  const { wake, awarenessScheduled, lateForHost, ...result } = await deps.database.transaction((tx) =>
    store(deps, tx, archive, found),
  );
  deps.wakeEndpoints(wake);
  const { companyId, documentType, environment } = archive;
  if (awarenessScheduled) deps.wakeManifestations?.({ companyId, documentType, environment });
  if (lateForHost) deps.wakeCapture?.({ companyId, documentType, environment });
  return result;
}

async function readArchive(
  { objectStore, services, database }: CallContext,
  archive: ArchiveRow,
): Promise<ReadAnswer | ReprocessEnd> {
  let body: Buffer;
  try {
    body = await objectStore.get(archive.objectKey);
  } catch (error) {
    if (!(error instanceof ObjectNotFound)) throw error;
    return { status: 'failed', reason: 'archive_missing' };
  }
  if (createHash('sha256').update(body).digest('hex') !== archive.sha256) {
    return { status: 'failed', reason: 'archive_damaged' };
  }
  // Where there are point queries it is read as an answer to one: what it says of the sequence is history.
  const asked = { capture: archive, ultNsu: ZERO_NSU };
  const isPoint = RECOVERY_MEANS[archive.documentType] === 'point';
  const read = services[archive.documentType]?.read(body, isPoint ? { ...asked, point: { nsu: ZERO_NSU } } : asked);
  if (!read) return { status: 'failed', reason: 'not_supported' };
  return { ...read, items: await numbered(database, archive, read.items) };
}

/** The one item of an answer to consNSU has the number that was asked for, also where the answer does not print it. */
async function numbered(
  db: Queryable,
  { callId, capturedAt }: ArchiveRow,
  items: ReadAnswer['items'],
): Promise<ReadAnswer['items']> {
  const [only, ...others] = items;
  if (!only || others.length > 0 || callId === null || (only.nsu !== null && only.nsu !== ZERO_NSU)) return items;
  const [call] = await findCalls(db, [callId], capturedAt - 86_400_000);
  const nsu: Nsu | null = call && isPointCall(call) ? call.fromNsu : null;
  return nsu === null ? items : [{ ...only, nsu }];
}

interface DecodedArchive {
  readonly read: ReadAnswer;
  readonly decoded: readonly DecodedItem[];
  readonly origin: Extract<Origin, 'reprocess' | 'distribution'>;
  /** The row that the end is written to. Absent: nobody asked. */
  readonly requestId?: string;
  /** The end of a page that the database has lost: the cursor goes there, forward only. What lies in between is looked for afterwards. */
  readonly reached?: Nsu | null;
}

async function store(
  deps: CallContext,
  tx: Transaction,
  archive: ArchiveRow,
  { read, decoded, origin, requestId, reached = null }: DecodedArchive,
): Promise<Decoded & { wake: readonly string[]; awarenessScheduled: boolean; lateForHost: boolean }> {
  const row = await lockCapture(tx, archive);
  const company = row && (await getCompany(tx, row.companyId));
  if (!row || !company) throw captureUnknown('capture');
  const now = await deps.clock.now(tx);
  const { companyId, documentType, environment } = row;
  const archiveId = await insertArchive(tx, archive);
  const place: ItemPlace = {
    capture: { companyId, documentType, environment },
    taxId: company.taxId,
    archiveId,
    objectKey: archive.objectKey,
    origin,
    capturedAt: now,
  };
  const announcements = new Announcements(tx, row, company, now);
  const { documents, failures } = itemRows({ answer: { ...read, raw: null }, decoded }, place, row.state.timeScale);
  const fresh = await storeDocuments(tx, row, company.taxId, documents, announcements, now);
  await storeFailures(tx, row, failures, announcements, now);
  const nsus = documents.map(({ nsu }) => nsu).filter((nsu) => nsu !== null);
  await closeRecovered(tx, row, nsus, { statusCode: null, now });
  const byNumber = await resolveFailedNsus(tx, row, nsus, now);
  const byPlace = await resolveFailedPlaces(tx, row, archiveId, documents, now);
  if (byNumber.resolved + byPlace.resolved > 0 && !byPlace.othersFail) await announcements.close('item_failed');
  if (fresh.length > 0) await countDocuments(tx, row, fresh.length);
  if (reached !== null && compareNsu(reached, row.state.ultNsu) > 0) {
    const state = { ...row.state, ultNsu: reached, maxNsu: maxNsu(reached, row.state.maxNsu), hasPage: true };
    await commitState(tx, row, state, { now });
  }
  const documentIds = await documentsWithBytes(tx, row, {
    hashes: documents.map(({ xmlSha256 }) => xmlSha256),
    keys: documents.map(({ key }) => key).filter((key) => key !== null),
    nsus,
  });
  if (requestId) await settleReprocess(tx, { id: requestId }, { status: 'done', documentIds }, now);
  const wake = await announcements.publish();
  const { awarenessScheduled, lateForHost } = announcements;
  const counts = { documents: documents.length, fresh: fresh.length, failed: failures.length };
  return { ...counts, wake, awarenessScheduled, lateForHost };
}
