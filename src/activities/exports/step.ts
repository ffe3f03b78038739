import { activityInfo, CancelledFailure, cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { isTransientDatabaseError } from '../../storage/database-error.js';
import { ObjectStoreUnavailable } from '../../storage/object-store/index.js';
import { beat } from '../call/call-watch.js';
import { type ActivityDependencies, limitsOf } from '../dependencies.js';
import { rebuilding } from '../failures.js';

/** Attempts after which what is no failure of our database or object store counts as a fault that stays. */
const ATTEMPTS = 5;

/** A step of an export or import: heartbeats, can be cancelled, and gives up on what no repetition mends. */
export async function step<T>(deps: Pick<ActivityDependencies, 'limits'>, work: () => Promise<T>): Promise<T> {
  const stopBeating = beat(limitsOf(deps).beat);
  let transient = false;
  try {
    return await rebuilding(async () => {
      try {
        return await work();
      } catch (error) {
        transient = error instanceof ObjectStoreUnavailable || isTransientDatabaseError(error);
        throw error;
      }
    });
  } catch (failure) {
    // Whatever broke, it is not wanted any more.
    if (cancellationSignal().aborted) throw new CancelledFailure('cancelled');
    if (transient || !(failure instanceof ApplicationFailure) || activityInfo().attempt < ATTEMPTS) throw failure;
    throw ApplicationFailure.nonRetryable(failure.message, failure.type);
  } finally {
    stopBeating();
  }
}

/** Bytes on their way, until the step is cancelled. */
export async function* unlessCancelled<T>(source: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  for await (const piece of source) {
    requireWanted();
    yield piece;
  }
}

/** @throws {CancelledFailure} when the step is not wanted any more */
export function requireWanted(): void {
  if (cancellationSignal().aborted) throw new CancelledFailure('cancelled');
}
