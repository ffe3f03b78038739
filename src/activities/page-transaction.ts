import { performance } from 'node:perf_hooks';
import { cadenceOf, type Step } from '../cadence/index.js';
import type { CallAnswer } from '../government/types.js';
import type { CaptureSnapshot, CaptureState } from '../model/capture-state.js';
import type { DecodedItem } from '../model/document.js';
import { ANSWERED, type Outcome, type OutcomeKind } from '../model/outcome.js';
import { type CallRow, type CallStatus, getCall, type Settlement, settleCall } from '../storage/calls.js';
import { type CaptureRow, snapshotOf } from '../storage/capture-rows.js';
import { commitState, lockCapture } from '../storage/captures.js';
import { type CompanyRow, getCompany } from '../storage/companies.js';
import type { Transaction } from '../storage/database.js';
import type { DocumentRow } from '../storage/documents.js';
import type { FailedItemRow } from '../storage/failed-items.js';
import { gapsOf, insertGaps } from '../storage/gaps.js';
import { Announcements } from './announcements.js';
import { keepsObject, storeArchive } from './archive.js';
import { type CallContext, limitsOf, type SettledCall } from './dependencies.js';
import { captureUnknown } from './failures.js';
import { documentRow, failedItemRow, type ItemPlace, nextDecoding, nsuOf } from './page-documents.js';
import { afterAnswer, afterFailure } from './service-pause.js';
import { storeDocuments, storeFailures } from './store-items.js';

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
  readonly snapshot: CaptureSnapshot;
  /** Endpoints to wake. */
  readonly wake: readonly string[];
  /** This transaction wrote it. Null: another one did, before. */
  readonly written: (SettledCall & { readonly clocksDiffer: boolean | null }) | null;
}

/** Of the few bytes of 137, 108, 109 and 656, as many are kept. */
const LARGEST_BODY_IN_LOG = 4_096;
/** Our clock and the government's may differ by the way of an answer and a little. */
const CLOCK_TOLERANCE_MS = 30_000;

/**
 * Everything that follows from how a call ended, in one transaction, fenced by the call's row: whatever it finds settled stays so, and
 * the stored result goes back.
 */
export async function commitCall(deps: CallContext, tx: Transaction, ended: EndedCall): Promise<Committed> {
  const row = await lockCapture(tx, ended.call);
  const company = row && (await getCompany(tx, row.companyId));
  if (!row || !company) throw captureUnknown('capture');
  const call = await getCall(tx, ended.call);
  if (!call) throw new Error('the row of a call disappeared');
  if (!mayCommit(call, row, ended.answer.outcome)) return storedResult(call, row, company);

  const now = await deps.clock.now(tx);
  // Rounded up: a wait that counts from it is late, never early.
  const at = Math.ceil(ended.arrivedAt === null ? now : now - (performance.now() - ended.arrivedAt));
  return new PageTransaction(deps, tx, { ...ended, call }, row, company, now, at).commit();
}

/**
 * A row that was settled stays as it is, with one exception: the answer of a call that was given up as unknown still counts, as long
 * as the capture has begun no other distribution call.
 */
function mayCommit(call: CallRow, row: CaptureRow, outcome: Outcome): boolean {
  if (row.distributionCallId !== call.id) return false;
  return call.status === 'open' || (call.status === 'unknown' && statusOf(outcome) === 'answered');
}

/** What an earlier commit of this call said, with the state as it is now. */
function storedResult(call: CallRow, row: CaptureRow, company: CompanyRow): Committed {
  return {
    outcome: call.outcome ?? 'unknown',
    statusCode: call.statusCode,
    documents: call.documents,
    snapshot: snapshotOf(row, company),
    wake: [],
    written: null,
  };
}

class PageTransaction {
  readonly #announcements: Announcements;

  constructor(
    private readonly deps: CallContext,
    private readonly tx: Transaction,
    private readonly ended: EndedCall,
    private readonly row: CaptureRow,
    private readonly company: CompanyRow,
    private readonly now: number,
    private readonly at: number,
  ) {
    this.#announcements = new Announcements(tx, row, company, at);
  }

  async commit(): Promise<Committed> {
    const { deps, tx, ended, row, at } = this;
    const { call, answer } = ended;
    const step = await this.#nextStep();
    const archiveId = keepsObject(answer) ? await storeArchive(tx, call, answer, ended.requestKey, at) : null;
    const stored = archiveId === null ? { documents: 0, fresh: 0 } : await this.#storeItems(archiveId);
    await this.#storeGaps(step);
    for (const { code, open, detail, severity } of step.alerts) {
      await (open ? this.#announcements.open(code, detail, 'capture', severity) : this.#announcements.close(code));
    }
    const clocksDiffer = await this.#compareClocks();
    await settleCall(tx, call, this.#settlement(archiveId, stored.documents));
    const after = await commitState(tx, row, step.state, {
      now: this.now,
      // What the rules forbid, not what we wait besides: a person may shorten the rest.
      notBefore: step.state.lawfulFrom,
      lastQuery: this.#lastQuery(),
      documents: stored.fresh,
    });
    const wake = await this.#announcements.publish();
    await deps.failpoint?.('inside_transaction');
    return {
      outcome: answer.outcome.kind,
      statusCode: codeOf(answer.outcome),
      documents: stored.documents,
      snapshot: snapshotOf(after ?? row, this.company),
      wake,
      written: {
        outcome: answer.outcome.kind,
        statusCode: codeOf(answer.outcome),
        documents: stored.fresh,
        durationMs: ended.arrivedAt === null ? null : at - call.startedAt,
        clocksDiffer,
      },
    };
  }

  /** Service first, because an outage counts against nobody; then the capture's own rules. */
  async #nextStep(): Promise<Step> {
    const { tx, row, at, ended } = this;
    const { call, answer } = ended;
    const { outcome } = answer;
    const rules = cadenceOf(row.documentType);
    const end = { call, outcome, at, timeScale: row.state.timeScale, longestCall: rules.callLimit };
    const failure = ANSWERED.has(outcome.kind) ? null : await afterFailure(tx, end);
    if (failure?.found) {
      await this.#announcements.open('service_outage', `${call.service} answers no company any more`, 'service');
    }
    const { minIntervalMinutes } = row.options;
    const step = rules.next(row.state, outcome, {
      at,
      deadline: call.deadline,
      outage: failure?.outage ?? false,
      ...(minIntervalMinutes === undefined ? {} : { minIntervalMinutes }),
    });
    if (await afterAnswer(tx, end, step.servicePause)) await this.#announcements.close('service_outage', 'service');
    const state = call.status === 'unknown' ? notEarlier(step.state, row.state) : step.state;
    return { ...step, state: asOrdered(state, row, this.now) };
  }

  async #storeItems(archiveId: string): Promise<{ documents: number; fresh: number }> {
    const { tx, row, at, ended, company } = this;
    const place: ItemPlace = {
      capture: { companyId: row.companyId, documentType: row.documentType, environment: row.environment },
      taxId: company.taxId,
      archiveId,
      objectKey: ended.call.archiveKey,
      origin: 'distribution',
      capturedAt: at,
    };
    const documents: DocumentRow[] = [];
    const failures: FailedItemRow[] = [];
    ended.answer.items.forEach((item, i) => {
      const decoded = ended.decoded[i];
      if (decoded?.ok) documents.push(documentRow(place, item, decoded));
      else if (decoded) failures.push(failedItemRow(place, item, decoded, nextDecoding(1, at, row.state.timeScale)));
    });
    const fresh = await storeDocuments(tx, row, company.taxId, documents, this.#announcements, at);
    await storeFailures(tx, row, failures, this.#announcements, at);
    return { documents: documents.length, fresh: fresh.length };
  }

  /** Every NSU that the cursor passes is a document, a failed item, or part of a gap. */
  async #storeGaps({ state, jumped }: Step): Promise<void> {
    const gaps = gapsOf({
      before: this.row.state.ultNsu,
      after: state.ultNsu,
      came: this.ended.answer.items.map(nsuOf).filter((nsu) => nsu !== null),
      firstPage: !this.row.state.hasPage,
      jumped: jumped?.cause ?? null,
    });
    await insertGaps(this.tx, this.row, gaps, this.now);
    const large = gaps.find(({ status }) => status === 'awaiting_confirmation');
    if (large) {
      await this.#announcements.open('gap_too_large', `NSU ${large.from} to ${large.to} did not come; recover by hand`);
    }
  }

  /** Null: not compared. The alert's row is touched only when this process sees a change. */
  async #compareClocks(): Promise<boolean | null> {
    const { deps, at, ended } = this;
    const { serverTime } = ended.answer;
    if (serverTime === null || ended.arrivedAt === null || !(deps.comparesClocks ?? deps.timeScale === 1)) return null;
    const differ = Math.abs(serverTime - at) > CLOCK_TOLERANCE_MS;
    if (deps.clocksDiffer.get(ended.call.service) === differ) return differ;
    if (differ) {
      const side = at > serverTime ? 'ahead of' : 'behind';
      const detail = `our clock is ${Math.round(Math.abs(at - serverTime) / 1_000)} s ${side} the government's`;
      await this.#announcements.open('clock_skew', detail, 'service');
    } else {
      await this.#announcements.close('clock_skew', 'service');
    }
    return differ;
  }

  #settlement(archiveId: string | null, documents: number): Settlement {
    const { answer, call, ours } = this.ended;
    const { outcome, raw } = answer;
    const status = statusOf(outcome);
    const mayStillFly = status === 'unknown' && !ours && this.now < call.deadline;
    return {
      status,
      outcome: outcome.kind,
      statusCode: codeOf(outcome),
      statusText: 'reason' in outcome && raw === null ? outcome.reason : answer.statusText,
      settledAt: this.now,
      answeredAt: status === 'answered' ? this.at : null,
      ultNsu: 'ultNsu' in outcome ? outcome.ultNsu : null,
      maxNsu: 'maxNsu' in outcome ? outcome.maxNsu : null,
      documents,
      archiveId,
      body: archiveId === null && raw ? raw.body.subarray(0, LARGEST_BODY_IN_LOG) : null,
      leaseUntil: mayStillFly ? this.now + lettingGo(this.deps) : null,
    };
  }

  #lastQuery(): { at: number; statusCode: string | null; statusText: string | null } | undefined {
    const { outcome, statusText } = this.ended.answer;
    return statusOf(outcome) === 'answered' ? { at: this.at, statusCode: codeOf(outcome), statusText } : undefined;
  }
}

/** By then a process whose call was settled by another one has cut its connection (see call-watch.ts). */
function lettingGo(deps: CallContext): number {
  const { blind, beat } = limitsOf(deps);
  return blind + 2 * beat;
}

/** A late answer never shortens the wait that was set when its call was given up. */
function notEarlier(state: CaptureState, before: CaptureState): CaptureState {
  if ((before.nextQueryAt ?? 0) <= (state.nextQueryAt ?? 0)) return state;
  const phase = state.phase === 'querying' ? 'waiting' : state.phase;
  return { ...state, phase, reason: `${state.reason}; the answer came late`, nextQueryAt: before.nextQueryAt };
}

/** What people ordered while the call was in the air is still what they see. */
function asOrdered(state: CaptureState, { enabled, heldUntil, state: before }: CaptureRow, now: number): CaptureState {
  if (!enabled) return { ...state, phase: 'stopped', reason: before.reason };
  const held = heldUntil !== null && heldUntil > now;
  return held && before.phase === 'paused' ? { ...state, phase: before.phase, reason: before.reason } : state;
}

function statusOf({ kind }: Outcome): Exclude<CallStatus, 'open'> {
  return kind === 'not_sent' || kind === 'unknown' ? kind : 'answered';
}

function codeOf(outcome: Outcome): string | null {
  return 'statusCode' in outcome ? outcome.statusCode : null;
}
