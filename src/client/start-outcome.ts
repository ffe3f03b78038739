import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ConnectionLike,
  isGrpcCancelledError,
  isGrpcDeadlineError,
  WorkflowContinuedAsNewError,
  type WorkflowHandle,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { FAILURES } from '../model/activity-contract.js';
import type { CaptureKey } from '../model/words.js';
import { type CaptureStateAnswer, QUERIES } from '../workflows/messages.js';
import { CompanyUnknown, NoWorkerAnswered } from './errors.js';

const POLL_MS = 200;

/**
 * Waits until a run that was just started has read its row, or ended. A start is a signal, which cannot answer: that the
 * company is unknown shows only in the run's failure, which comes within its first activity.
 *
 * @throws {CompanyUnknown}
 * @throws {NoWorkerAnswered} neither came within `patienceMs`
 */
export async function startedOrRefused(
  connection: ConnectionLike,
  run: WorkflowHandle,
  capture: CaptureKey,
  patienceMs: number,
): Promise<void> {
  const stop = new AbortController();
  try {
    // Both questions end with the first answer: a long poll left behind would keep the host's process alive.
    await connection.withAbortSignal(stop.signal, () =>
      connection.withDeadline(Date.now() + patienceMs, () => Promise.race([hasState(run, stop.signal), ended(run)])),
    );
  } catch (error) {
    if (hasFailureType(error, FAILURES.companyUnknown)) throw new CompanyUnknown(capture.companyId);
    if (isGrpcDeadlineError(error)) throw new NoWorkerAnswered(patienceMs / 1000);
    throw error;
  } finally {
    stop.abort();
  }
}

/** Ends when the run answers with its row. A query that fails (no worker yet, a first task that is retried) is asked again. */
async function hasState(run: WorkflowHandle, stopped: AbortSignal): Promise<void> {
  for (;;) {
    try {
      const { snapshot } = await run.query<CaptureStateAnswer>(QUERIES.state);
      if (snapshot !== null) return;
    } catch (error) {
      if (stopped.aborted || isGrpcDeadlineError(error) || isGrpcCancelledError(error)) throw error;
    }
    await sleep(POLL_MS, undefined, { signal: stopped });
  }
}

/** Ends with the run. One that was stopped, or went on in a new run, had its row all the same. */
async function ended(run: WorkflowHandle): Promise<void> {
  try {
    await run.result();
  } catch (error) {
    if (!(error instanceof WorkflowContinuedAsNewError)) throw error;
  }
}

/** The type stands on the innermost failure: the workflow failed because an activity did. */
function hasFailureType(error: unknown, type: string): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ApplicationFailure && cause.type === type) return true;
  }
  return false;
}
