import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { bundleWorkflowCode, DefaultLogger, Worker, type WorkflowBundle } from '@temporalio/worker';
import { TASK_QUEUES } from '../../src/model/activity-contract.js';
import { type CaptureInput, captureWorkflowId, WORKFLOW_TYPES } from '../../src/workflows/messages.js';
import { timeSkipping } from '../support/temporal.js';
import type { FakeCapture } from './fake-capture.js';

const KEYWORD = 2;
const INT = 3;

let bundled: Promise<WorkflowBundle> | undefined;

/** The workflows as they would be deployed. One bundle a process. */
export function workflowBundle(): Promise<WorkflowBundle> {
  bundled ??= bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  });
  return bundled;
}

/** A time-skipping server that knows our search attributes. */
export async function skippingServer(): Promise<TestWorkflowEnvironment> {
  const env = await timeSkipping();
  const keywords = ['CompanyId', 'TaxIdEnding', 'DocumentType', 'Environment', 'Uf', 'CaptureState', 'LastStatus'];
  await env.connection.operatorService.addSearchAttributes({
    namespace: env.namespace ?? 'default',
    searchAttributes: { ...Object.fromEntries(keywords.map((name) => [name, KEYWORD])), Lag: INT },
  });
  return env;
}

/** Runs workers with the given activities while `work` runs. */
export async function withWorkers<T>(
  env: TestWorkflowEnvironment,
  activities: object,
  work: () => Promise<T>,
): Promise<T> {
  const options = { connection: env.nativeConnection, namespace: env.namespace ?? 'default' };
  const workers = [
    await Worker.create({ ...options, taskQueue: TASK_QUEUES.workflows, workflowBundle: await workflowBundle() }),
    ...(await Promise.all(
      [TASK_QUEUES.nfe, TASK_QUEUES.background, TASK_QUEUES.bulk, TASK_QUEUES.webhooks, 'host'].map((taskQueue) =>
        Worker.create({ ...options, taskQueue, activities }),
      ),
    )),
  ];
  const runs = workers.map((worker) => worker.run());
  try {
    return await work();
  } finally {
    for (const worker of workers) worker.shutdown();
    await Promise.all(runs);
  }
}

export function startCapture(
  env: TestWorkflowEnvironment,
  fake: FakeCapture,
  more: Partial<CaptureInput> = {},
): Promise<WorkflowHandle> {
  return env.client.workflow.start(WORKFLOW_TYPES.capture, {
    taskQueue: TASK_QUEUES.workflows,
    workflowId: captureWorkflowId(fake.key),
    args: [{ capture: fake.key, ...more }],
  });
}
