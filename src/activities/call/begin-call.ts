import type { Refusal } from '../../model/activity-contract.js';
import type { Nsu } from '../../model/nsu.js';
import { RECOVERY_MEANS } from '../../model/recovery.js';
import type { CaptureKey } from '../../model/words.js';
import { type CallRow, insertDistributionCall, type NewCall, SECOND_PASS } from '../../storage/calls.js';
import type { Transaction } from '../../storage/database.js';
import { passStart, writePass } from '../../storage/second-pass.js';
import type { ActivityDependencies } from '../dependencies.js';
import {
  type BegunCall,
  type EarlierCalls,
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
} from './begin-steps.js';
import type { RememberedCall } from './call-memory.js';
import { judge } from './guard.js';

/** A distribution call that a workflow asks for. */
export interface BeginInput {
  readonly capture: CaptureKey;
  readonly ultNsu: Nsu;
  readonly revision: number;
  /** Shared by all attempts of one activity. */
  readonly callId: string;
  /** The unknown call whose object was looked for, in vain. */
  readonly searched: string | null;
  /** The call that an earlier attempt wrote down. */
  readonly remembered: RememberedCall | null;
}

/** What became of the wish to call. */
export type Begun =
  /** The row is committed and the lease is ours: the one way to the wire. */
  | (BegunCall & { readonly ultNsu: Nsu })
  | Refused<Refusal>
  /** An earlier attempt of this activity wrote the row: it is settled, never called again. */
  | { readonly kind: 'recorded'; readonly call: CallRow }
  /** Another activity's call has no end yet, or ended unknown: settle it, or look for its answer, first. */
  | { readonly kind: 'unsettled'; readonly call: CallRow };

/**
 * Asks the guard and, if it lets the call through, writes its row: one short transaction under the lock of the capture's row.
 *
 * @throws when the outcome of the commit is in doubt, too: the next attempt finds the row and does not call
 * @throws ApplicationFailure `lease_taken` (retryable) · `company_unknown` (non-retryable) · `time_scale_mismatch` (retryable)
 */
export function beginCall(deps: ActivityDependencies, input: BeginInput): Promise<Begun> {
  return deps.database.transaction((tx) => begin(deps, tx, input));
}

async function begin(deps: ActivityDependencies, tx: Transaction, input: BeginInput): Promise<Begun> {
  const opening = await openLocked(deps, tx, input.capture);
  const { row, now } = opening;
  const { callId, remembered } = input;
  const earlier = await earlierCalls(opening, callId, remembered);
  if (earlier.own) return { kind: 'recorded', call: earlier.own };
  refuseUnderLease(opening);
  const unsettled = unsettledBefore(earlier, input.searched);
  if (unsettled) return { kind: 'unsettled', call: unsettled };
  if (remembered && isTheSameQuestion(opening, input, remembered)) {
    const insert = (call: NewCall) => insertDistributionCall(tx, call);
    return { kind: 'recorded', call: await recordAgain(opening, { ...remembered, callId }, insert) };
  }

  const facts = await guardFacts(opening);
  const heeded = await heed(opening, judge({ asked: input, row, now, ...facts }), facts, deps.timeScale);
  if (heeded.kind === 'refused') return heeded;
  const { opening: current, certificate, turn } = heeded;
  if (turn !== null) return refused(current, { reason: 'too_early', until: turn });

  const pass = await passFrom(opening);
  const fromNsu = pass ?? row.state.ultNsu;
  const begun = await recordCall(current, {
    callId,
    kind: pass === null ? 'distNSU' : SECOND_PASS,
    fromNsu,
    certificate: deps.openCertificate(certificate),
    service: facts.service,
    insert: (call) => insertDistributionCall(tx, call),
  });
  return begun.kind === 'begun' ? { ...begun, ultNsu: fromNsu } : begun;
}

/**
 * From where a second pass goes on, or begins when gaps are due for one: it takes the place of the next query in the sequence, and is
 * asked under the same guard. Null: none.
 */
async function passFrom({ tx, row, now }: Opening): Promise<Nsu | null> {
  if (row.passNsu !== null || RECOVERY_MEANS[row.documentType] !== 'pass') return row.passNsu;
  const start = await passStart(tx, row, now);
  if (start !== null) await writePass(tx, row, start);
  return start;
}

/** A lost call is settled from where it was made, or not at all. */
function isTheSameQuestion(opening: Opening, input: BeginInput, lost: RememberedCall): boolean {
  const fromHere = lost.kind === SECOND_PASS || lost.fromNsu === opening.row.state.ultNsu;
  return fromHere && isWhereItWas(opening, input, lost);
}

/** One whose lease ended without an end of its own, or a distribution call whose answer may have turned up since. */
function unsettledBefore({ last, lastDistribution }: EarlierCalls, searched: string | null): CallRow | null {
  if (last?.status === 'open') return last;
  const unknown = lastDistribution?.status === 'unknown' && lastDistribution.id !== searched;
  return unknown ? lastDistribution : null;
}
