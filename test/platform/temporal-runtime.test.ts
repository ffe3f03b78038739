import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { Runtime, Worker } from '@temporalio/worker';
import { createLogger } from '../../src/platform/log.js';
import { installTemporalRuntime } from '../../src/platform/temporal-runtime.js';
import { findProgram, TEMPORAL_TEST_SERVER } from '../../src/runtime/binaries.js';
import { until } from '../support/until.js';

const lines: { level: string; msg: string }[] = [];
installTemporalRuntime(
  createLogger({ level: 'debug', role: 'test', destination: { write: (line) => void lines.push(JSON.parse(line)) } }),
  null,
);
const env = await TestWorkflowEnvironment.createTimeSkipping({
  server: { executable: { type: 'existing-path', path: await findProgram(TEMPORAL_TEST_SERVER) } },
});
after(() => env.teardown());

test('of the warnings of the SDK those about what is meant to be are no warnings, and the others are', async () => {
  const worker = await Worker.create({ connection: env.nativeConnection, taskQueue: 'any', activities: { any() {} } });
  const run = worker.run();
  // The test server does not advertise it.
  await until(async () => lines.some(({ msg }) => msg.includes('activity_failure_include_heartbeat')), 'the line');
  Runtime.instance().logger.warn('a worker is in trouble');
  worker.shutdown();
  await run;
  assert.deepEqual(
    lines.filter(({ level }) => level === 'warn' || level === 'error').map(({ msg }) => msg),
    ['a worker is in trouble'],
  );
});
