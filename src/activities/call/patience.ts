import { performance } from 'node:perf_hooks';
import { ExponentialBackoff, handleWhen, retry } from 'cockatiel';
import type { CallLimits } from '../dependencies.js';

const LONGEST_PAUSE_MS = 5_000;

/** Tries again while the error is one that passes, for about half a minute: whoever holds an answer does not let go at the first failure. */
export function patiently<T>(
  { patience, firstPause }: CallLimits,
  passes: (error: unknown) => boolean,
  work: () => Promise<T>,
): Promise<T> {
  const begun = performance.now();
  const policy = retry(
    handleWhen((error) => passes(error) && performance.now() - begun < patience),
    { backoff: new ExponentialBackoff({ initialDelay: firstPause, maxDelay: LONGEST_PAUSE_MS }) },
  );
  return policy.execute(work);
}
