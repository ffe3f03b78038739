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
    const nothing = { behind: [], repaired: 0, unknownAnswers: 0, takenIn: 0, missing: 0, damaged: [] };
    assert.deepEqual(sound, { ...nothing, captures: 1, documentsRead: 30 });

    await system.database.transaction((tx) => markBehind(tx, capture, 'restored', Date.now()));
    assert.deepEqual((await verify({ ...where, repair: false })).behind, [capture]);

    const revision = (await getCapture(system.database, capture))?.revision ?? 0;
    assert.equal((await verify({ ...where, repair: true })).repaired, 1);
    const row = await getCapture(system.database, capture);
    assert.equal(row?.behind, false);
    assert.ok((row?.notBefore ?? 0) >= Date.now() + HOUR, 'calls that were lost are waited out');
    assert.ok((row?.revision ?? 0) > revision + 1_000, 'newer than anything a workflow knows');

    // A document of which nothing is known any more.
    await system.database.query('delete from documents where nsu = 12');
    assert.equal((await verify({ ...where, repair: false })).missing, 1);
    assert.equal((await verify({ ...where, repair: true })).missing, 1);
    assert.equal((await verify({ ...where, repair: false })).missing, 0, 'it is a recovery item now');

    rmSync(fileURLToPath(system.objectStoreUrl), { recursive: true });
    assert.equal((await verify({ ...where, repair: false })).damaged.length, 29);
  });
});

describe('a database that comes back older than its object store and Temporal', () => {
  test('takes its lost pages in again from their archives: nothing is lost, no rule is broken', async () => {
    const env = await skippingServer();
    const system = await System.start({
      temporal: { nativeConnection: env.nativeConnection, namespace: env.namespace ?? 'default' },
      skipping: true,
    });
    try {
      await system.startWorkers();
      const taxId = '98765432000198';
      system.simulator.clock.push(await env.currentTimeMs(), true);
      system.simulator.companies.add({ taxId, backlog: 60 });
      const capture = await system.startCapture(await system.addCompany(taxId));
      await env.sleep('30 minutes');
      const backup = await copyOf(system, capture.companyId);
      system.simulator.companies.arrive({ taxId, count: 120 });
      await env.sleep('80 minutes');
      assert.equal(await system.count('documents'), 180);

      await restore(system, capture.companyId, backup);
      await env.sleep('80 minutes');
      const held = await getCapture(system.database, capture);
      assert.deepEqual([held?.behind, held?.phase], [true, 'attention'], 'the workflow knows more, and nobody asks');
      const calls = system.simulator.journal.list({ taxId }).length;
      await env.sleep('7 hours');
      assert.equal(system.simulator.journal.list({ taxId }).length, calls);

      // The test server does not hand a run to new workers; these make no call meanwhile.
      const where = { database: system.databaseUrl, objectStore: system.objectStoreUrl };
      const found = await verify({ ...where, repair: true });
      assert.deepEqual([found.unknownAnswers, found.takenIn, found.missing], [3, 120, 0]);
      assert.equal((await getCapture(system.database, capture))?.ultNsu, '000000000000180');
      // The clock of the command is the machine's, which has not skipped: its hold is over by now.
      await system.messenger.wakeCapture(capture);
      system.simulator.companies.arrive({ taxId, count: 5 });
      await env.sleep('3 hours');
      const truth = system.simulator.companies.truth({ taxId, limit: 1_000 });
      assert.deepEqual(
        await system.stored(capture.companyId),
        new Map(truth.map((entry) => [entry.nsu as string, entry.sha256])),
      );
      assert.deepEqual(system.simulator.journal.violations(), []);
      await system.messenger.stopCapture(capture);
    } finally {
      await system.stop();
      await env.teardown();
    }
  });
});

const TABLES = ['captures', 'documents', 'archives', 'calls', 'events', 'usage_records', 'gaps', 'alerts'];

/** What a backup of one company holds. */
async function copyOf({ database }: System, companyId: string): Promise<Map<string, string>> {
  const copy = new Map<string, string>();
  for (const table of TABLES) {
    const { rows } = await database.query<{ all: unknown }>(
      `select coalesce(json_agg(t), '[]') as all from ${table} t where company_id = $1`,
      [companyId],
    );
    copy.set(table, JSON.stringify(rows[0]?.all));
  }
  return copy;
}

async function restore({ database }: System, companyId: string, copy: Map<string, string>): Promise<void> {
  for (const [table, all] of copy) {
    await database.query(`delete from ${table} where company_id = $1`, [companyId]);
    await database.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [all]);
  }
}
