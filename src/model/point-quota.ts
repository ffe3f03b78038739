/**
 * The quota of point queries as arithmetic (NT 2014.002 item 3.11.4): which instants are free. Guard, API and tests count with the same
 * functions. All instants are milliseconds.
 */

/** consNSU and consChNFe together, per tax ID and sliding hour: those that return a document. */
export const POINT_DOCUMENTS_PER_HOUR = 20;
/** Whatever they return: our own bound, far below what any operator reports as refused. */
export const POINT_CALLS_PER_HOUR = 60;
/** Before time scale. */
export const POINT_WINDOW = 3_600_000;
/** An announced slot is kept so long for whoever it was announced to. Real time: people and their programs do not scale. */
export const SLOT_KEPT = 60_000;

/** A point call of the last hour, as the call log tells it. */
export interface PointCall {
  /** From here its age counts: the arrival of its answer; without one, the instant after which none can come. */
  readonly at: number;
  /** It returned a document, or may have. */
  readonly takesSlot: boolean;
}

/** A slot that was announced to somebody. */
export interface Reservation {
  /** What they asked for; they come back with the same question. */
  readonly subject: string;
  readonly slotAt: number;
}

/** What the hour's quota is judged by. */
export interface QuotaFacts {
  readonly calls: readonly PointCall[];
  /** Those of others. */
  readonly reserved: readonly Reservation[];
  /** Length of the sliding hour, scaled. */
  readonly window: number;
}

/** May a call be made at this instant? */
export function isFree(facts: QuotaFacts, at: number): boolean {
  const kept = facts.reserved.filter(({ slotAt }) => slotAt <= at && at < slotAt + SLOT_KEPT).length;
  return fits(facts, at, kept);
}

/**
 * The first instant, not before `from`, at which a call may be made even if everybody who was announced a slot comes for it.
 */
export function nextFree(facts: QuotaFacts, from: number): number {
  const ends = facts.calls.map(({ at }) => at + facts.window).filter((end) => end > from);
  const candidates = [from, ...ends].sort((a, b) => a - b);
  const found = candidates.find((at) => fits(facts, at, facts.reserved.filter(({ slotAt }) => slotAt <= at).length));
  // Every slot that will be free is promised: after all of them have been used for their hour.
  return found ?? Math.max(...candidates) + facts.window;
}

/** Slots in use at an instant, promised ones not counted. */
export function slotsUsed({ calls, window }: Pick<QuotaFacts, 'calls' | 'window'>, at: number): number {
  return calls.filter((call) => call.takesSlot && call.at + window > at).length;
}

function fits(facts: QuotaFacts, at: number, promised: number): boolean {
  const recent = facts.calls.filter((call) => call.at + facts.window > at).length;
  return slotsUsed(facts, at) + promised < POINT_DOCUMENTS_PER_HOUR && recent < POINT_CALLS_PER_HOUR;
}
