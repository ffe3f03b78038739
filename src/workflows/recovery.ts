import { ActivityFailure, TimeoutFailure } from '@temporalio/common';
import { RECOVERY_DISPATCH, RECOVERY_SPACING, scaled } from '../cadence/index.js';
import type { CaptureSnapshot } from '../model/capture-state.js';
import type { PointRefusal, RecoveryResult } from '../model/point-query.js';
import type { Phase } from '../model/words.js';

/** When missing numbers are asked for: every five minutes while some are pending, one call after the other while slots are free. */

/** Phases in which no call is let through until somebody acts, whose signal comes then. */
const WAITS_FOR_PEOPLE: ReadonlySet<Phase> = new Set(['certificate', 'disabled', 'stopped']);
/** While something must be mended by people. */
const LOOK_AGAIN = 6 * 3_600_000;

/**
 * When the next call of recovery is due. Null: none is pending, or somebody must act first.
 *
 * @param notBefore what earlier rounds said; milliseconds
 */
export function recoveryDue(snapshot: CaptureSnapshot, notBefore: number, now: number): number | null {
  const { recovery, heldUntil, state } = snapshot;
  if (!recovery || WAITS_FOR_PEOPLE.has(state.phase)) return null;
  if (heldUntil === 'indefinitely' || (heldUntil !== null && heldUntil > now)) return null;
  return Math.max(recovery.nextAt, notBefore);
}

/** Five minutes from now, on the run's scale. */
export function nextDispatch({ state }: CaptureSnapshot, now: number): number {
  return now + scaled(RECOVERY_DISPATCH, state.timeScale);
}

/**
 * When to go on after a call, or after the guard let none through: at once while items are due; without a slot after the next one and up to
 * half an hour more, so that captures that ran out together do not come back together.
 *
 * @param random in [0, 1), from the workflow's deterministic source
 */
export function afterRecovery(result: RecoveryResult, now: number, random: number): number {
  const { snapshot } = result;
  if (result.kind === 'refused') {
    const spacing = scaled(RECOVERY_SPACING, snapshot.state.timeScale);
    return untilOf(result.refusal, now) + Math.round(random * spacing);
  }
  const more = result.kind === 'asked' && snapshot.recovery !== null && snapshot.recovery.nextAt <= now;
  return more ? now : nextDispatch(snapshot, now);
}

function untilOf(refusal: PointRefusal, now: number): number {
  const until = 'until' in refusal ? refusal.until : null;
  const spread = 'spread' in refusal ? refusal.spread : 0;
  return until === null ? now + LOOK_AGAIN : until + spread;
}

/** No worker took the call up in time: the queue is full, and recovery comes last. */
export function wasNotBegun(error: unknown): boolean {
  return error instanceof ActivityFailure && error.cause instanceof TimeoutFailure;
}
