import { isGrpcCancelledError, isGrpcDeadlineError } from '@temporalio/client';

/**
 * Whether a call ended because its time was over. The server learns of the deadline too and resets the stream at it, which can arrive before
 * our own timer rings and then reads "cancelled"; nobody else cancels here.
 */
export function ranOutOfTime(error: unknown): boolean {
  return isGrpcDeadlineError(error) || isGrpcCancelledError(error);
}
