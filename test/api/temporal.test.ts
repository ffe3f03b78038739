import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { Connection } from '@temporalio/client';
import { temporalGateway } from '../../src/api/temporal-client-gateway.js';
import { System } from '../e2e/system.js';
import { devServer } from '../support/temporal.js';
import { until } from '../support/until.js';
import { testApi } from './support.js';

const temporal = await devServer();
const system = await System.start({ temporal, timeScale: 60 });
await system.startWorkers();
after(() => system.stop());
const api = await testApi({
  database: system.database,
  objectStore: system.objectStore,
  keyring: system.keyring,
  temporal: temporalGateway(temporal.connection, temporal.namespace),
  timeScale: 60,
});

describe('the API with a real Temporal, workers and government', () => {
  test('a company is captured from the first request to the last document', async () => {
    const taxId = '11222333000181';
    system.simulator.companies.add({ taxId, backlog: 55 });
    const { json: company } = await api.ask('POST', '/v1/companies', { body: { taxId, name: 'Padaria', uf: 'SP' } });
    const { pfx } = system.simulator.issueA1({ taxId, name: 'PADARIA', password: 'segredo' });
    const certificate = { pfx: Buffer.from(pfx).toString('base64'), password: 'segredo' };
    assert.equal((await api.ask('PUT', `/v1/companies/${company.id}/certificate`, { body: certificate })).status, 200);

    const path = `/v1/companies/${company.id}/captures/nfe`;
    const started = await api.ask('PUT', path, { body: {} });
    assert.deepEqual([started.status, started.json.warnings], [200, []]);
    const state = await until(async () => {
      const { json } = await api.ask('GET', path);
      return json.phase === 'waiting' && json;
    }, 'drained');
    assert.deepEqual([state.documents, state.lag, state.lastStatusCode], [55, 0, '138']);

    const documents = (await api.ask('GET', `/v1/documents?companyId=${company.id}&limit=200`)).json.data;
    assert.equal(documents.length, 55);
    const queries = (await api.ask('GET', `${path}/queries`)).json.data;
    assert.deepEqual(
      queries.map((one: { fromNsu: string }) => Number(one.fromNsu)),
      [50, 0],
    );
    const archive = await api.ask('GET', `/v1/archives/${queries[0].archiveId}`);
    assert.match(archive.text, /retDistDFeInt/);
    const feed = (await api.ask('GET', `/v1/companies/${company.id}/events?limit=200`)).json.data;
    assert.ok(feed.length > 0 && feed.length <= 55);

    const { typedSearchAttributes } = await system.client.workflow.getHandle(state.workflowId).describe();
    const attributes = Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
    assert.deepEqual([attributes.TaxIdEnding, attributes.Uf], ['0181', 'SP']);
    assert.deepEqual(system.simulator.journal.violations(), []);

    const paused = await api.ask('POST', `${path}/pause`);
    assert.deepEqual(paused.json.warnings, []);
    assert.equal((await api.ask('POST', `${path}/resume`)).status, 202);
    const stopped = await api.ask('DELETE', path);
    assert.deepEqual([stopped.json.phase, stopped.json.warnings], ['stopped', []]);
    await until(async () => {
      const { status } = await system.client.workflow.getHandle(state.workflowId).describe();
      return status.name === 'COMPLETED';
    }, 'the run completes');
    // Nobody runs any more, and stopping again is no fault.
    assert.equal((await api.ask('DELETE', path)).status, 202);
  });

  test('/readyz asks Temporal', async () => {
    assert.equal((await api.ask('GET', '/readyz', { key: null })).json.checks.temporal, true);
    const other = temporalGateway(temporal.connection, `no-such-namespace-${randomUUID()}`);
    await assert.rejects(other.check());
  });

  test('a Temporal that is not there costs a few seconds, never more', async () => {
    const connection = Connection.lazy({ address: '127.0.0.1:9' });
    const gateway = temporalGateway(connection, 'default');
    const started = performance.now();
    await assert.rejects(gateway.wakeDelivery(randomUUID()));
    await assert.rejects(
      gateway.stopCapture({ companyId: randomUUID(), documentType: 'nfe', environment: 'production' }),
    );
    assert.ok(performance.now() - started < 60_000);
    await connection.close();
  });
});
