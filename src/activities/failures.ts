import { ApplicationFailure } from '@temporalio/activity';
import { FAILURES } from '../model/activity-contract.js';
import { describeError, serializeError } from '../platform/errors.js';

/**
 * What Temporal may keep of an error: rebuilt, never forwarded. Retryable, because it is a bug or a dependency that fails, never the
 * government's word.
 */
function asFailure(error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  const { name, stack } = serializeError(error);
  const failure = ApplicationFailure.retryable(describeError(error), name);
  if (stack !== undefined) failure.stack = `${name}: ${failure.message}\n${stack}`;
  return failure;
}

/** Runs an activity's work; whatever it throws is rebuilt. */
export async function rebuilding<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asFailure(error);
  }
}

/** There is no such row: the company was deleted. Not to be tried again. */
export function captureUnknown(what: 'company' | 'capture'): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    what === 'company'
      ? 'there is no such company: add it by API or command line first'
      : 'this company has no such capture: start it by API, command line or client first',
    FAILURES.companyUnknown,
  );
}

/** The other call mostly ends long before its deadline. */
const LOOK_AGAIN_MS = 5_000;

/** Another call is in the air; Temporal tries again when its lease ends. `msLeft`: milliseconds until then. */
export function leaseTaken(msLeft: number): ApplicationFailure {
  return ApplicationFailure.create({
    message: 'another call of this capture is open: waiting until it ends, or its lease does',
    type: FAILURES.leaseTaken,
    nextRetryDelay: Math.min(Math.max(Math.ceil(msLeft), 1), LOOK_AGAIN_MS),
    category: 'BENIGN',
  });
}

/** The certificate's next turn is seconds away at most: Temporal tries again then. */
export function notOurTurn(msLeft: number): ApplicationFailure {
  return ApplicationFailure.create({
    message: 'the certificate was used a moment ago',
    type: 'not_our_turn',
    nextRetryDelay: Math.max(Math.ceil(msLeft), 1),
    category: 'BENIGN',
  });
}

/** A worker of another time scale must take it; Temporal tries until one does. */
export function scaleMismatch(kept: number, ours: number): { message: string; type: string } {
  return {
    message: `the capture's waits were written on time scale ${kept}, this worker runs on ${ours}: start it with MALOTE_TIME_SCALE=${kept}, or begin with an empty database`,
    type: 'time_scale_mismatch',
  };
}
