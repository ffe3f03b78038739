import { jitter } from '../cadence/index.js';
import type { Refusal } from '../model/activity-contract.js';
import { type CaptureSnapshot, lag } from '../model/capture-state.js';
import type { Phase } from '../model/words.js';

/** What the capture does next. `until: null` waits for a signal alone. */
export interface Plan {
  readonly until: number | null;
  /** Phase and reason as operators see them: the committed ones, or what the guard said last. */
  readonly phase: Phase;
  readonly reason: string;
}

const SECOND = 1_000;
const HOUR = 3_600_000;
/** While something must be mended by people, look again this often; their signal comes first. */
const LOOK_AGAIN = 6 * HOUR;

/**
 * When to ask next, by the committed state. Jitter is added to what is left of the wait, so the plan is late, never early.
 *
 * @param random in [0, 1), from the workflow's deterministic source
 */
export function planQuery(snapshot: CaptureSnapshot, now: number, random: number): Plan {
  const { state, heldUntil } = snapshot;
  if (heldUntil !== null && (heldUntil === 'indefinitely' || heldUntil > now)) {
    return { until: heldUntil === 'indefinitely' ? null : heldUntil, phase: 'paused', reason: 'held by a person' };
  }
  if (state.phase === 'disabled') return { until: null, phase: 'disabled', reason: state.reason };
  const due = Math.max(state.nextQueryAt ?? now, state.blockedUntil ?? 0);
  return { until: due + jitter(due - now, random), phase: state.phase, reason: state.reason };
}

/** When to look again after the guard let no call through. `stale` and `disabled` are not waited out: the loop acts on them. */
export function planRefused(refusal: Refusal, snapshot: CaptureSnapshot, now: number, random: number): Plan {
  const { phase, reason } = snapshot.state;
  switch (refusal.reason) {
    case 'too_early':
      return { until: refusal.until + SECOND + Math.round(random * 9 * SECOND), phase, reason };
    case 'paused':
      return {
        until: refusal.until + Math.round(random * refusal.spread),
        phase: 'paused',
        reason: 'the service is shut down',
      };
    case 'held':
      return { until: refusal.until, phase: 'paused', reason: 'held by a person' };
    case 'certificate': {
      const until = Math.max(now + SECOND, Math.min(refusal.until ?? now + LOOK_AGAIN, now + LOOK_AGAIN));
      return { until, phase: 'certificate', reason: `certificate ${refusal.problem.replaceAll('_', ' ')}` };
    }
    case 'database_behind':
      return {
        until: now + LOOK_AGAIN,
        phase: 'attention',
        reason: 'the database is older than this workflow: run malote verify --repair',
      };
    case 'stale':
    case 'disabled':
      return { until: now, phase, reason };
  }
}

/** One Markdown paragraph for the Temporal UI: why is this company (not) being captured? */
export function describe(snapshot: CaptureSnapshot, plan: Plan): string {
  const { state } = snapshot;
  const next = plan.until === null ? 'Waits for a signal.' : `Next look: ${new Date(plan.until).toISOString()}.`;
  const answer = state.lastAnswer
    ? `Last answer ${state.lastAnswer.code} at ${new Date(state.lastAnswer.at).toISOString()}.`
    : 'No answer yet.';
  const missing = snapshot.recovery ? ' Some numbers are missing and are asked for one by one.' : '';
  const trouble = state.failures > 0 ? ` ${state.failures} failures in a row.` : '';
  return `**${plan.phase}**: ${plan.reason}. ${next} Cursor ${state.ultNsu} of ${state.maxNsu} (lag ${lag(state)}). ${answer}${trouble}${missing} Tax ID ending ${snapshot.taxIdEnding}, ${snapshot.uf}.`;
}

/** As {@link timerSummary}, where recovery comes first. */
export function recoverySummary(until: number): string {
  return timerSummary({ until, phase: 'waiting', reason: 'missing numbers' });
}

/** Summary of the timer in the event list: "queue empty: waits until 2026-11-02 14:32:10 UTC". */
export function timerSummary(plan: Plan): string {
  if (plan.until === null) return plan.reason;
  return `${plan.reason}: waits until ${new Date(plan.until).toISOString().replace('T', ' ').slice(0, 19)} UTC`;
}
