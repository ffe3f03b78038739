import { cadenceOf } from '../../cadence/index.js';
import { ZERO_NSU } from '../../model/nsu.js';
import type { OnDemandActivities, OnDemandInput, OnDemandResult } from '../../model/on-demand.js';
import type { PointRefusal } from '../../model/point-query.js';
import { type CallRow, insertPointCall, ON_DEMAND_KINDS } from '../../storage/calls.js';
import type { Transaction } from '../../storage/database.js';
import { lacksEvents, markEvents } from '../../storage/events-not-read.js';
import { findLocal } from '../../storage/local-documents.js';
import {
  type BegunCall,
  earlierCalls,
  guardFacts,
  heed,
  openLocked,
  type Refused,
  recordCall,
  refuseUnderLease,
} from '../call/begin-steps.js';
import { beat } from '../call/call-watch.js';
import type { Committed } from '../call/ended-call.js';
import { judgePoint } from '../call/guard.js';
import { makeCall, ownCallId, refuseWhileStopping, settle } from '../call/make-call.js';
import { noteServiceOf, serviceOf } from '../call/service-pause.js';
import { type CallContext, limitsOf, type OnDemandPart } from '../dependencies.js';
import { notOurTurn, rebuilding } from '../failures.js';

/** Nobody counts these questions: neither Sefin nor the ADN has a quota of them. */
const NO_QUOTA = { calls: [], reserved: [], window: 0 };

type Begun =
  | BegunCall
  | Refused<PointRefusal>
  | { readonly kind: 'recorded'; readonly call: CallRow }
  | { readonly kind: 'unsettled'; readonly call: CallRow };

/**
 * The activity of capture on demand: the note from Sefin, then its events from the ADN, so that a cancelled one shows as cancelled. Two
 * calls with a row each; whatever becomes of the second, the note is the answer, with a warning if its events are not known.
 */
export function createOnDemand(deps: CallContext): OnDemandActivities {
  return {
    captureOnDemand: (input) => {
      const stopBeating = beat(limitsOf(deps).beat);
      return rebuilding(() => onDemand(deps, input)).finally(stopBeating);
    },
  };
}

async function onDemand(deps: CallContext, input: OnDemandInput): Promise<OnDemandResult> {
  const callId = ownCallId();
  const noteCall = `${callId}:note`;
  const known = await localNote(deps, input);
  const isOurs = known !== null && (await wasCalled(deps, input, noteCall));
  if (known !== null && !isOurs) {
    if (await lacksEvents(deps.database, known)) await askEvents(deps, input, known, callId);
    return { kind: 'document', documentId: known };
  }

  const note = await ask(deps, input, { note: input.key }, noteCall);
  if ('refusal' in note) return { kind: 'refused', refusal: note.refusal };
  const documentId = await localNote(deps, input);
  if (documentId === null) {
    const { outcome, statusCode } = note;
    return outcome === 'none' ? { kind: 'none', statusCode } : { kind: 'failed', outcome, statusCode };
  }
  await askEvents(deps, input, documentId, callId);
  return { kind: 'document', documentId };
}

/** Without its events a cancelled note looks like any other: the document says so, and they are asked for again with the next request. */
async function askEvents(deps: CallContext, input: OnDemandInput, documentId: string, callId: string): Promise<void> {
  const events = await ask(deps, input, { events: input.key }, `${callId}:events`);
  const isRead = 'outcome' in events && (events.outcome === 'documents' || events.outcome === 'none');
  await markEvents(deps.database, documentId, isRead);
}

async function localNote({ database }: CallContext, { capture, key }: OnDemandInput): Promise<string | null> {
  return (await findLocal(database, capture, { key }))[0] ?? null;
}

/** An earlier attempt of this activity brought the note: its events are still to be asked for. */
async function wasCalled(deps: CallContext, { capture }: OnDemandInput, callId: string): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    const opening = await openLocked(deps, tx, capture);
    return (await earlierCalls(opening, callId)).own !== null;
  });
}

async function ask(
  deps: CallContext,
  { capture }: OnDemandInput,
  part: OnDemandPart,
  callId: string,
): Promise<Committed | { readonly refusal: PointRefusal }> {
  for (;;) {
    refuseWhileStopping();
    const begun = await deps.database.transaction((tx) => begin(deps, tx, capture, part, callId));
    switch (begun.kind) {
      case 'begun':
        return makeCall(deps, begun, { ultNsu: ZERO_NSU, onDemand: part });
      case 'recorded':
        return settle(deps, begun.call);
      case 'unsettled':
        await settle(deps, begun.call);
        continue;
      case 'refused':
        deps.wakeEndpoints(begun.wake);
        deps.observer?.refused(capture, begun.refusal.reason);
        return { refusal: begun.refusal };
    }
  }
}

async function begin(
  deps: CallContext,
  tx: Transaction,
  capture: OnDemandInput['capture'],
  part: OnDemandPart,
  callId: string,
): Promise<Begun> {
  const opening = await openLocked(deps, tx, capture);
  const { row, now } = opening;
  const { own, last } = await earlierCalls(opening, callId);
  if (own) return { kind: 'recorded', call: own };
  refuseUnderLease(opening);
  if (last?.status === 'open') return { kind: 'unsettled', call: last };

  const { point } = cadenceOf(row.documentType);
  const asks = 'note' in part ? noteServiceOf(row) : serviceOf(row);
  const facts = await guardFacts(opening, asks);
  const asked = { revision: row.revision };
  const verdict = judgePoint({ asked, row, now, quota: NO_QUOTA, heldByThrottle: point.heldByThrottle, ...facts });
  const heeded = await heed(opening, verdict, facts, deps.timeScale);
  if (heeded.kind === 'refused') return heeded;
  const { opening: current, certificate, turn } = heeded;
  if (turn !== null) throw notOurTurn(turn - now);
  return recordCall(current, {
    callId,
    kind: 'note' in part ? ON_DEMAND_KINDS.note : ON_DEMAND_KINDS.events,
    fromNsu: null,
    certificate: deps.openCertificate(certificate),
    service: facts.service,
    asks,
    insert: (call) => insertPointCall(tx, call, 'on_demand'),
  });
}
