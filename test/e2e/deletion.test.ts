import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { getCompany } from '../../src/storage/companies.js';
import { getErasure, requestErasure } from '../../src/storage/erasures.js';
import { openObjectStore } from '../../src/storage/object-store/index.js';
import { captureWorkflowId, erasureWorkflowId } from '../../src/workflows/messages.js';
import { devServer, type TestTemporal } from '../support/temporal.js';
import { until } from '../support/until.js';
import { System } from './system.js';

describe('a company is deleted while it is captured', () => {
  let temporal: TestTemporal;
  let system: System;
  before(async () => {
    temporal = await devServer();
    system = await System.start({ temporal, timeScale: 600 });
    await system.startWorkers();
  });
  after(() => system?.stop());

  test('its capture ends, nothing of it is left, and the other company goes on', async () => {
    const [gone, stays] = ['11222333000181', '98765432000198'];
    for (const taxId of [gone, stays]) system.simulator.companies.add({ taxId, backlog: 300 });
    const capture = await system.startCapture(await system.addCompany(gone));
    const other = await system.startCapture(await system.addCompany(stays));
    const { companyId } = capture;
    await until(async () => (await system.stored(companyId)).size >= 100, 'in the middle of its backlog');

    const now = Date.now();
    const asked = await system.database.transaction((tx) => requestErasure(tx, companyId, { now, dueAt: now }));
    assert.equal(asked?.stopped.length, 1);
    await system.messenger.stopCapture(capture).catch(() => undefined);
    await system.messenger.wakeErasure(companyId);

    const run = temporal.client.workflow.getHandle(erasureWorkflowId(companyId));
    await until(async () => (await run.describe()).status.name === 'COMPLETED', 'deleted');
    assert.equal((await getErasure(system.database, companyId))?.status, 'done');
    assert.equal(await getCompany(system.database, companyId), null);
    assert.equal((await system.stored(companyId)).size, 0);
    const store = await openObjectStore(system.objectStoreUrl);
    for await (const object of store.list(`${companyId}/`)) assert.fail(object.key);
    const captureRun = temporal.client.workflow.getHandle(captureWorkflowId(capture));
    await until(async () => (await captureRun.describe()).status.name !== 'RUNNING', 'its capture has ended');

    await until(async () => (await system.stored(other.companyId)).size === 300, 'the other one is drained');
    assert.deepEqual(system.simulator.journal.violations(), []);
  });
});
