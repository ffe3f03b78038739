import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { verify } from '../../src/runtime/verify.js';
import { markBehind } from '../../src/storage/capture-orders.js';
import { getCapture } from '../../src/storage/captures.js';
import { System } from '../e2e/system.js';
import { until } from '../support/until.js';
import { skippingServer } from '../workflows/harness.js';

const HOUR = 3_600_000;

describe('malote verify', () => {
  let system: System;
  let stopServer: () => Promise<void>;
  before(async () => {
    const env = await skippingServer();
    stopServer = () => env.teardown();
    system = await System.start({
      temporal: { nativeConnection: env.nativeConnection, namespace: env.namespace ?? 'default' },
    });
    await system.startWorkers();
  });
  after(async () => {
    await system?.stop();
    await stopServer?.();
  });

  test('finds a database behind and damaged archives; repair holds the capture for the empty-queue time', async () => {
    const taxId = '11222333000181';
    system.simulator.companies.add({ taxId, backlog: 30 });
    const capture = await system.startCapture(await system.addCompany(taxId));
    await until(async () => (await system.count('documents')) === 30, 'drained');
    await system.stopWorkers();
    const where = { database: system.databaseUrl, objectStore: system.objectStoreUrl };
    const sound = await verify({ ...where, repair: false });
    assert.deepEqual(sound, { captures: 1, behind: [], repaired: 0, documentsRead: 30, damaged: [] });

    await system.database.transaction((tx) => markBehind(tx, capture, 'restored', Date.now()));
    assert.deepEqual((await verify({ ...where, repair: false })).behind, [capture]);

    const revision = (await getCapture(system.database, capture))?.revision ?? 0;
    assert.equal((await verify({ ...where, repair: true })).repaired, 1);
    const row = await getCapture(system.database, capture);
    assert.equal(row?.behind, false);
    assert.ok((row?.notBefore ?? 0) >= Date.now() + HOUR, 'calls that were lost are waited out');
    assert.ok((row?.revision ?? 0) > revision + 1_000, 'newer than anything a workflow knows');

    rmSync(fileURLToPath(system.objectStoreUrl), { recursive: true });
    assert.equal((await verify({ ...where, repair: false })).damaged.length, 30);
  });
});
