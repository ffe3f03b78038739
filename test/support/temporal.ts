import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, type LogLevel, NativeConnection, Runtime } from '@temporalio/worker';
import { findProgram, TEMPORAL_TEST_SERVER } from '../../src/runtime/binaries.js';
import { ensureSearchAttributes } from '../../src/runtime/temporal-namespace.js';
import { startTemporal } from '../../src/runtime/temporal-server.js';
import { scratchFolder } from './scratch.js';

// Worker logs would drown the test report; MALOTE_TEST_LOG=INFO shows them, those of the SDK's core as well.
const level = (process.env.MALOTE_TEST_LOG ?? 'ERROR') as LogLevel;
Runtime.install({
  logger: new DefaultLogger(level),
  telemetryOptions: { logging: { filter: { core: level, other: level } } },
});

export interface TestTemporal {
  readonly address: string;
  readonly namespace: string;
  readonly connection: Connection;
  /** For workers. */
  readonly nativeConnection: NativeConnection;
  readonly client: Client;
}

const cleanUps: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp().catch(() => undefined);
});

/**
 * Temporal's real development server: Schedules, lists, search attributes, fairness; time passes as it does. One per test
 * process, stopped after its last test. Every call makes a namespace of its own, with our search attributes, so that tests with
 * the same task queues and workflow ids do not meet.
 */
export async function devServer(): Promise<TestTemporal> {
  address ??= startShared();
  const temporal = await connect(await address, `test-${randomUUID()}`);
  const { connection, namespace } = temporal;
  const { config } = await connection.workflowService.describeNamespace({ namespace: 'default' });
  const workflowExecutionRetentionPeriod = config?.workflowExecutionRetentionTtl ?? null;
  await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  await eventually(() => ensureSearchAttributes(connection, namespace));
  return temporal;
}
let address: Promise<string> | undefined;

async function startShared(): Promise<string> {
  const folder = scratchFolder('temporal');
  const server = await startTemporal({ folder, ui: false, throwAway: true });
  cleanUps.push(() => server.stop().finally(() => rmSync(folder, { recursive: true, force: true })));
  return server.address;
}

/** A new namespace is seen by the whole server within seconds. */
async function eventually(work: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === 100) throw error;
      await delay(100);
    }
  }
}

async function connect(address: string, namespace: string): Promise<TestTemporal> {
  const connection = await Connection.connect({ address });
  const nativeConnection = await NativeConnection.connect({ address });
  cleanUps.push(() => connection.close());
  cleanUps.push(() => nativeConnection.close());
  return { address, namespace, connection, nativeConnection, client: new Client({ connection, namespace }) };
}

/**
 * Temporal's time-skipping server: hours of timers in a second. No Schedules, no lists, no search attributes; time is global to
 * the server, so every call starts one of its own. Stopped after the file's last test; call `teardown()` to stop it earlier.
 */
export async function timeSkipping(): Promise<TestWorkflowEnvironment> {
  const path = await findProgram(TEMPORAL_TEST_SERVER);
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path } },
  });
  const teardown = environment.teardown.bind(environment);
  let down: Promise<void> | undefined;
  environment.teardown = () => {
    down ??= teardown();
    return down;
  };
  cleanUps.push(environment.teardown);
  return environment;
}
