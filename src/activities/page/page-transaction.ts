import { cadenceOf, type Step } from '../../cadence/index.js';
import type { CaptureState } from '../../model/capture-state.js';
import { ANSWERED, type Outcome } from '../../model/outcome.js';
import { RECOVERY_MEANS } from '../../model/recovery.js';
import { type CallRow, SECOND_PASS, settleCall } from '../../storage/calls.js';
import { type CaptureRow, snapshotOf } from '../../storage/capture-rows.js';
import { commitState, type StateExtras } from '../../storage/captures.js';
import type { Transaction } from '../../storage/database.js';
import { gapsOf, insertGaps } from '../../storage/gaps.js';
import { keepsObject, silence, storeArchive } from '../call/archive.js';
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
  statusOf,
  storedResult,
} from '../call/ended-call.js';
import { afterAnswer, afterFailure } from '../call/service-pause.js';
import type { CallContext } from '../dependencies.js';
import { Announcements } from './announcements.js';
import { nsuOf } from './page-documents.js';
import { behindCursor, passingRow, settlePass, withCursorOf } from './second-pass.js';
import { storeDocuments, storeFailures } from './store-items.js';

/**
 * Everything that follows from how a call ended, in one transaction, fenced by the call's row: whatever it finds settled stays so, and
 * the stored result goes back.
 */
export async function commitCall(deps: CallContext, tx: Transaction, ended: EndedCall): Promise<Committed> {
  const { row, company, call } = await lockEnded(tx, ended.call);
  if (!mayCommit(call, row, ended.answer.outcome)) return storedResult(call, row, company);

  const { now, at } = await instantsOfEnd(deps, tx, ended.arrivedAt);
  const page = isFenced(call, row) ? { ...ended, call, answer: FENCED, decoded: [] } : { ...ended, call };
  const ours = call.kind === SECOND_PASS ? behindCursor(page, row.state.ultNsu) : page;
  return new PageTransaction({ deps, tx, ended: ours, row, company, now, at }).commit();
}

/**
 * A row that was settled stays as it is, with one exception: the answer of a call that was given up as unknown still counts, as long
 * as the capture has begun no other distribution call.
 */
function mayCommit(call: CallRow, row: CaptureRow, outcome: Outcome): boolean {
  if (call.status === 'open') return true;
  return row.distributionCallId === call.id && call.status === 'unknown' && statusOf(outcome) === 'answered';
}

/**
 * The cursor was set by hand since this call began. Its page must not move it, but the government has counted the call: it ends as any
 * other whose answer nobody has, and is waited out. Left open it would be found, and settled in vain, before every next call.
 */
function isFenced({ id, status }: CallRow, row: CaptureRow): boolean {
  return status === 'open' && row.distributionCallId !== id;
}

const FENCED = silence({ kind: 'unknown', reason: 'the cursor was set by hand before the call had an end' });

class PageTransaction {
  readonly #announcements: Announcements;

  constructor(private readonly end: EndInHand) {
    this.#announcements = new Announcements(end.tx, end.row, end.company, end.at);
  }

  get #passes(): boolean {
    return this.end.ended.call.kind === SECOND_PASS;
  }

  async commit(): Promise<Committed> {
    const { deps, tx, ended, row, at } = this.end;
    const { call, answer } = ended;
    const step = await this.#nextStep();
    const archiveId = keepsObject(answer) ? await storeArchive(tx, call, answer, ended.requestKey, at) : null;
    const stored = archiveId === null ? { documents: 0, fresh: 0 } : await this.#storeItems(archiveId);
    if (this.#passes) await settlePass(tx, row, ended, { now: this.end.now, announcements: this.#announcements });
    else await this.#storeGaps(step);
    for (const { code, open, detail, severity } of step.alerts) {
      await (open ? this.#announcements.open(code, detail, 'capture', severity) : this.#announcements.close(code));
    }
    const clocksDiffer = await compareClocks(deps, ended, at, this.#announcements);
    const ending = { now: this.end.now, at, archiveId, documents: stored.documents };
    await settleCall(tx, call, settlementOf(deps, ended, ending));
    const after = await commitState(tx, row, step.state, {
      now: this.end.now,
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
      snapshot: snapshotOf(after ?? row, this.end.company),
      wake,
      awarenessScheduled: this.#announcements.awarenessScheduled,
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
    const { tx, row, at, ended } = this.end;
    const { call, answer } = ended;
    const { outcome } = answer;
    const rules = cadenceOf(row.documentType);
    const end = { call, outcome, at, timeScale: row.state.timeScale, longestCall: rules.callLimit };
    const failure = ANSWERED.has(outcome.kind) ? null : await afterFailure(tx, end);
    if (failure?.found) {
      await this.#announcements.open('service_outage', `${call.service} answers no company any more`, 'service');
    }
    const { minIntervalMinutes } = row.options;
    const standing = this.#passes ? passingRow(row, ended) : row.state;
    const next = rules.next(standing, outcome, {
      at,
      deadline: call.deadline,
      outage: failure?.outage ?? false,
      ...(minIntervalMinutes === undefined ? {} : { minIntervalMinutes }),
    });
    const step = this.#passes ? withCursorOf(row, next) : next;
    if (await afterAnswer(tx, end, step.servicePause)) await this.#announcements.close('service_outage', 'service');
    const state = call.status === 'unknown' ? notEarlier(step.state, row.state) : step.state;
    return { ...step, state: asOrdered(state, row, this.end.now) };
  }

  async #storeItems(archiveId: string): Promise<{ documents: number; fresh: number }> {
    const { tx, row, at, ended, company } = this.end;
    const origin = this.#passes ? 'recovery' : 'distribution';
    const place = placeOf(row, ended.call, { taxId: company.taxId, archiveId, origin, capturedAt: at });
    const { documents, failures } = itemRows(ended, place, row.state.timeScale);
    const fresh = await storeDocuments(tx, row, company.taxId, documents, this.#announcements, at);
    await storeFailures(tx, row, failures, this.#announcements, at);
    return { documents: documents.length, fresh: fresh.length };
  }

  /** Every NSU that the cursor passes is a document, a failed item, or part of a gap. */
  async #storeGaps({ state, jumped }: Step): Promise<void> {
    const { tx, row, ended, now } = this.end;
    const gaps = gapsOf({
      before: row.state.ultNsu,
      after: state.ultNsu,
      came: ended.answer.items.map(nsuOf).filter((nsu) => nsu !== null),
      firstPage: !row.state.hasPage,
      jumped: jumped?.cause ?? null,
      means: RECOVERY_MEANS[row.documentType],
    });
    await insertGaps(tx, row, gaps, now);
    const large = gaps.find(({ status }) => status === 'awaiting_confirmation');
    if (large) {
      await this.#announcements.open('gap_too_large', `NSU ${large.from} to ${large.to} did not come; recover by hand`);
    }
  }

  #lastQuery(): StateExtras['lastQuery'] {
    const { outcome, statusText } = this.end.ended.answer;
    if (statusOf(outcome) !== 'answered') return undefined;
    const searched = outcome.kind === 'documents' || outcome.kind === 'none';
    return { at: this.end.at, statusCode: codeOf(outcome), statusText, searched };
  }
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
