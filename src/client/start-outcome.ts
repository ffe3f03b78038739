import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionLike, WorkflowContinuedAsNewError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { FAILURES } from '../model/activity-contract.js';
import type { CaptureKey } from '../model/words.js';
import { type CaptureStateAnswer, QUERIES } from '../workflows/messages.js';
import { ranOutOfTime } from './deadline.js';
import { CompanyUnknown, EnvironmentInUse, NoWorkerAnswered } from './errors.js';

const POLL_MS = 100;

/**
 * Waits until a run that was just started has read its row, or ended. A start is a signal, which cannot answer: that the
 * company is unknown shows only in the run's failure, which comes within its first activity.
 *
 * @throws {CompanyUnknown}
 * @throws {EnvironmentInUse}
 * @throws {NoWorkerAnswered} neither came within `patienceMs`
 */
export async function startedOrRefused(
  connection: ConnectionLike,
  run: WorkflowHandle,
  capture: CaptureKey,
  patienceMs: number,
): Promise<void> {
  try {
    await connection.withDeadline(Date.now() + patienceMs, async () => {
      while (!(await hasState(run)) && !(await hasEnded(run))) await sleep(POLL_MS);
    });
  } catch (error) {
    if (hasFailureType(error, FAILURES.companyUnknown)) throw new CompanyUnknown(capture.companyId);
    if (hasFailureType(error, FAILURES.environmentInUse)) throw new EnvironmentInUse(capture);
    if (ranOutOfTime(error)) throw new NoWorkerAnswered(patienceMs / 1000);
    throw error;
  }
}

/** A query that fails (a first task that is being retried) says nothing; one that no worker answers ends at the deadline. */
async function hasState(run: WorkflowHandle): Promise<boolean> {
  try {
    return (await run.query<CaptureStateAnswer>(QUERIES.state)).snapshot !== null;
  } catch (error) {
    if (ranOutOfTime(error)) throw error;
    return false;
  }
}

/** Throws what the run failed with. One that was stopped, or went on in a new run, had its row all the same. */
async function hasEnded(run: WorkflowHandle): Promise<boolean> {
  const { status } = await run.describe();
  if (status.name === 'RUNNING') return false;
  try {
    await run.result();
  } catch (error) {
    if (!(error instanceof WorkflowContinuedAsNewError)) throw error;
  }
  return true;
}

/** The type stands on the innermost failure: the workflow failed because an activity did. */
function hasFailureType(error: unknown, type: string): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ApplicationFailure && cause.type === type) return true;
  }
  return false;
}
