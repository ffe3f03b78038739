import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Worker } from '@temporalio/worker';
import { type HandoverPage, type HostAnswer, MaloteClient } from '../../src/client/index.js';
import { devServer, type TestTemporal } from '../support/temporal.js';
import { until } from '../support/until.js';
import { System } from './system.js';

describe('a host takes pages with a worker of its own', () => {
  let temporal: TestTemporal;
  let system: System;
  before(async () => {
    temporal = await devServer();
    system = await System.start({ temporal, timeScale: 600 });
    await system.startWorkers();
  });
  after(() => system?.stop());

  test('in NSU order; an older cursor is served from the database; stop stays down', async () => {
    const taxId = '11222333000181';
    system.simulator.companies.add({ taxId, backlog: 260 });
    const companyId = await system.addCompany(taxId);
    const handed: string[] = [];
    let wentBack = false;
    const takePage = async (page: HandoverPage): Promise<HostAnswer | undefined> => {
      handed.push(...page.documents.map(({ nsu }) => nsu));
      if (page.ultNsu >= '000000000000200' && !wentBack) {
        wentBack = true;
        return { ultNsu: '100' };
      }
      return page.ultNsu === page.maxNsu ? { stop: true } : undefined;
    };
    const host = await Worker.create({
      connection: temporal.nativeConnection,
      namespace: temporal.namespace,
      taskQueue: 'my-erp',
      activities: { takePage },
    });
    await host.runUntil(async () => {
      const malote = new MaloteClient({ connection: temporal.connection, namespace: temporal.namespace });
      const capture = await malote.startCapture({
        companyId,
        documentType: 'nfe',
        environment: 'homologation',
        handler: { taskQueue: 'my-erp', activity: 'takePage' },
      });
      const row = async () =>
        (await system.database.query<{ enabled: boolean; phase: string }>('select enabled, phase from captures'))
          .rows[0];
      await until(async () => (await row())?.enabled === false, 'stopped by the host');
      assert.equal((await row())?.phase, 'stopped');
      const run = temporal.client.workflow.getHandle(capture.workflowId);
      await until(async () => (await run.describe()).status.name === 'COMPLETED', 'completed');
    });
    const nsus = system.simulator.companies.truth({ taxId, limit: 1000 }).map(({ nsu }) => nsu as string);
    const first = nsus.filter((nsu) => nsu <= '000000000000200');
    const again = nsus.filter((nsu) => nsu > '000000000000100');
    assert.deepEqual(handed, [...first, ...again], 'each once, then from the older cursor on');
    const asked = system.simulator.journal.list().map((entry) => entry.asked);
    assert.equal(new Set(asked).size, asked.length, 'going back cost no government query');
    assert.deepEqual(system.simulator.journal.violations(), []);
  });
});
