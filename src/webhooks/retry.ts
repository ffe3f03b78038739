/**
 * When a failed delivery is tried again: 1 minute doubling to 1 hour, for 3 days from its first attempt. Real time: the time scale
 * of tests and demos does not apply, because the receiver is somebody else's program.
 */
export const RETRY = {
  firstMs: 60_000,
  maxMs: 3_600_000,
  horizonMs: 3 * 24 * 3_600_000,
  /** Part of the wait that is added at random, so that a receiver that comes back is not met by everything at once. */
  jitter: 0.1,
} as const;

/** What the next try is reckoned from. */
export interface FailedAttempt {
  /** Attempts made, this one included. */
  readonly attempts: number;
  /** Milliseconds; when this delivery was first tried. */
  readonly firstAttemptAt: number;
  /** Milliseconds; when this attempt ended. */
  readonly failedAt: number;
  /** The receiver's Retry-After; a longer wait than ours is honoured, a shorter one is not. */
  readonly retryAfterMs: number | null;
}

/**
 * The instant of the next attempt in milliseconds, or null: exhausted. The last attempt falls on the end of the 3 days, however
 * far beyond it a wait would reach.
 *
 * @param random uniform in [0, 1)
 */
export function nextAttemptAt(failed: FailedAttempt, random: number): number | null {
  const end = failed.firstAttemptAt + RETRY.horizonMs;
  if (failed.failedAt >= end) return null;
  const base = Math.min(RETRY.firstMs * 2 ** (failed.attempts - 1), RETRY.maxMs);
  const wait = Math.max(base, failed.retryAfterMs ?? 0) + base * RETRY.jitter * random;
  return Math.min(Math.ceil(failed.failedAt + wait), end);
}

/**
 * Milliseconds that a Retry-After header asks for: whole seconds, or an HTTP date. Null when it is absent, unreadable or past.
 *
 * @param now milliseconds; dates count from it
 */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  const wait = /^[0-9]{1,10}$/.test(text) ? Number(text) * 1000 : httpDate(text) - now;
  return wait > 0 ? wait : null;
}

/** NaN for anything but a date that names its day or month: `Date.parse` takes too much for a date ("-5"). */
function httpDate(text: string): number {
  return /[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN;
}
