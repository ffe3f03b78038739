import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import { type HousekeepingActivities, TASK_QUEUES } from '../../src/model/activity-contract.js';
import { type HousekeepingInput, WORKFLOW_TYPES } from '../../src/workflows/messages.js';
import { skippingServer, withWorkers } from './harness.js';

const env = await skippingServer();

/** Runs housekeeping once; gives the activities in the order of their (first) attempts, and its failure. */
async function housekeeping(
  input: HousekeepingInput,
  broken: readonly (keyof HousekeepingActivities)[] = [],
): Promise<{ ran: string[]; attempts: number; failed: boolean }> {
  const ran: string[] = [];
  let attempts = 0;
  const activity = (name: keyof HousekeepingActivities) => async (given?: { every: string }) => {
    attempts += 1;
    const line = given ? `${name} ${given.every}` : name;
    if (!ran.includes(line)) ran.push(line);
    if (broken.includes(name)) throw ApplicationFailure.retryable('the database is away');
    return {};
  };
  const names: (keyof HousekeepingActivities)[] = [
    'startOverdue',
    'decodeFailedItems',
    'releaseHeld',
    'watchAwaitedXml',
    'watchAlerts',
    'mailAlerts',
    'makePdfs',
    'sweep',
  ];
  const activities = Object.fromEntries(names.map((name) => [name, activity(name)]));
  const failed = await withWorkers(env, activities, () =>
    env.client.workflow
      .execute(WORKFLOW_TYPES.housekeeping, {
        taskQueue: TASK_QUEUES.workflows,
        workflowId: `housekeeping-${Math.random()}`,
        args: [input],
      })
      .then(
        () => false,
        (error: unknown) => error instanceof WorkflowFailedError,
      ),
  );
  return { ran, attempts, failed };
}

const MINUTE = [
  'startOverdue',
  'decodeFailedItems',
  'releaseHeld',
  'watchAwaitedXml',
  'watchAlerts minute',
  'mailAlerts',
  'makePdfs',
];

describe('housekeeping', () => {
  test('each minute, hour and day has its work', async () => {
    assert.deepEqual(await housekeeping({ every: 'minute' }), { ran: MINUTE, attempts: 7, failed: false });
    assert.deepEqual((await housekeeping({ every: 'hour' })).ran, ['watchAlerts hour']);
    assert.deepEqual((await housekeeping({ every: 'day' })).ran, ['sweep']);
  });

  test('a part that fails for long keeps no other from its turn, and the run says that it failed', async () => {
    const { ran, attempts, failed } = await housekeeping({ every: 'minute' }, ['startOverdue', 'watchAlerts']);
    assert.deepEqual([ran, attempts, failed], [MINUTE, 5 + 1 + 1 + 1 + 5 + 1 + 1, true]);
  });

  test('a mail is tried once a run: the next minute is retry enough', async () => {
    const { ran, attempts, failed } = await housekeeping({ every: 'minute' }, ['mailAlerts']);
    assert.deepEqual([ran, attempts, failed], [MINUTE, 7, true]);
  });
});
