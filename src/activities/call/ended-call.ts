import { performance } from 'node:perf_hooks';
import type { CallAnswer } from '../../government/types.js';
import type { CaptureSnapshot } from '../../model/capture-state.js';
import type { DecodedItem } from '../../model/document.js';
import type { Outcome, OutcomeKind } from '../../model/outcome.js';
import { type CallRow, type CallStatus, getCall, type Settlement } from '../../storage/calls.js';
import { type CaptureRow, snapshotOf } from '../../storage/capture-rows.js';
import { lockCapture } from '../../storage/captures.js';
import { type CompanyRow, getCompany } from '../../storage/companies.js';
import type { Transaction } from '../../storage/database.js';
import type { DocumentRow } from '../../storage/documents.js';
import type { FailedItemRow } from '../../storage/failed-items.js';
import { type CallContext, limitsOf, type SettledCall } from '../dependencies.js';
import { captureUnknown } from '../failures.js';
import type { Announcements } from '../page/announcements.js';
import { documentRow, failedItemRow, type ItemPlace, nextDecoding } from '../page/page-documents.js';

/** What the transactions of distribution calls and of point calls have in common. */

/** A call with its end, ready to be committed. */
export interface EndedCall {
  readonly call: CallRow;
  readonly answer: CallAnswer;
  /** What became of `answer.items`, in their order. */
  readonly decoded: readonly DecodedItem[];
  /** Where the archived request stands, if there is one. */
  readonly requestKey: string | null;
  /** `performance.now()` at the answer's arrival. Null: found later, so its arrival counts as now: late, never early. */
  readonly arrivedAt: number | null;
  /** This process made the call, so nobody else holds its connection. */
  readonly ours: boolean;
}

/** What the call's row says after the commit, whoever wrote it. */
export interface Committed {
  readonly outcome: OutcomeKind;
  readonly statusCode: string | null;
  readonly documents: number;
  /** Of a point call: what it brought, known before or not. */
  readonly documentIds?: readonly string[];
  readonly snapshot: CaptureSnapshot;
  /** Endpoints to wake. */
  readonly wake: readonly string[];
  /** Summaries came whose Awareness is sent later: the manifestation workflow is to be woken. */
  readonly awarenessScheduled?: boolean;
  /** This transaction wrote it. Null: another one did, before. */
  readonly written: (SettledCall & { readonly clocksDiffer: boolean | null }) | null;
}

/** Of the few bytes of 137, 108, 109 and 656, as many are kept. */
const LARGEST_BODY_IN_LOG = 4_096;
/** Our clock and the government's may differ by the way of an answer and a little. */
const CLOCK_TOLERANCE_MS = 30_000;

/**
 * The capture under its lock, and the call's row as it is now, which is what fences a commit.
 *
 * @throws ApplicationFailure `company_unknown` (non-retryable)
 */
export async function lockEnded(
  tx: Transaction,
  ended: CallRow,
): Promise<{ readonly row: CaptureRow; readonly company: CompanyRow; readonly call: CallRow }> {
  const row = await lockCapture(tx, ended);
  const company = row && (await getCompany(tx, row.companyId));
  if (!row || !company) throw captureUnknown('capture');
  const call = await getCall(tx, ended);
  if (!call) throw new Error('the row of a call disappeared');
  return { row, company, call };
}

/**
 * The instant of the commit, and the one at which the answer arrived, from which waits count; milliseconds.
 *
 * @param arrivedAt as in {@link EndedCall}
 */
export async function instantsOfEnd(
  { clock }: Pick<CallContext, 'clock'>,
  tx: Transaction,
  arrivedAt: number | null,
): Promise<{ readonly now: number; readonly at: number }> {
  const now = await clock.now(tx);
  // Rounded up: a wait that counts from it is late, never early.
  return { now, at: Math.ceil(arrivedAt === null ? now : now - (performance.now() - arrivedAt)) };
}

/** What the transaction that commits a call's end works on. */
export interface EndInHand {
  readonly deps: CallContext;
  readonly tx: Transaction;
  readonly ended: EndedCall;
  /** The capture, under its lock. */
  readonly row: CaptureRow;
  readonly company: CompanyRow;
  /** Milliseconds: the commit, and the arrival of the answer, as {@link instantsOfEnd} gives them. */
  readonly now: number;
  readonly at: number;
}

/** What an earlier commit of this call said, with the state as it is now. */
export function storedResult(call: CallRow, row: CaptureRow, company: CompanyRow): Committed {
  return {
    outcome: call.outcome ?? 'unknown',
    statusCode: call.statusCode,
    documents: call.documents,
    snapshot: snapshotOf(row, company),
    wake: [],
    written: null,
  };
}

/** The rows of an answer's items: what could be decoded, and what could not. */
export function itemRows(
  { answer, decoded }: Pick<EndedCall, 'answer' | 'decoded'>,
  place: ItemPlace,
  timeScale: number,
): { documents: DocumentRow[]; failures: FailedItemRow[] } {
  const documents: DocumentRow[] = [];
  const failures: FailedItemRow[] = [];
  answer.items.forEach((item, i) => {
    const result = decoded[i];
    if (result?.ok) documents.push(documentRow(place, item, result));
    else if (result) failures.push(failedItemRow(place, item, result, nextDecoding(1, place.capturedAt, timeScale)));
  });
  return { documents, failures };
}

interface Ending {
  /** Milliseconds: the transaction's clock, and the arrival of the answer. */
  readonly now: number;
  readonly at: number;
  readonly archiveId: string | null;
  readonly documents: number;
}

/** How the call's row is closed. */
export function settlementOf(
  deps: CallContext,
  { answer, call, ours }: EndedCall,
  { now, at, archiveId, documents }: Ending,
): Settlement {
  const { outcome, raw } = answer;
  const status = statusOf(outcome);
  const mayStillFly = status === 'unknown' && !ours && now < call.deadline;
  return {
    status,
    outcome: outcome.kind,
    statusCode: codeOf(outcome),
    statusText: 'reason' in outcome && raw === null ? outcome.reason : answer.statusText,
    settledAt: now,
    answeredAt: status === 'answered' ? at : null,
    ultNsu: 'ultNsu' in outcome ? outcome.ultNsu : null,
    maxNsu: 'maxNsu' in outcome ? outcome.maxNsu : null,
    documents,
    archiveId,
    body: archiveId === null && raw ? raw.body.subarray(0, LARGEST_BODY_IN_LOG) : null,
    leaseUntil: mayStillFly ? now + lettingGo(deps) : null,
  };
}

/** By then a process whose call was settled by another one has cut its connection (see call-watch.ts). */
function lettingGo(deps: CallContext): number {
  const { blind, beat } = limitsOf(deps);
  return blind + 2 * beat;
}

/** Null: not compared. The alert's row is touched only when this process sees a change. */
export async function compareClocks(
  deps: CallContext,
  { answer, call, arrivedAt }: EndedCall,
  at: number,
  announcements: Announcements,
): Promise<boolean | null> {
  const { serverTime } = answer;
  if (serverTime === null || arrivedAt === null || !(deps.comparesClocks ?? deps.timeScale === 1)) return null;
  const differ = Math.abs(serverTime - at) > CLOCK_TOLERANCE_MS;
  if (deps.clocksDiffer.get(call.service) === differ) return differ;
  if (differ) {
    const side = at > serverTime ? 'ahead of' : 'behind';
    const detail = `our clock is ${Math.round(Math.abs(at - serverTime) / 1_000)} s ${side} the government's`;
    await announcements.open('clock_skew', detail, 'service');
  } else {
    await announcements.close('clock_skew', 'service');
  }
  return differ;
}

/** Where the items of an answer to this call stand, and whose they are. */
export function placeOf(
  { companyId, documentType, environment }: CaptureRow,
  call: CallRow,
  rest: Omit<ItemPlace, 'capture' | 'objectKey'>,
): ItemPlace {
  return { capture: { companyId, documentType, environment }, objectKey: call.archiveKey, ...rest };
}

/** What a row of `calls` says of such an outcome. */
export function statusOf({ kind }: Outcome): Exclude<CallStatus, 'open'> {
  return kind === 'not_sent' || kind === 'unknown' ? kind : 'answered';
}

/** The government's status code (cStat, or what stands for it); null without an answer. */
export function codeOf(outcome: Outcome): string | null {
  return 'statusCode' in outcome ? outcome.statusCode : null;
}
