import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Long from 'long';
import { TASK_QUEUES } from '../../src/model/activity-contract.js';
import type { CaptureKey } from '../../src/model/words.js';
import { captureWorkflowId, type HousekeepingInput, WORKFLOW_TYPES } from '../../src/workflows/messages.js';
import { devServer, type TestTemporal } from '../support/temporal.js';
import { until } from '../support/until.js';
import { System } from './system.js';

/** An hour is 12 seconds, overdue is 3 seconds. */
const TIME_SCALE = 300;

describe('what operators do in the Temporal UI breaks no rule and loses nothing', () => {
  let temporal: TestTemporal;
  let system: System;
  before(async () => {
    temporal = await devServer();
    system = await System.start({ temporal, timeScale: TIME_SCALE });
    await system.startWorkers();
  });
  after(() => system?.stop());

  const cnpjs = ['11222333000181', '98765432000198', '45678912000155', 'A1B2C3D4000193'];
  async function company(backlog: number): Promise<{ taxId: string; companyId: string; capture: CaptureKey }> {
    const taxId = cnpjs.pop() ?? '';
    system.simulator.companies.add({ taxId, backlog });
    system.simulator.script({ type: 'slow', ms: 40 }, { taxId, count: null });
    const companyId = await system.addCompany(taxId);
    return { taxId, companyId, capture: await system.startCapture(companyId) };
  }
  const handleOf = (capture: CaptureKey) => system.client.workflow.getHandle(captureWorkflowId(capture));
  const callsOf = (taxId: string) => system.simulator.journal.list().filter((entry) => entry.taxId === taxId).length;

  /** Housekeeping as the Schedule would run it, again and again until the capture runs again. */
  async function housekeeping(): Promise<void> {
    const input: HousekeepingInput = { every: 'minute' };
    const workflowId = `housekeeping-test-${Math.random()}`;
    await system.client.workflow.execute(WORKFLOW_TYPES.housekeeping, {
      taskQueue: TASK_QUEUES.workflows,
      workflowId,
      args: [input],
    });
  }
  const isRunning = async (capture: CaptureKey) => (await handleOf(capture).describe()).status.name === 'RUNNING';

  async function complete(taxId: string, companyId: string): Promise<void> {
    const truth = new Map(
      system.simulator.companies.truth({ taxId, limit: 10_000 }).map(({ nsu, sha256 }) => [nsu as string, sha256]),
    );
    await until(async () => (await system.stored(companyId)).size >= truth.size, 'all documents', 240_000);
    assert.deepEqual(await system.stored(companyId), truth);
    assert.deepEqual(
      system.simulator.journal.violations().filter((entry) => entry.taxId === taxId),
      [],
    );
  }

  test('terminate in the middle of a drain: housekeeping starts it again', async () => {
    const { taxId, companyId, capture } = await company(400);
    await until(() => callsOf(taxId) >= 2, 'two pages');
    await handleOf(capture).terminate('by an operator');
    await until(async () => {
      await housekeeping();
      return isRunning(capture);
    }, 'running again');
    await complete(taxId, companyId);
  });

  test('reset to its first task: the replayed run starts from a stale cursor and adopts the committed one', async () => {
    const { taxId, companyId, capture } = await company(400);
    await until(() => callsOf(taxId) >= 3, 'three pages');
    const { runId } = await handleOf(capture).describe();
    const { events } = await handleOf(capture).fetchHistory();
    const firstTask = events?.find(({ workflowTaskCompletedEventAttributes: completed }) => completed)?.eventId;
    await temporal.connection.workflowService.resetWorkflowExecution({
      namespace: temporal.namespace,
      workflowExecution: { workflowId: captureWorkflowId(capture), runId },
      reason: 'test',
      workflowTaskFinishEventId: Long.fromValue(firstTask ?? 0),
      requestId: runId,
    });
    await complete(taxId, companyId);
    assert.notEqual((await handleOf(capture).describe()).runId, runId);
  });

  test('cancel is a stop: nothing runs until a person starts it, and then nothing is missing', async () => {
    const { taxId, companyId, capture } = await company(400);
    await until(() => callsOf(taxId) >= 2, 'two pages');
    await handleOf(capture).cancel();
    await until(async () => !(await isRunning(capture)), 'completed');
    const calls = callsOf(taxId);
    await housekeeping();
    assert.equal(await isRunning(capture), false, 'housekeeping leaves a stopped capture alone');
    assert.equal(callsOf(taxId), calls);
    await system.startCapture(companyId);
    await complete(taxId, companyId);
  });

  test('stop and start again at once, many times: one call at a time, from the right place', async () => {
    const { taxId, companyId, capture } = await company(300);
    for (let i = 0; i < 8; i++) {
      await system.messenger.stopCapture(capture).catch(() => undefined);
      await system.startCapture(companyId);
    }
    await complete(taxId, companyId);
  });

  test('operators find captures by search attribute, and the details line says where each stands', async () => {
    const query = `CaptureState = "waiting" and DocumentType = "nfe" and Uf = "SP"`;
    await until(async () => {
      let found = 0;
      for await (const execution of system.client.workflow.list({ query }))
        found += execution.type === 'capture' ? 1 : 0;
      return found >= 3;
    }, 'listed as waiting');
  });
});
