import { createHash } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import { compareNsu, type Nsu, tryParseNsu, ZERO_NSU } from '../model/nsu.js';
import { type ArchiveRow, insertArchive } from '../storage/archives.js';
import type { CaptureRow } from '../storage/capture-rows.js';
import { commitState, lockCapture } from '../storage/captures.js';
import { decodeArchive } from './decode-archive.js';
import type { CallContext } from './dependencies.js';

/** What one answer brought back that the database had lost. */
export interface TakenIn {
  /** Documents that were not here. */
  readonly fresh: number;
  /** How far its page went; null for an answer that is none, or may be one to a point query. */
  readonly ultNsu: Nsu | null;
}

/**
 * Takes in an answer whose rows are gone while its object stands: the database came back older than the object store. Null: it holds no
 * documents.
 *
 * @param writtenAt milliseconds
 */
export async function takeIn(
  deps: CallContext,
  { companyId, documentType, environment }: CaptureRow,
  { key, writtenAt }: { readonly key: string; readonly writtenAt: number },
): Promise<TakenIn | null> {
  const body = await deps.objectStore.get(key);
  const capture = { companyId, documentType, environment };
  const read = deps.services[documentType]?.read(body, { capture, ultNsu: ZERO_NSU });
  if (!read || read.items.length === 0) return null;
  const archive: ArchiveRow = {
    ...capture,
    id: uuid(),
    objectKey: key,
    requestKey: null,
    callId: null,
    size: body.length,
    sha256: createHash('sha256').update(body).digest('hex'),
    contentType: null,
    httpStatus: null,
    capturedAt: writtenAt,
  };
  const id = await insertArchive(deps.database, archive);
  const { fresh } = await decodeArchive(deps, { ...archive, id }, null);
  return { fresh, ultNsu: read.outcome.kind === 'documents' ? pageEnd(read.outcome.ultNsu, read.items) : null };
}

/**
 * An answer with several items is a page. One with a single item may be one to a point query, whose ultNSU is no cursor: it is not used.
 */
function pageEnd(ultNsu: Nsu, items: readonly { readonly nsu: string | null }[]): Nsu | null {
  const numbered = items.map(({ nsu }) => tryParseNsu(nsu)).filter((nsu) => nsu !== null);
  return numbered.length > 1 ? ultNsu : null;
}

/** Goes on from the last page that was taken in, as the government does. What lies in between is looked for afterwards. */
export async function advanceTo(deps: CallContext, capture: CaptureRow, ultNsu: Nsu): Promise<void> {
  await deps.database.transaction(async (tx) => {
    const row = await lockCapture(tx, capture);
    if (!row || compareNsu(ultNsu, row.state.ultNsu) <= 0) return;
    const maxNsu = compareNsu(ultNsu, row.state.maxNsu) > 0 ? ultNsu : row.state.maxNsu;
    const state = { ...row.state, ultNsu, maxNsu, hasPage: true };
    await commitState(tx, row, state, { now: await deps.clock.now(tx) });
  });
}
