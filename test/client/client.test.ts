import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Connection, ServiceError } from '@temporalio/client';
import {
  CaptureNotFound,
  CompanyUnknown,
  EnvironmentInUse,
  EnvironmentUnknown,
  MaloteClient,
  ManifestationNotPossible,
  NoWorkerAnswered,
} from '../../src/client/index.js';
import { getCapture } from '../../src/storage/captures.js';
import { listManifestations } from '../../src/storage/manifestations.js';
import { System } from '../e2e/system.js';
import { devServer, type TestTemporal } from '../support/temporal.js';
import { until } from '../support/until.js';

describe('the client SDK, over Temporal alone', () => {
  let temporal: TestTemporal;
  let system: System;
  let malote: MaloteClient;
  before(async () => {
    temporal = await devServer();
    system = await System.start({ temporal, timeScale: 60 });
    await system.startWorkers();
    malote = new MaloteClient({ connection: temporal.connection, namespace: temporal.namespace });
  });
  after(() => system?.stop());

  const nfe = (companyId: string) => ({ companyId, documentType: 'nfe', environment: 'homologation' }) as const;
  const row = (companyId: string) => getCapture(system.database, nfe(companyId));

  test('starts a capture, tells where it stands, and stops it', async () => {
    const taxId = '11222333000181';
    system.simulator.companies.add({ taxId, backlog: 60 });
    const companyId = await system.addCompany(taxId);

    const capture = await malote.startCapture(nfe(companyId));
    assert.equal(capture.workflowId, `capture/nfe/homologation/${companyId}`);
    const drained = await until(async () => {
      const state = await capture.state();
      return state.snapshot?.state.phase === 'waiting' && state;
    }, 'the queue is drained');
    assert.equal(drained.snapshot?.state.ultNsu, '000000000000060');
    assert.deepEqual(drained.capture, nfe(companyId));
    assert.ok(drained.wakesAt !== null && drained.wakesAt > Date.now());
    assert.equal((await system.stored(companyId)).size, 60);

    await capture.stop();
    await until(async () => (await row(companyId))?.enabled === false, 'the row says stopped');
    await until(
      () =>
        capture.stop().then(
          () => false,
          (error: unknown) => error instanceof CaptureNotFound,
        ),
      'the run ends',
    );
    assert.equal((await capture.state()).snapshot?.enabled, false);
  });

  test('says when the company is captured in the other environment; the running one goes on', async () => {
    const taxId = '44555666000181';
    system.simulator.companies.add({ taxId, backlog: 1 });
    const companyId = await system.addCompany(taxId);
    const capture = await malote.startCapture(nfe(companyId));
    await assert.rejects(malote.startCapture({ ...nfe(companyId), environment: 'production' }), EnvironmentInUse);
    await until(async () => (await row(companyId))?.documents === 1, 'it goes on');
    await capture.stop();
  });

  test('a pause and a resume right after it leave no hold; the other way round they do', async () => {
    const taxId = '55666777000181';
    system.simulator.companies.add({ taxId, backlog: 1 });
    const companyId = await system.addCompany(taxId);
    const capture = await malote.startCapture(nfe(companyId));
    await until(async () => (await row(companyId))?.phase === 'waiting', 'the queue is drained');
    const held = async () => (await row(companyId))?.heldUntil ?? null;
    for (let turn = 0; turn < 5; turn += 1) {
      await capture.pause();
      await capture.resume();
    }
    // What comes after them in the same queue tells that they were worked off.
    await capture.resume();
    await capture.pause(new Date(Date.now() + 3_600_000));
    await until(async () => Number.isFinite((await held()) ?? Number.NaN), 'held by the last word, until its time');
    await capture.pause();
    await capture.resume();
    await until(async () => (await held()) === null, 'no hold is left');
    assert.equal((await capture.state()).snapshot?.heldUntil ?? null, null);
    await capture.stop();
  });

  test('takes up a running capture, and goes on with a stopped one', async () => {
    const taxId = '98765432000198';
    system.simulator.companies.add({ taxId, backlog: 3 });
    const companyId = await system.addCompany(taxId);
    await Promise.all([malote.startCapture(nfe(companyId)), malote.startCapture(nfe(companyId))]);
    const capture = malote.capture(nfe(companyId));
    await until(async () => (await row(companyId))?.documents === 3, 'three documents');
    await capture.stop();
    await until(async () => (await row(companyId))?.enabled === false, 'stopped');
    await until(async () => {
      await malote.startCapture(nfe(companyId));
      return (await row(companyId))?.enabled;
    }, 'started again');
    assert.equal((await row(companyId))?.ultNsu, '000000000000003');
  });

  test('keeps, changes and takes away the handler', async () => {
    const companyId = await system.addCompany('45678912000155');
    const handler = { taskQueue: 'erp', activity: 'takePage' };
    await malote.startCapture({ ...nfe(companyId), handler });
    const handlerOf = async () => (await row(companyId))?.options.handler ?? null;
    await until(async () => (await handlerOf())?.taskQueue === 'erp', 'the handler is kept');
    await malote.startCapture(nfe(companyId));
    assert.deepEqual(await handlerOf(), handler);
    await malote.startCapture({ ...nfe(companyId), handler: null });
    await until(async () => (await handlerOf()) === null, 'the handler is gone');
  });

  test('pauses and resumes', async () => {
    const companyId = await system.addCompany('12ABC34501DE35');
    const capture = await malote.startCapture(nfe(companyId));
    const until_ = new Date(Date.now() + 3_600_000);
    await capture.pause(until_);
    await until(async () => (await row(companyId))?.heldUntil === until_.getTime(), 'held');
    await capture.pause();
    await until(async () => (await row(companyId))?.heldUntil === Number.POSITIVE_INFINITY, 'held without an end');
    await capture.resume();
    await until(async () => (await row(companyId))?.heldUntil === null, 'resumed');
  });

  test('requests a manifestation in the environment of the running capture, once however often', async () => {
    const taxId = '33444555000181';
    system.simulator.companies.add({ taxId, backlog: 5, kinds: { resNFe: 1 }, spreadDays: 1 });
    const companyId = await system.addCompany(taxId);
    const key = /<chNFe>(\w{44})/.exec(system.simulator.companies.document({ taxId, nsu: '1' }).xml)?.[1] ?? '';
    const request = { companyId, key, type: '210200' };
    await assert.rejects(malote.requestManifestation(request), EnvironmentUnknown);
    await malote.startCapture(nfe(companyId));
    await Promise.all([malote.requestManifestation(request), malote.requestManifestation(request)]);
    const rows = async () => (await listManifestations(system.database, { companyId }, { limit: 10 })).rows;
    await until(async () => (await rows())[0]?.status === 'registered', 'registered');
    assert.deepEqual(
      (await rows()).map((row) => [row.key, row.type, row.environment]),
      [[key, '210200', 'homologation']],
    );
    assert.deepEqual(system.simulator.journal.violations({ taxId }), []);

    for (const [wrong, reason] of [
      [{ ...request, type: '210240' }, /justification or fields: request it by the HTTP API/],
      [{ ...request, type: '211128' }, /HTTP API/],
      [{ ...request, type: '110111' }, /expected 210200/],
      [{ ...request, key: '35' }, /44 characters/],
    ] as const) {
      await assert.rejects(malote.requestManifestation(wrong), (error) => {
        assert.ok(error instanceof ManifestationNotPossible);
        assert.match(error.message, reason);
        return true;
      });
    }
    await malote.requestManifestation({
      ...request,
      key: key.replace(/.$/, (digit) => String((Number(digit) + 1) % 10)),
    });
    await malote.requestManifestation({ ...request, type: '210210', environment: 'homologation' });
    // Signals keep their order: once the last one is registered, the others were looked at.
    const next = /<chNFe>(\w{44})/.exec(system.simulator.companies.document({ taxId, nsu: '2' }).xml)?.[1] ?? '';
    await malote.requestManifestation({ ...request, key: next });
    await until(async () => (await rows())[0]?.key === next, 'the last one');
    assert.equal((await rows()).length, 2, 'neither of the two before was taken');
  });

  test('refuses an unknown company at once, and leaves nothing running', async () => {
    const companyId = randomUUID();
    await assert.rejects(malote.startCapture(nfe(companyId)), (error) => {
      assert.ok(error instanceof CompanyUnknown);
      assert.equal(error.companyId, companyId);
      return true;
    });
    await assert.rejects(malote.capture(nfe(companyId)).stop(), CaptureNotFound);
  });

  test('knows no capture that was never started', async () => {
    const capture = malote.capture(nfe(randomUUID()));
    for (const ask of [() => capture.state(), () => capture.stop(), () => capture.resume(), () => capture.pause()]) {
      await assert.rejects(ask(), CaptureNotFound);
    }
  });

  test('says when no worker answers; the start is kept', async () => {
    const companyId = await system.addCompany('A1B2C3D4000193');
    await system.stopWorkers();
    const impatient = new MaloteClient({
      connection: temporal.connection,
      namespace: temporal.namespace,
      patienceMs: 5_000,
    });
    await assert.rejects(impatient.startCapture(nfe(companyId)), NoWorkerAnswered);
    await assert.rejects(impatient.capture(nfe(companyId)).state(), NoWorkerAnswered);
    await system.startWorkers();
    await until(async () => (await row(companyId))?.enabled, 'the start was kept');
  });

  test('passes on that Temporal does not answer', async () => {
    const connection = Connection.lazy({ address: '127.0.0.1:9', connectTimeout: '500ms' });
    const lost = new MaloteClient({ connection, namespace: 'default', patienceMs: 500 });
    await assert.rejects(lost.capture(nfe(randomUUID())).stop(), (error) => {
      assert.ok(error instanceof ServiceError || error instanceof NoWorkerAnswered, String(error));
      return true;
    });
    await connection.close();
  });
});
