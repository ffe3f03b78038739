import { cadenceOf, RECOVERY_ATTEMPTS, recoveryWait, STOPPING, scaled } from '../../cadence/index.js';
import type { CaptureState } from '../../model/capture-state.js';
import { ZERO_NSU } from '../../model/nsu.js';
import { ANSWERED, type Outcome } from '../../model/outcome.js';
import { isFinalAnswer } from '../../model/point-answers.js';
import { POINT_WINDOW } from '../../model/point-quota.js';
import { type CallRow, type PointOrigin, pointCallFacts, settleCall } from '../../storage/calls.js';
import { snapshotOf } from '../../storage/capture-rows.js';
import { commitState } from '../../storage/captures.js';
import type { Transaction } from '../../storage/database.js';
import { resendDocument } from '../../storage/deliveries.js';
import type { DocumentRow } from '../../storage/documents.js';
import { resolveFailedNsus } from '../../storage/failed-items.js';
import { documentsWithBytes } from '../../storage/local-documents.js';
import { quotaFacts } from '../../storage/point-quota.js';
import { closeNonexistent, closeRecovered, countAttempt } from '../../storage/recovery.js';
import { type ReprocessEnd, settleReprocess } from '../../storage/reprocess-requests.js';
import { keepsObject, storeArchive } from '../call/archive.js';
import {
  type Committed,
  codeOf,
  compareClocks,
  type EndedCall,
  type EndInHand,
  instantsOfEnd,
  itemRows,
  lockEnded,
  placeOf,
  settlementOf,
  storedResult,
} from '../call/ended-call.js';
import { afterAnswer, afterFailure } from '../call/service-pause.js';
import type { CallContext } from '../dependencies.js';
import { Announcements } from '../page/announcements.js';
import { storeDocuments, storeFailures } from '../page/store-items.js';

/**
 * Everything that follows from how a point call ended, in one transaction: its documents, its slot, the recovery item or the request that
 * it was made for, and the block that a 656 means. The cursor is not in it.
 */
export async function commitPointCall(deps: CallContext, tx: Transaction, ended: EndedCall): Promise<Committed> {
  const { row, company, call } = await lockEnded(tx, ended.call);
  const { origin, result } = await pointCallFacts(tx, call);
  if (!mayCommit(call, ended.answer.outcome)) {
    return { ...storedResult(call, row, company), documentIds: (result as KeptResult | null)?.documentIds ?? [] };
  }

  const { now, at } = await instantsOfEnd(deps, tx, ended.arrivedAt);
  return new PointTransaction({ deps, tx, ended: { ...ended, call }, row, company, now, at }, origin).commit();
}

/** A row that was settled stays so, but for an answer that comes after its call was given up: its documents are welcome at any time. */
function mayCommit(call: CallRow, outcome: Outcome): boolean {
  return call.status === 'open' || (call.status === 'unknown' && ANSWERED.has(outcome.kind));
}

/** What the row keeps for later attempts of the activity. */
interface KeptResult {
  readonly documentIds: readonly string[];
}

/** What the items of an answer became. */
interface Stored {
  readonly documents: readonly DocumentRow[];
  readonly fresh: number;
  readonly documentIds: readonly string[];
  readonly failed: boolean;
}

const NOTHING: Stored = { documents: [], fresh: 0, documentIds: [], failed: false };

class PointTransaction {
  readonly #announcements: Announcements;
  readonly #wake = new Set<string>();

  constructor(
    private readonly end: EndInHand,
    private readonly origin: PointOrigin,
  ) {
    this.#announcements = new Announcements(end.tx, end.row, end.company, end.at);
  }

  async commit(): Promise<Committed> {
    const { deps, tx, ended, row, now, at } = this.end;
    const { call, answer } = ended;
    const { outcome } = answer;
    const state = await this.#nextState();
    const archiveId = keepsObject(answer) ? await storeArchive(tx, call, answer, ended.requestKey, at) : null;
    const stored = archiveId === null ? NOTHING : await this.#storeItems(archiveId);
    await this.#settleItem(stored);
    const clocksDiffer = await compareClocks(deps, ended, at, this.#announcements);
    await settleCall(tx, call, {
      ...settlementOf(deps, ended, { now, at, archiveId, documents: stored.documents.length }),
      // Answers to point queries name no cursor, whatever they print.
      ultNsu: null,
      maxNsu: null,
      granted: outcome.kind === 'documents',
      result: { documentIds: stored.documentIds } satisfies KeptResult,
    });
    await settleReprocess(tx, { callId: call.id }, { ...endOf(outcome, stored), statusText: answer.statusText }, now);
    const after = await commitState(
      tx,
      row,
      { ...state, quota: { ...state.quota, grants: await this.#grants() } },
      { now, notBefore: state.lawfulFrom, documents: stored.fresh },
    );
    for (const endpointId of await this.#announcements.publish()) this.#wake.add(endpointId);
    await deps.failpoint?.('inside_transaction');
    return {
      outcome: outcome.kind,
      statusCode: codeOf(outcome),
      documents: stored.documents.length,
      documentIds: stored.documentIds,
      snapshot: snapshotOf(after ?? row, this.end.company),
      wake: [...this.#wake],
      awarenessScheduled: this.#announcements.awarenessScheduled,
      written: {
        outcome: outcome.kind,
        statusCode: codeOf(outcome),
        documents: stored.fresh,
        durationMs: ended.arrivedAt === null ? null : at - call.startedAt,
        clocksDiffer,
      },
    };
  }

  /** Service first, as after a page; then what a 656 means for the tax ID. */
  async #nextState(): Promise<CaptureState> {
    const { tx, row, at, ended } = this.end;
    const { call } = ended;
    const { outcome } = ended.answer;
    const rules = cadenceOf(row.documentType);
    const end = { call, outcome, at, timeScale: row.state.timeScale, longestCall: rules.callLimit };
    if (!ANSWERED.has(outcome.kind) && (await afterFailure(tx, end)).found) {
      await this.#announcements.open('service_outage', `${call.service} answers no company any more`, 'service');
    }
    const { state, servicePause, alerts } = rules.point.next(row.state, outcome, at);
    for (const { code, detail } of alerts) await this.#announcements.open(code, detail);
    if (await afterAnswer(tx, end, servicePause)) await this.#announcements.close('service_outage', 'service');
    return state;
  }

  async #storeItems(archiveId: string): Promise<Stored> {
    const { tx, row, at, ended, company } = this.end;
    const { origin } = this;
    const place = placeOf(row, ended.call, { taxId: company.taxId, archiveId, origin, capturedAt: at });
    const { documents, failures } = itemRows(this.#numbered(), place, row.state.timeScale);
    const fresh = await storeDocuments(tx, row, company.taxId, documents, this.#announcements, at);
    await storeFailures(tx, row, failures, this.#announcements, at);
    const documentIds = await documentsWithBytes(tx, row, {
      hashes: documents.map(({ xmlSha256 }) => xmlSha256),
      keys: documents.map(({ key }) => key).filter((key) => key !== null),
      nsus: documents.map(({ nsu }) => nsu).filter((nsu) => nsu !== null),
    });
    const news = new Set(fresh.map(({ id }) => id));
    // Somebody asked for it: what was here is told again, under its old webhook-id.
    if (origin === 'reprocess') {
      for (const id of documentIds.filter((one) => !news.has(one))) await this.#sendAgain(id);
    }
    return { documents, fresh: fresh.length, documentIds, failed: failures.length > 0 };
  }

  /** The one item of an answer to consNSU has the number that was asked for, also where it does not print it. */
  #numbered(): Pick<EndedCall, 'answer' | 'decoded'> {
    const { call, answer, decoded } = this.end.ended;
    const [only, ...others] = answer.items;
    const unnumbered = only && others.length === 0 && (only.nsu === null || only.nsu === ZERO_NSU);
    if (call.fromNsu === null || !unnumbered) return { answer, decoded };
    return { answer: { ...answer, items: [{ ...only, nsu: call.fromNsu }] }, decoded };
  }

  async #sendAgain(documentId: string): Promise<void> {
    const { endpointIds } = await resendDocument(this.end.tx, documentId, this.end.now);
    for (const id of endpointIds) this.#wake.add(id);
  }

  /** What the answer means for recovery items, whoever asked. Only recovery's own calls count as attempts. */
  async #settleItem({ documents }: Stored): Promise<void> {
    const { tx, row, now, ended } = this.end;
    const { origin } = this;
    const { outcome } = ended.answer;
    const { fromNsu } = ended.call;
    const statusCode = codeOf(outcome);
    const came = documents.map(({ nsu }) => nsu).filter((nsu) => nsu !== null);
    if (came.length > 0) {
      await closeRecovered(tx, row, came, { statusCode, now });
      const { resolved, othersFail } = await resolveFailedNsus(tx, row, came, now);
      if (resolved > 0 && !othersFail) await this.#announcements.close('item_failed');
    }
    if (fromNsu === null || came.includes(fromNsu)) return;
    if (outcome.kind === 'none') return closeNonexistent(tx, row, fromNsu, { statusCode, now });
    if (origin !== 'recovery' || countsForNothing(outcome)) return;
    const { timeScale } = row.state;
    const wait = (attempts: number) => recoveryWait(attempts, timeScale, Math.random());
    await countAttempt(tx, row, fromNsu, { statusCode, now, most: RECOVERY_ATTEMPTS, wait });
  }

  /** The instants of the slots in use, for whoever looks at the workflow; the guard counts them itself. */
  async #grants(): Promise<number[]> {
    const { tx, row, now } = this.end;
    const window = scaled(POINT_WINDOW, row.state.timeScale);
    const { calls } = await quotaFacts(tx, row, { now, window, subject: null });
    return calls
      .filter(({ takesSlot }) => takesSlot)
      .map(({ at }) => at)
      .sort((a, b) => a - b);
  }
}

/** The service is shut down, the tax ID is refused, or the process stops: the item was not what failed. */
function countsForNothing(outcome: Outcome): boolean {
  if (outcome.kind === 'not_sent') return outcome.reason === STOPPING;
  return outcome.kind === 'paused' || outcome.kind === 'throttled';
}

/** What the request that a call was made for gets as its end. */
function endOf(outcome: Outcome, { documents, documentIds, failed }: Stored): ReprocessEnd {
  const statusCode = codeOf(outcome);
  switch (outcome.kind) {
    case 'documents':
      return documents.length > 0 || !failed
        ? { status: 'done', statusCode, documentIds }
        : { status: 'failed', reason: 'item_failed', statusCode };
    case 'none':
      return { status: 'not_available', statusCode };
    case 'rejected':
      if (isFinalAnswer(outcome.statusCode)) return { status: 'not_available', statusCode };
      return { status: 'failed', reason: outcome.kind, statusCode };
    default:
      return { status: 'failed', reason: outcome.kind, statusCode };
  }
}
