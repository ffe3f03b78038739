import type { CaptureState } from '../model/capture-state.js';
import type { Nsu } from '../model/nsu.js';
import type { Outcome } from '../model/outcome.js';
import type { AlertCode, AlertSeverity } from '../model/words.js';

/** What a rule may know besides the state and the outcome. Instants are milliseconds since 1970. */
export interface Circumstances {
  /** Arrival of the answer; without one, the moment at which it was settled that none came. */
  readonly at: number;
  /** The call's deadline (its limit and 30 s after its start): an unknown outcome counts its long wait from here. */
  readonly deadline: number;
  /** Customer's option: lengthens the wait after an empty queue. Minutes, not scaled below the rule's own wait. */
  readonly minIntervalMinutes?: number;
  /** Many captures of this service fail and none is answered: the failure is the service's and counts against nobody. */
  readonly outage?: boolean;
}

/** NSUs that the pointer passed over: from and to are both included. */
export interface JumpedRange {
  readonly from: Nsu;
  readonly to: Nsu;
  /** `lost_page`: our own page whose answer never came. `jump`: another program's, or not said. */
  readonly cause: 'jump' | 'lost_page';
}

/** What one outcome makes of a capture. */
export interface Step {
  readonly state: CaptureState;
  readonly jumped: JumpedRange | null;
  /** The whole service is shut down until then (108, 109). */
  readonly servicePause: { readonly code: string; readonly until: number } | null;
  readonly alerts: readonly {
    readonly code: AlertCode;
    readonly open: boolean;
    readonly detail: string;
    /** Of an alert that opens; default `warning`. */
    readonly severity?: AlertSeverity;
  }[];
}

/** The polling rules of one document type: a pure function, and nothing else. */
export type Cadence = (state: CaptureState, outcome: Outcome, circumstances: Circumstances) => Step;

/** A step that is nothing but its state. */
export const plain = (state: CaptureState): Step => ({ state, jumped: null, servicePause: null, alerts: [] });

/** What any answer means, whatever it says: failures are over, and so is a block whose time has passed. */
export function answered(before: CaptureState, code: string, now: Circumstances): CaptureState {
  const over = before.blockedUntil !== null && before.blockedUntil <= now.at;
  return {
    ...before,
    failures: 0,
    unknowns: 0,
    certificateRefusals: 0,
    blockedUntil: over ? null : before.blockedUntil,
    lastAnswer: { code, at: now.at },
  };
}
