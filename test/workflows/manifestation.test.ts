import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { WorkflowMessenger } from '../../src/client/workflow-messenger.js';
import { TASK_QUEUES } from '../../src/model/activity-contract.js';
import type {
  ManifestationActivities,
  ManifestationRowActivities,
  RequestedManifestation,
  SendResult,
} from '../../src/model/manifestation-contract.js';
import type { CaptureKey } from '../../src/model/words.js';
import {
  type ManifestationInput,
  manifestationWorkflowId,
  SIGNALS,
  WORKFLOW_TYPES,
} from '../../src/workflows/messages.js';
import { key } from '../documents/samples.js';
import { until } from '../support/until.js';
import { skippingServer, workflowBundle } from './harness.js';

const MINUTE = 60_000;
const NOTHING: SendResult = {
  sent: 0,
  registered: 0,
  rejected: 0,
  statusCode: null,
  obstacle: null,
  pending: 0,
  nextDueAt: null,
};

let script: (call: number, now: number) => SendResult | Promise<SendResult> = () => NOTHING;
let calls: number[] = [];
let recorded: RequestedManifestation[] = [];
let env: TestWorkflowEnvironment;
let workers: Worker[] = [];
let running: Promise<void>[] = [];

const newCapture = (): CaptureKey => ({ companyId: randomUUID(), documentType: 'nfe', environment: 'homologation' });

function start(more: Partial<ManifestationInput> = {}): Promise<WorkflowHandle> {
  const capture = more.capture ?? newCapture();
  return env.client.workflow.start(WORKFLOW_TYPES.manifestation, {
    taskQueue: TASK_QUEUES.workflows,
    workflowId: manifestationWorkflowId(capture),
    args: [{ ...more, capture }],
  });
}

/** Minutes from the first call to each call, rounded. */
const minutes = () => calls.map((at) => Math.round((at - (calls[0] ?? 0)) / MINUTE));

describe('the manifestation workflow', () => {
  before(async () => {
    env = await skippingServer();
    const options = { connection: env.nativeConnection, namespace: env.namespace ?? 'default' };
    const activities: ManifestationActivities & ManifestationRowActivities = {
      async sendManifestations() {
        const now = await env.currentTimeMs();
        calls.push(now);
        return script(calls.length, now);
      },
      async recordManifestations({ requests }) {
        recorded.push(...requests);
        return { taken: requests.length, refused: 0 };
      },
    };
    workers = [
      await Worker.create({ ...options, taskQueue: TASK_QUEUES.workflows, workflowBundle: await workflowBundle() }),
      await Worker.create({ ...options, taskQueue: TASK_QUEUES.nfe, activities }),
      await Worker.create({ ...options, taskQueue: TASK_QUEUES.background, activities }),
    ];
    running = workers.map((worker) => worker.run());
  });

  beforeEach(() => {
    calls = [];
    recorded = [];
    script = () => NOTHING;
  });

  after(async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.all(running);
  });

  test('completes when nothing is pending', async () => {
    const handle = await start();
    await handle.result();
    assert.equal(calls.length, 1);
    assert.ok((await handle.describe()).historyLength < 20);
  });

  test('sends on while something is due, waits until the next, late and never early', async () => {
    script = (call, now) => {
      if (call === 1)
        return { ...NOTHING, sent: 20, registered: 20, statusCode: '128', pending: 3, nextDueAt: now - 5 };
      if (call === 2) return { ...NOTHING, sent: 3, pending: 3, nextDueAt: now + 20 * MINUTE };
      return NOTHING;
    };
    await (await start()).result();
    const [first = 0, second = 0, third = 0] = calls;
    assert.ok(second - first < MINUTE, 'at once');
    assert.ok(third - second >= 20 * MINUTE && third - second <= 22.1 * MINUTE, `${third - second} ms`);
    assert.equal(calls.length, 3);
  });

  test('does not spin when something is said to be due and nothing was sent', async () => {
    script = (call, now) => (call <= 5 ? { ...NOTHING, pending: 1, nextDueAt: now - 5 } : NOTHING);
    await (await start()).result();
    const [first = 0, , , , , sixth = 0] = calls;
    assert.ok(sixth - first >= 5_000, `${sixth - first} ms for five waits`);
  });

  test('a wake while it waits makes it look at once; one while it sends is not lost', async () => {
    script = (call, now) => (call === 1 ? { ...NOTHING, pending: 1, nextDueAt: now + 60 * MINUTE } : NOTHING);
    const handle = await start();
    await until(() => calls.length === 1, 'the first look');
    await env.sleep('10 minutes');
    await handle.signal(SIGNALS.wake);
    await handle.result();
    assert.deepEqual(minutes(), [0, 10]);

    calls = [];
    let finish = () => {};
    script = (call) =>
      call === 1
        ? new Promise((resolve) => {
            finish = () => resolve(NOTHING);
          })
        : NOTHING;
    const busy = await start();
    await until(() => calls.length === 1, 'the activity');
    await busy.signal(SIGNALS.wake);
    finish();
    await busy.result();
    assert.equal(calls.length, 2);
  });

  test('writes down what came by signal before it sends, and takes no malformed one', async () => {
    const capture = newCapture();
    const messenger = new WorkflowMessenger(env.client);
    script = (call, now) => (call === 1 ? { ...NOTHING, pending: 1, nextDueAt: now + 60 * MINUTE } : NOTHING);
    await messenger.requestManifestation(capture, { key: key(1), type: '210200' });
    const handle = env.client.workflow.getHandle(manifestationWorkflowId(capture));
    await until(() => recorded.length === 1 && calls.length === 1, 'the first');
    for (const wrong of [
      null,
      7,
      {},
      { key: 'x', type: '210200' },
      { key: key(1), type: 210200 },
      { key: key(1), type: '../x' },
    ]) {
      await handle.signal(SIGNALS.request, wrong);
    }
    await handle.signal('no-such-signal');
    await messenger.requestManifestation(capture, { key: key(2), type: '210210' });
    await until(() => recorded.length === 2, 'the second');
    await handle.result();
    assert.deepEqual(recorded, [
      { key: key(1), type: '210200' },
      { key: key(2), type: '210210' },
    ]);
  });

  test('goes on in a new run with a short history, and loses no request over it', async () => {
    const capture = newCapture();
    script = (_, now) => ({ ...NOTHING, pending: 1, nextDueAt: now + MINUTE });
    const handle = await start({ capture, historyLimit: 30 });
    const latest = env.client.workflow.getHandle(handle.workflowId);
    for (let i = 1; i <= 8; i++) {
      const request = () => latest.signal(SIGNALS.request, { key: key(i), type: '210210' });
      // The test server has a moment between two runs in which there is none.
      await until(
        () =>
          request()
            .then(() => true)
            .catch(ifNotFound),
        'a run takes it',
      );
      await env.sleep('5 minutes');
    }
    script = () => NOTHING;
    await latest.result();
    assert.equal(recorded.length, 8);
    const { runId } = await latest.describe();
    assert.notEqual(runId, (handle as { firstExecutionRunId?: string }).firstExecutionRunId);
    assert.ok((await latest.describe()).historyLength < 60);
  });

  test('tells in the UI what it sent, what is left, and what is in the way', async () => {
    script = (call, now) =>
      call === 1
        ? {
            ...NOTHING,
            sent: 4,
            registered: 3,
            rejected: 1,
            statusCode: '128',
            pending: 2,
            nextDueAt: now + 60 * MINUTE,
          }
        : { ...NOTHING, obstacle: 'certificate_expired', pending: 2, nextDueAt: now + 60 * MINUTE };
    const handle = await start();
    await until(() => calls.length === 1, 'the first look');
    const details = async () => {
      const metadata = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
      return metadata.currentDetails ?? '';
    };
    await until(async () => (await details()) !== '', 'the details');
    assert.match(
      await details(),
      /^Last request: 4 events, 3 registered, 1 rejected \(128\)\. 2 events pending\. Next: .* This run: 3 registered, 1 rejected in 1 request\.$/,
    );
    await handle.signal(SIGNALS.wake);
    await until(() => calls.length === 2, 'the second look');
    await until(async () => /certificate expired/.test(await details()), 'the obstacle');
    script = () => NOTHING;
    await handle.signal(SIGNALS.wake);
    await handle.result();
  });

  test('nothing personal stands in its history but the keys of requests', async () => {
    const capture = newCapture();
    await new WorkflowMessenger(env.client).requestManifestation(capture, { key: key(77), type: '210200' });
    const handle = env.client.workflow.getHandle(manifestationWorkflowId(capture));
    await handle.result();
    const history = textOf((await handle.fetchHistory()).events);
    assert.ok(history.includes(key(77)));
    assert.doesNotMatch(history.replaceAll(key(77), ''), /\d{44}|<\w|BEGIN/);
  });
});

function ifNotFound(error: unknown): false {
  if (error instanceof WorkflowNotFoundError) return false;
  throw error;
}

/** Every text in a value, payloads included. */
function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value === 'object' && value !== null) return Object.values(value).map(textOf).join('\n');
  return typeof value === 'string' ? value : '';
}
