import { after, before } from 'node:test';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { skippingServer } from '../workflows/harness.js';
import { type SystemApi, startApi } from './api.js';
import { System, type SystemOptions } from './system.js';

export interface SkippedTime {
  readonly env: TestWorkflowEnvironment;
  readonly system: System;
  readonly api: SystemApi;
}

/**
 * All of Malote at work on skipped time, for the tests of the block that this is called in.
 *
 * @param started told of it before the first test
 */
export function onSkippedTime(
  started: (parts: SkippedTime) => void,
  options: Omit<SystemOptions, 'temporal' | 'skipping'> = {},
): void {
  let env: TestWorkflowEnvironment | undefined;
  let system: System | undefined;
  let api: SystemApi | undefined;
  before(async () => {
    env = await skippingServer();
    const temporal = { nativeConnection: env.nativeConnection, namespace: env.namespace ?? 'default' };
    system = await System.start({ ...options, temporal, skipping: true });
    await system.startWorkers();
    api = await startApi(system, env);
    started({ env, system, api });
  });
  after(async () => {
    await api?.stop();
    await system?.stop();
    await env?.teardown();
  });
}
