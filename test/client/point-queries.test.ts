import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type CaptureHandle,
  CaptureNotFound,
  MalformedQuestion,
  MaloteClient,
  PointQueryFailed,
  PointQueryRefused,
  QuotaExhausted,
} from '../../src/client/index.js';
import { addNsu, ZERO_NSU } from '../../src/model/nsu.js';
import { getCapture } from '../../src/storage/captures.js';
import { System } from '../e2e/system.js';
import { devServer } from '../support/temporal.js';
import { until } from '../support/until.js';

const TIME_SCALE = 60;

describe('questions of the client SDK', () => {
  let system: System;
  let capture: CaptureHandle;
  const taxId = '11222333000181';
  const nsu = (n: number) => addNsu(ZERO_NSU, n);
  before(async () => {
    const temporal = await devServer();
    system = await System.start({ temporal, timeScale: TIME_SCALE });
    // Numbers that no page brings.
    system.simulator.companies.add({
      taxId,
      backlog: 100,
      gaps: { nsus: Array.from({ length: 30 }, (_, i) => nsu(i + 11)) },
    });
    const companyId = await system.addCompany(taxId);
    await system.startWorkers();
    const malote = new MaloteClient({ connection: temporal.connection, namespace: temporal.namespace });
    capture = await malote.startCapture({ companyId, documentType: 'nfe', environment: 'homologation' });
    await until(async () => (await getCapture(system.database, capture.capture))?.phase === 'waiting', 'drained');
  });
  after(() => system?.stop());

  test('by NSU: here, at the government, or nowhere', async () => {
    const here = await capture.queryByNsu('5');
    assert.deepEqual([here.local, here.documentIds.length, here.statusCode], [true, 1, null]);
    const there = await capture.queryByNsu(nsu(11));
    assert.deepEqual([there.local, there.documentIds.length, there.statusCode], [false, 1, '138']);
    const nowhere = await capture.queryByNsu('900');
    assert.deepEqual([nowhere.documentIds, nowhere.statusCode], [[], '589']);
    assert.match(nowhere.explanation ?? '', /above the highest/);
  });

  test('by key: one that is not known there', async () => {
    const answer = await capture
      .queryByKey('35261112345678000195550010000012341000012340')
      .catch((error: unknown) => error);
    assert.ok(!(answer instanceof Error), String(answer));
    assert.match((answer as { explanation: string }).explanation, /key/);
  });

  test('what is none is said so', async () => {
    await assert.rejects(capture.queryByNsu('12a'), MalformedQuestion);
    await assert.rejects(capture.queryByKey('123'), MalformedQuestion);
  });

  test('the quota: an error with the instant of the next slot', async () => {
    let refused: unknown = null;
    for (let i = 12; i <= 40 && refused === null; i++) {
      refused = await capture.queryByNsu(String(i)).then(
        () => null,
        (error: unknown) => error,
      );
    }
    assert.ok(refused instanceof QuotaExhausted, String(refused));
    const wait = refused.retryAt.getTime() - Date.now();
    assert.ok(wait > 0 && wait <= 3_600_000 / TIME_SCALE, `${wait} ms`);
    assert.deepEqual(system.simulator.journal.violations(), []);
  });

  test('the government fails; a hold; a capture that is stopped', async () => {
    await until(
      async () => (await getCapture(system.database, capture.capture))?.recoveryAt === null,
      'all recovered',
      180_000,
    );
    system.simulator.script({ type: 'html', httpStatus: 502 }, { taxId, kind: 'consNSU' });
    await assert.rejects(
      withSlot(() => capture.queryByNsu('901')),
      PointQueryFailed,
    );
    await capture.pause();
    await until(async () => (await getCapture(system.database, capture.capture))?.heldUntil !== null, 'held');
    await assert.rejects(capture.queryByNsu('902'), (error: unknown) => {
      assert.ok(error instanceof PointQueryRefused);
      assert.deepEqual([error.reason, error.retryAt], ['held', null]);
      return true;
    });
    await capture.stop();
    await until(
      () =>
        capture.queryByNsu('903').then(
          () => false,
          (error: unknown) => error instanceof CaptureNotFound,
        ),
      'the run ends',
      60_000,
    );
  });

  /** Asks again at the instant that a refusal names. */
  async function withSlot<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof QuotaExhausted)) throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.max(error.retryAt.getTime() - Date.now(), 0) + 50));
      }
    }
  }
});
