import type { CaptureState } from '../model/capture-state.js';
import type { Outcome } from '../model/outcome.js';
import type { Phase } from '../model/words.js';
import { type DistributionRules, HOUR, jitter, MINUTE, scaled } from './constants.js';
import type { Step } from './step.js';

/** What an ending of a point query makes of its capture. There is no cursor in it: such answers never touch it. */
export type PointStep = Omit<Step, 'jumped'>;

/** @param at milliseconds: arrival of the answer */
export type PointCadence = (before: CaptureState, outcome: Outcome, at: number) => PointStep;

/** Phases that say more than a block does. */
const KEPT: ReadonlySet<Phase> = new Set(['attention', 'certificate', 'disabled', 'stopped']);

/** The rules of design.md section 6, "Point queries", over the numbers of one service. */
export function pointCadence(rules: DistributionRules): PointCadence {
  return (before, outcome, at) => {
    switch (outcome.kind) {
      case 'throttled':
        return afterThrottle(rules, before, outcome.statusCode, at);
      case 'paused': {
        const wait = outcome.statusCode === '108' ? rules.pause108 : rules.pause109;
        const servicePause = { code: outcome.statusCode, until: at + scaled(wait, before.timeScale) };
        return { state: before, servicePause, alerts: [] };
      }
      default:
        // A failure or a rejection is the question's, not the sequence's: who asked waits, nobody else.
        return { state: before, servicePause: null, alerts: [] };
    }
  };
}

function afterThrottle(rules: DistributionRules, before: CaptureState, code: string, at: number): PointStep {
  const until = at + scaled(rules.throttleBlock, before.timeScale);
  const quota = { ...before.quota, suspendedUntil: Math.max(before.quota.suspendedUntil ?? 0, until) };
  const detail =
    'a point query within our own quota was refused: another program seems to make point queries for this tax ID';
  const alerts = [{ code: 'other_consumer', open: true, detail } as const];
  if (!rules.throttleSuspendsPointQueries) return { state: { ...before, quota }, servicePause: null, alerts };
  const blockedUntil = Math.max(before.blockedUntil ?? 0, until);
  const shown = KEPT.has(before.phase)
    ? { phase: before.phase, reason: before.reason }
    : { phase: 'blocked' as const, reason: `the government answered a point query with ${code}` };
  const state: CaptureState = {
    ...before,
    ...shown,
    quota,
    blockedUntil,
    nextQueryAt: Math.max(before.nextQueryAt ?? 0, blockedUntil),
    lawfulFrom: Math.max(before.lawfulFrom ?? 0, blockedUntil),
    lastAnswer: { code, at },
    run: { pages: 0, documents: 0 },
  };
  return { state, servicePause: null, alerts };
}

/** Pending recovery items are looked at this often. */
export const RECOVERY_DISPATCH = 5 * MINUTE;
/** Without a slot, the next one plus up to this much, so that captures that ran out together do not come back together. */
export const RECOVERY_SPACING = 30 * MINUTE;
/** Answers in vain before an item rests until the next night. */
export const RECOVERY_ATTEMPTS = 8;
/** The government keeps documents for 90 days from reception (NT 2014.002). Real time: no scale makes it forget sooner. */
export const RECOVERY_EXPIRES = 90 * 24 * HOUR;
/** The nightly look goes over the numbers of so long. */
export const NIGHTLY_WINDOW = 3 * 24 * HOUR;

const WAIT_FIRST = MINUTE;
const WAIT_MAX = 30 * MINUTE;

/**
 * How long a recovery item waits after an attempt in vain: 1, 2, 4 … 30 minutes, and a little more.
 *
 * @param attempts so far, the one in vain included
 * @param random in [0, 1)
 */
export function recoveryWait(attempts: number, timeScale: number, random: number): number {
  const wait = scaled(Math.min(WAIT_FIRST * 2 ** (attempts - 1), WAIT_MAX), timeScale);
  return wait + jitter(wait, random);
}
