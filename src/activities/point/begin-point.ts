import { cadenceOf, RECOVERY_EXPIRES, scaled } from '../../cadence/index.js';
import type { CaptureSnapshot } from '../../model/capture-state.js';
import type { Nsu } from '../../model/nsu.js';
import type { PointAsk, PointRefusal } from '../../model/point-query.js';
import { POINT_WINDOW } from '../../model/point-quota.js';
import type { CaptureKey } from '../../model/words.js';
import { type CallRow, insertPointCall, type NewCall, type PointOrigin } from '../../storage/calls.js';
import { snapshotOf } from '../../storage/capture-rows.js';
import type { Transaction } from '../../storage/database.js';
import { resendDocument } from '../../storage/deliveries.js';
import { findLocal } from '../../storage/local-documents.js';
import { quotaFacts, releaseSlot, reserveSlot } from '../../storage/point-quota.js';
import { nextRecoveryItem } from '../../storage/recovery.js';
import { giveReprocessToCall, settleReprocess } from '../../storage/reprocess-requests.js';
import {
  type BegunCall,
  earlierCalls,
  guardFacts,
  heed,
  isWhereItWas,
  type Opening,
  openLocked,
  type Refused,
  recordAgain,
  recordCall,
  refused,
  refuseUnderLease,
} from '../call/begin-steps.js';
import type { RememberedCall } from '../call/call-memory.js';
import { judgePoint } from '../call/guard.js';
import type { ActivityDependencies } from '../dependencies.js';

/** A point query that a workflow asks for. */
export interface BeginPointInput {
  readonly capture: CaptureKey;
  readonly revision: number;
  /** Shared by all attempts of one activity. */
  readonly callId: string;
  /** What somebody asked for; null: whatever recovery item is due. */
  readonly asked: PersonsQuestion | null;
  /** The call that an earlier attempt wrote down. */
  readonly remembered: RememberedCall | null;
}

/** What a person, and not recovery, wants to know. */
export interface PersonsQuestion {
  readonly ask: PointAsk;
  /** The row that the answer is written to. */
  readonly requestId: string | null;
}

/** What became of the wish to ask. */
export type BegunPoint =
  | (BegunCall & { readonly ask: PointAsk })
  | Refused<PointRefusal>
  | { readonly kind: 'recorded'; readonly call: CallRow }
  | { readonly kind: 'unsettled'; readonly call: CallRow }
  /** This company has it: its webhook is queued again. */
  | {
      readonly kind: 'local';
      readonly documentIds: readonly string[];
      readonly snapshot: CaptureSnapshot;
      readonly wake: readonly string[];
    }
  | { readonly kind: 'nothing_due'; readonly snapshot: CaptureSnapshot };

/**
 * Finds what is to be asked, whether it is here already, and asks the guard; writes the call's row if the answer is yes. One short
 * transaction under the lock of the capture's row. The slot is taken by the row itself, before the call.
 *
 * @throws as `beginCall`
 */
export function beginPoint(deps: ActivityDependencies, input: BeginPointInput): Promise<BegunPoint> {
  return deps.database.transaction((tx) => begin(deps, tx, input));
}

async function begin(deps: ActivityDependencies, tx: Transaction, input: BeginPointInput): Promise<BegunPoint> {
  const opening = await openLocked(deps, tx, input.capture);
  const { row, company, now } = opening;
  const { asked, callId, remembered } = input;
  const { own, last } = await earlierCalls(opening, callId, remembered);
  if (own) return { kind: 'recorded', call: own };
  const insert = (call: NewCall) => insertPointCall(tx, call, originOf(asked));
  if (asked) {
    const local = await findLocal(tx, row, asked.ask);
    if (local.length > 0) return sendAgain(opening, asked, local);
  }
  refuseUnderLease(opening);
  if (last?.status === 'open') return { kind: 'unsettled', call: last };
  if (remembered && isWhereItWas(opening, input, remembered)) {
    const call = await recordAgain(opening, { ...remembered, callId }, insert);
    if (asked?.requestId) await giveReprocessToCall(tx, asked.requestId, callId);
    return { kind: 'recorded', call };
  }

  const ask = asked?.ask ?? (await itemDue(opening));
  if (!ask) return { kind: 'nothing_due', snapshot: snapshotOf(row, company) };
  const { point } = cadenceOf(row.documentType);
  if ('key' in ask && !point.byKey) return refusedTo(opening, asked, refused(opening, { reason: 'not_supported' }));

  const subject = asked && subjectOf(ask);
  const window = scaled(POINT_WINDOW, row.state.timeScale);
  const facts = await guardFacts(opening);
  const quota = await quotaFacts(tx, row, { now, window, subject });
  const verdict = judgePoint({ asked: input, row, now, quota, heldByThrottle: point.heldByThrottle, ...facts });
  const heeded = await heed(opening, verdict, facts, deps.timeScale);
  if (heeded.kind === 'refused') return refusedTo(opening, asked, heeded);
  const { opening: current, certificate, turn } = heeded;
  if (turn !== null) return refusedTo(opening, asked, refused(current, { reason: 'quota', until: turn }));

  const begun = await recordCall(current, {
    callId,
    kind: 'nsu' in ask ? 'consNSU' : 'consChNFe',
    fromNsu: 'nsu' in ask ? ask.nsu : null,
    certificate: deps.openCertificate(certificate),
    service: facts.service,
    insert,
  });
  if (begun.kind === 'refused') return refusedTo(opening, asked, begun);
  if (asked?.requestId) await giveReprocessToCall(tx, asked.requestId, callId);
  if (subject) await releaseSlot(tx, row, subject);
  return { ...begun, ask };
}

function originOf(asked: PersonsQuestion | null): PointOrigin {
  return asked ? 'reprocess' : 'recovery';
}

const subjectOf = (ask: PointAsk): string => ('nsu' in ask ? ask.nsu : ask.key);

async function itemDue({ tx, row, now }: Opening): Promise<{ readonly nsu: Nsu } | null> {
  const nsu = await nextRecoveryItem(tx, row, now, now - RECOVERY_EXPIRES);
  return nsu === null ? null : { nsu };
}

async function sendAgain(
  { tx, row, company, now }: Opening,
  { requestId }: PersonsQuestion,
  documentIds: readonly string[],
): Promise<BegunPoint> {
  const wake = new Set<string>();
  for (const id of documentIds) {
    for (const endpointId of (await resendDocument(tx, id, now)).endpointIds) wake.add(endpointId);
  }
  if (requestId) await settleReprocess(tx, { id: requestId }, { status: 'done', documentIds }, now);
  return { kind: 'local', documentIds, snapshot: snapshotOf(row, company), wake: [...wake] };
}

/** Refusals that a slot ends: who asked is told when, and it is kept for them. */
const ENDS_WITH_SLOT: ReadonlySet<PointRefusal['reason']> = new Set(['quota', 'suspended', 'blocked']);

/** Writes the refusal where a person looks for it. A recovery item is only due later: that is no attempt. */
async function refusedTo(
  { tx, row, now }: Opening,
  asked: PersonsQuestion | null,
  refusal: Refused<PointRefusal>,
): Promise<Refused<PointRefusal>> {
  if (!asked) return refusal;
  const { reason } = refusal.refusal;
  const until = 'until' in refusal.refusal ? refusal.refusal.until : null;
  if (ENDS_WITH_SLOT.has(reason) && until !== null) {
    await reserveSlot(tx, row, { subject: subjectOf(asked.ask), slotAt: until }, now);
  }
  if (asked.requestId) {
    await settleReprocess(tx, { id: asked.requestId }, { status: 'refused', reason, retryAt: until }, now);
  }
  return refusal;
}
