import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApplicationFailure, log } from '@temporalio/activity';
import type { CallAnswer } from '../../government/types.js';
import type { DecodedItem } from '../../model/document.js';
import { type CallRow, isPointCall } from '../../storage/calls.js';
import { DatabaseError, isContentError, isTransientDatabaseError } from '../../storage/database-error.js';
import { type CallContext, limitsOf } from '../dependencies.js';
import { commitCall } from '../page/page-transaction.js';
import { commitPointCall } from '../point/point-transaction.js';
import { archiveAnswer, archivedRequest, keepsObject, putAnswer } from './archive.js';
import type { Committed, EndedCall } from './ended-call.js';
import { patiently } from './patience.js';

/** Times that a page is tried before its content is held to be what breaks the transaction. */
const CONTENT_TRIES = 3;

/**
 * Stores how a call ended: the bytes first, then everything that follows from them in one transaction. A repeat changes nothing and
 * gives the stored result.
 *
 * @throws when database or object store fail for longer than the patience; the answer then stands where the next attempt finds it
 */
export async function commitAnswer(
  deps: CallContext,
  call: CallRow,
  answer: CallAnswer,
  ending: Pick<EndedCall, 'arrivedAt' | 'ours'>,
): Promise<Committed> {
  let requestKey: string | null = null;
  if (keepsObject(answer)) {
    await archiveAnswer(deps, call, answer);
    requestKey = await archivedRequest(deps, call, answer);
    await deps.failpoint?.('after_archive');
  }
  const decoded = await decodeItems(deps, call, answer);
  const committed = await commitPatiently(deps, { call, answer, decoded, requestKey, ...ending });
  await deps.failpoint?.('after_commit');
  deps.wakeEndpoints(committed.wake);
  if (committed.awarenessScheduled) {
    const { companyId, documentType, environment } = call;
    deps.wakeManifestations?.({ companyId, documentType, environment });
  }
  if (committed.written) {
    const { clocksDiffer } = committed.written;
    if (clocksDiffer !== null) deps.clocksDiffer.set(call.service, clocksDiffer);
    deps.observer?.settled(call, committed.written);
  }
  return committed;
}

/** One item at a time, with a turn of the event loop in between: heartbeats and other calls go on. */
async function decodeItems(deps: CallContext, call: CallRow, { items }: CallAnswer): Promise<DecodedItem[]> {
  const decoded: DecodedItem[] = [];
  for (const item of items) {
    decoded.push(deps.decodeItem(item, call.documentType));
    await nextTurn();
  }
  return decoded;
}

async function commitPatiently(deps: CallContext, ended: EndedCall): Promise<Committed> {
  try {
    return await commit(deps, ended).catch((error: unknown) => {
      if (!isContentError(error) || ended.answer.items.length === 0) throw error;
      const code = error instanceof DatabaseError ? (error.code ?? '') : '';
      log.error('a page breaks its transaction: its items are stored as failed items', { sqlstate: code });
      return commit(deps, poisoned(ended, code));
    });
  } catch (error) {
    // Even a small answer gets an object now, so that the next attempt does not have to call it unknown. Not of a company that is gone.
    const companyGone = error instanceof ApplicationFailure;
    if (!companyGone && !keepsObject(ended.answer)) await putAnswer(deps, ended.call, ended.answer);
    throw error;
  }
}

function commit(deps: CallContext, ended: EndedCall): Promise<Committed> {
  let tries = 1;
  const passes = (error: unknown) =>
    isTransientDatabaseError(error) || (isContentError(error) && tries++ < CONTENT_TRIES);
  const end = isPointCall(ended.call) ? commitPointCall : commitCall;
  return patiently(limitsOf(deps), passes, () => deps.database.transaction((tx) => end(deps, tx, ended)));
}

/** The page with every item as one that could not be stored: they are decoded again one by one, and the company goes on. */
function poisoned(ended: EndedCall, code: string): EndedCall {
  const failed: DecodedItem = { ok: false, failure: 'internal', detail: `the database refused its page (${code})` };
  return {
    ...ended,
    decoded: ended.decoded.map((item) => (item.ok ? failed : item)),
    answer: { ...ended.answer, statusText: '' },
  };
}
