import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TASK_QUEUES } from '../../src/model/activity-contract.js';
import type { ErasureStep } from '../../src/model/erasure-contract.js';
import { erasureWorkflowId, SIGNALS, WORKFLOW_TYPES } from '../../src/workflows/messages.js';
import { until } from '../support/until.js';
import { skippingServer, withWorkers } from './harness.js';

const env = await skippingServer();
const DAY = 86_400_000;

function start(companyId: string) {
  return env.client.workflow.start(WORKFLOW_TYPES.erasure, {
    taskQueue: TASK_QUEUES.workflows,
    workflowId: erasureWorkflowId(companyId),
    args: [{ companyId }],
  });
}

describe('deletion of a company', () => {
  test('waits for the end of the grace, then goes on part after part, over several runs', async () => {
    const dueAt = (await env.currentTimeMs()) + 7 * DAY;
    const seen: number[] = [];
    let left = 130;
    const eraseCompany = async (): Promise<ErasureStep> => {
      const now = await env.currentTimeMs();
      seen.push(now);
      if (now < dueAt) return { kind: 'waits', until: dueAt, why: 'grace' };
      left -= 1;
      return left === 0 ? { kind: 'over' } : { kind: 'goes_on', rows: 130 - left, objects: 0 };
    };
    await withWorkers(env, { eraseCompany }, async () => {
      const handle = await start('a');
      await handle.result();
      assert.equal(left, 0);
      assert.ok((seen[1] ?? 0) >= dueAt, 'not before');
      assert.equal(seen.length, 131, 'waited once, not in a circle');
    });
  });

  test('a wake-up ends a wait: the deletion was hurried, or taken back', async () => {
    let steps = 0;
    const eraseCompany = async (): Promise<ErasureStep> => {
      steps += 1;
      return steps === 1
        ? { kind: 'waits', until: (await env.currentTimeMs()) + 7 * DAY, why: 'grace' }
        : { kind: 'over' };
    };
    await withWorkers(env, { eraseCompany }, async () => {
      const handle = await start('b');
      await until(() => steps === 1, 'waits');
      const before = await env.currentTimeMs();
      await handle.signal(SIGNALS.wake);
      await until(async () => (await handle.describe()).status.name === 'COMPLETED', 'over');
      assert.ok((await env.currentTimeMs()) - before < DAY);
    });
  });
});
