import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type WorkflowUpdateHandle,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { type KeyQuestion, type NsuQuestion, POINT_FAILURES, type PointAnswer } from '../model/point-query.js';
import type { CaptureKey } from '../model/words.js';
import { captureWorkflowId, UPDATES } from '../workflows/messages.js';
import { ranOutOfTime } from './deadline.js';

/** What can be asked for: a number, or an access key. */
export type PointQuestion = NsuQuestion | KeyQuestion;

/** How far a question got within its time. */
export type Asked =
  | { readonly kind: 'answered'; readonly answer: PointAnswer }
  /** The run has taken it; its answer comes later. */
  | { readonly kind: 'taken' }
  /** Ten others wait. It was not taken. */
  | { readonly kind: 'busy' }
  /** The run found it malformed. */
  | { readonly kind: 'malformed'; readonly problem: string }
  /** No run is open. */
  | { readonly kind: 'not_running' }
  /** No worker answered: whether it will be taken is not known. */
  | { readonly kind: 'no_worker' };

/** How long a question is pursued. */
export interface AskTimes {
  /** Milliseconds since 1970: until then it is tried to be taken. */
  readonly takenBy: number;
  /** Until then the answer is waited for. */
  readonly answeredBy: number;
}

const RETRY_MS = 250;

/**
 * Asks a capture's run for one document. A run that is full, or about to go on in a new one, is asked again until `takenBy`.
 *
 * @param id of the update: a repeat with the same id is the same question
 * @throws ServiceError of `@temporalio/client` when Temporal does not answer
 */
export async function askCapture(
  client: Client,
  capture: CaptureKey,
  question: PointQuestion,
  { takenBy, answeredBy }: AskTimes,
  id?: string,
): Promise<Asked> {
  for (;;) {
    const asked = await askOnce(client, capture, question, { takenBy, answeredBy }, id);
    const again = asked.kind === 'busy' || asked.kind === 'not_running';
    if (!again || Date.now() + RETRY_MS > takenBy) return asked;
    await sleep(RETRY_MS);
  }
}

async function askOnce(
  client: Client,
  capture: CaptureKey,
  question: PointQuestion,
  { takenBy, answeredBy }: AskTimes,
  id: string | undefined,
): Promise<Asked> {
  const name = 'nsu' in question ? UPDATES.queryByNsu : UPDATES.queryByKey;
  let update: WorkflowUpdateHandle<PointAnswer> | null = null;
  try {
    const run = client.workflow.getHandle(captureWorkflowId(capture));
    const options = {
      args: [question] as [PointQuestion],
      waitForStage: 'ACCEPTED',
      ...(id && { updateId: id }),
    } as const;
    const taken = await client.connection.withDeadline(takenBy, () =>
      run.startUpdate<PointAnswer, [PointQuestion]>(name, options),
    );
    update = taken;
    const answer = await client.connection.withDeadline(answeredBy, () => taken.result());
    return { kind: 'answered', answer };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { kind: 'not_running' };
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || ranOutOfTime(error)) {
      return { kind: update === null ? 'no_worker' : 'taken' };
    }
    const refusal = refusalIn(error);
    if (refusal?.type === POINT_FAILURES.busy) return { kind: 'busy' };
    if (refusal?.type === POINT_FAILURES.malformed) return { kind: 'malformed', problem: refusal.message };
    throw error;
  }
}

function refusalIn(error: unknown): ApplicationFailure | null {
  return error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure ? error.cause : null;
}
