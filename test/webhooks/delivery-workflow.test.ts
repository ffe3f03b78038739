import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { type DeliveryActivities, TASK_QUEUES } from '../../src/model/activity-contract.js';
import type { delivery } from '../../src/workflows/delivery.js';
import { type DeliveryInput, deliveryWorkflowId, SIGNALS, WORKFLOW_TYPES } from '../../src/workflows/messages.js';
import { timeSkipping } from '../support/temporal.js';
import { until } from '../support/until.js';

const MINUTE = 60_000;
type Answer = Awaited<ReturnType<DeliveryActivities['deliverDue']>>;
const NOTHING: Answer = { attempts: 0, nextDueAt: null, gone: false };

/** What the activity does, call by call; instants are of the skipped time. */
let script: (call: number, now: number) => Answer | Promise<Answer> = () => NOTHING;
let calls: number[] = [];
let env: TestWorkflowEnvironment;
let workers: Worker[] = [];
let running: Promise<void>[] = [];

async function start(more: Partial<DeliveryInput> = {}): Promise<WorkflowHandle<typeof delivery>> {
  const endpointId = randomUUID();
  return env.client.workflow.start<typeof delivery>(WORKFLOW_TYPES.delivery, {
    taskQueue: TASK_QUEUES.workflows,
    workflowId: deliveryWorkflowId(endpointId),
    args: [{ endpointId, ...more }],
  });
}

/** Minutes from the first call to each call, rounded. */
const minutes = () => calls.map((at) => Math.round((at - (calls[0] ?? 0)) / MINUTE));

describe('the delivery workflow', () => {
  before(async () => {
    env = await timeSkipping();
    const workflowBundle = await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('../../src/workflows/delivery.ts', import.meta.url)),
      logger: new DefaultLogger('ERROR'),
    });
    const options = { connection: env.nativeConnection, namespace: env.namespace ?? 'default' };
    const activities: DeliveryActivities = {
      async deliverDue({ endpointId }) {
        assert.match(endpointId, /^[0-9a-f-]{36}$/);
        const now = await env.currentTimeMs();
        calls.push(now);
        return script(calls.length, now);
      },
    };
    workers = [
      await Worker.create({ ...options, taskQueue: TASK_QUEUES.workflows, workflowBundle }),
      await Worker.create({ ...options, taskQueue: TASK_QUEUES.webhooks, activities }),
    ];
    running = workers.map((worker) => worker.run());
  });

  beforeEach(() => {
    calls = [];
    script = () => NOTHING;
  });

  after(async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.all(running);
  });

  test('with nothing pending looks again each minute, ten times, then completes', async () => {
    const handle = await start();
    await handle.result();
    assert.deepEqual(minutes(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const { historyLength } = await handle.describe();
    assert.ok(historyLength < 200, `${historyLength} events`);
  });

  test('finds on its own what a lost wake would have told, and then idles anew', async () => {
    script = (call) => (call === 6 ? { ...NOTHING, attempts: 3 } : NOTHING);
    await (await start()).result();
    assert.equal(calls.length, 6 + 10);
  });

  test('waits until the next is due', async () => {
    script = (call, now) => (call <= 2 ? { attempts: 1, nextDueAt: now + call * 20 * MINUTE, gone: false } : NOTHING);
    await (await start()).result();
    assert.deepEqual(minutes().slice(0, 4), [0, 20, 60, 61]);
  });

  test('goes on at once when the activity only ran out of time', async () => {
    script = (call, now) => (call <= 3 ? { attempts: 500, nextDueAt: now - 1000, gone: false } : NOTHING);
    await (await start()).result();
    assert.deepEqual(minutes().slice(0, 5), [0, 0, 0, 0, 1]);
  });

  test('does not spin when something is said to be due and nothing was sent', async () => {
    script = (call, now) => (call <= 5 ? { attempts: 0, nextDueAt: now - 5, gone: false } : NOTHING);
    await (await start()).result();
    const [first = 0, , , , , sixth = 0] = calls;
    assert.ok(sixth - first >= 5_000, `${sixth - first} ms for five waits`);
  });

  test('a wake while it waits makes it look at once', async () => {
    script = (call, now) => (call === 1 ? { attempts: 1, nextDueAt: now + 60 * MINUTE, gone: false } : NOTHING);
    const handle = await start();
    await until(() => calls.length === 1, 'the first look');
    await env.sleep('10 minutes');
    await handle.signal(SIGNALS.wake);
    await until(() => calls.length === 2, 'the second look');
    await handle.result();
    assert.equal(minutes()[1], 10);
  });

  test('a wake while the activity runs is not lost', async () => {
    let finish = () => {};
    script = (call) =>
      call === 1
        ? new Promise((resolve) => {
            finish = () => resolve({ attempts: 1, nextDueAt: null, gone: false });
          })
        : NOTHING;
    const handle = await start();
    await until(() => calls.length === 1, 'the activity');
    await handle.signal(SIGNALS.wake);
    finish();
    await until(() => calls.length === 2, 'another look without a wait');
    await handle.result();
  });

  test('completes when the endpoint is gone, unless it was woken meanwhile', async () => {
    script = () => ({ ...NOTHING, gone: true });
    await (await start()).result();
    assert.equal(calls.length, 1);

    calls = [];
    let finish = () => {};
    script = (call) =>
      call === 1
        ? new Promise((resolve) => {
            finish = () => resolve({ ...NOTHING, gone: true });
          })
        : { ...NOTHING, gone: true };
    const enabledAgain = await start();
    await until(() => calls.length === 1, 'the activity');
    await enabledAgain.signal(SIGNALS.wake);
    finish();
    await enabledAgain.result();
    assert.equal(calls.length, 2);
  });

  test('continues as new, and every wake is followed by a look', async () => {
    const handle = await start({ historyLimit: 25 });
    const { runId: firstRunId } = await handle.describe();
    await until(() => calls.length === 1, 'the first look');
    for (let i = 0; i < 40; i += 1) {
      const before = calls.length;
      await handle.signal(SIGNALS.wake);
      await until(() => calls.length > before, `a look after wake ${i}`);
    }
    const { runId, historyLength } = await handle.describe();
    assert.notEqual(runId, firstRunId);
    assert.ok(historyLength < 50, `${historyLength} events`);
    await handle.result();
    assert.equal(calls.length, 41 + 10, 'the looks in vain are counted across runs');
  });

  test('passes over signals that it does not know', async () => {
    const handle = await start();
    await handle.signal('nonsense', { anything: true });
    await handle.result();
    assert.equal(calls.length, 11);
  });

  test('tries an activity that fails again, without limit', async () => {
    script = (call) => {
      if (call <= 8) throw new Error('the database is away');
      return NOTHING;
    };
    await (await start()).result();
    assert.equal(calls.length, 8 + 11);
  });

  test('cancelled by a person: lets the activity end, then is cancelled', async () => {
    let finish = () => {};
    script = () =>
      new Promise((resolve) => {
        finish = () => resolve({ attempts: 1, nextDueAt: null, gone: false });
      });
    const handle = await start();
    await until(() => calls.length === 1, 'the activity');
    await handle.cancel();
    await until(async () => {
      const { events } = await handle.fetchHistory();
      return events?.some((event) => event.activityTaskCancelRequestedEventAttributes) === true;
    }, 'the workflow has asked the activity to end');
    finish();
    await assert.rejects(handle.result());
    assert.equal((await handle.describe()).status.name, 'CANCELLED');
  });
});
