import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { type WorkflowHandle, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { parseNsu } from '../../src/model/nsu.js';
import type { PointAnswer } from '../../src/model/point-query.js';
import type { CaptureStateAnswer } from '../../src/workflows/messages.js';
import { until } from '../support/until.js';
import { FakeCapture } from './fake-capture.js';
import { skippingServer, startCapture, withWorkers } from './harness.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const fresh = () => new FakeCapture({ companyId: randomUUID(), documentType: 'nfe', environment: 'homologation' });
const ask = (handle: WorkflowHandle, nsu: number) =>
  handle.executeUpdate<PointAnswer, [{ nsu: string }]>('queryByNsu', { args: [{ nsu: String(nsu) }] });

/** The type of the failure that an update was refused with. */
async function refusalOf(update: Promise<unknown>): Promise<string | null | undefined> {
  try {
    await update;
    return 'not refused';
  } catch (error) {
    assert.ok(error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure, String(error));
    return error.cause.type;
  }
}

async function stop(handle: WorkflowHandle): Promise<void> {
  await handle.signal('stop');
  await handle.result();
}

/** Lets what is in the air land when it is opened. */
function gate(): { pass: () => Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { pass: () => opened, open: () => open() };
}

describe('questions for single documents', () => {
  let env: TestWorkflowEnvironment;
  before(async () => {
    env = await skippingServer();
  });

  test('are answered during the wait, by NSU and by key; the wait goes on as it was', async () => {
    const fake = fresh();
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await until(() => fake.calls.length === 1, 'first call');
      const answer = await ask(handle, 7);
      assert.deepEqual([answer.kind, 'snapshot' in answer], ['asked', false]);
      const key = '35261112ABC34501DE35550010000012341000012348';
      await handle.executeUpdate('queryByKey', { args: [{ key }] });
      assert.deepEqual(
        fake.points.map(({ asked }) => asked),
        ['nsu 7', `key ${key}`],
      );
      await env.sleep('70 minutes');
      const wait = (fake.calls[1]?.at ?? 0) - (fake.calls[0]?.at ?? 0);
      assert.ok(wait >= 62 * MINUTE && wait <= 66 * MINUTE, `${wait / MINUTE} minutes`);
      await stop(handle);
    });
  });

  test('one call in the air, theirs or the sequence’s', async () => {
    const fake = fresh();
    const { pass, open } = gate();
    fake.meanwhile = pass;
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      const answers = [1, 2, 3, 4].map((nsu) => ask(handle, nsu));
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.deepEqual([fake.calls.length, fake.points.length], [0, 0]);
      open();
      await Promise.all(answers);
      assert.deepEqual([fake.calls.length, fake.points.length], [1, 4]);
      await stop(handle);
    });
  });

  test('at most ten wait; a malformed one is not taken', async () => {
    const fake = fresh();
    const { pass, open } = gate();
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await until(() => fake.calls.length === 1, 'first call');
      fake.meanwhile = pass;
      const updates = await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          handle.startUpdate<PointAnswer, [{ nsu: string }]>('queryByNsu', {
            args: [{ nsu: String(i + 1) }],
            waitForStage: 'ACCEPTED',
          }),
        ),
      );
      assert.equal(await refusalOf(ask(handle, 11)), 'busy');
      open();
      await Promise.all(updates.map((update) => update.result()));
      for (const [name, argument] of [
        ['queryByNsu', { nsu: '12a' }],
        ['queryByNsu', {}],
        ['queryByNsu', null],
        ['queryByKey', { key: '35' }],
      ] as const) {
        assert.equal(await refusalOf(handle.executeUpdate(name, { args: [argument] })), 'malformed_question');
      }
      assert.equal(fake.points.length, 10);
      assert.equal((await ask(handle, 12)).kind, 'asked', 'and then there is room again');
      await stop(handle);
    });
  });

  test('a 656 moves the next page', async () => {
    const fake = fresh();
    fake.pointScript.push('block');
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await until(() => fake.calls.length === 1, 'first call');
      await env.sleep('50 minutes');
      await ask(handle, 1);
      const at = fake.points[0]?.at ?? 0;
      await until(async () => {
        const { snapshot, wakesAt } = await handle.query<CaptureStateAnswer>('state');
        return snapshot?.state.phase === 'blocked' && (wakesAt ?? 0) >= at + 61 * MINUTE;
      }, 'planned anew');
      await env.sleep('70 minutes');
      const next = fake.calls[1]?.at ?? 0;
      assert.ok(next >= at + 61 * MINUTE, `${(next - at) / MINUTE} minutes after it`);
      await stop(handle);
    });
  });

  test('a stop answers what was asked, and completes', async () => {
    const fake = fresh();
    const { pass, open } = gate();
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await until(() => fake.calls.length === 1, 'first call');
      fake.meanwhile = pass;
      const updates = await Promise.all(
        [1, 2].map((nsu) =>
          handle.startUpdate<PointAnswer, [{ nsu: string }]>('queryByNsu', {
            args: [{ nsu: String(nsu) }],
            waitForStage: 'ACCEPTED',
          }),
        ),
      );
      await handle.signal('stop');
      // Not the row: it is closed a moment before the run is told so, and until then the run takes questions.
      await until(async () => (await handle.query<CaptureStateAnswer>('state')).snapshot?.enabled === false, 'closed');
      assert.equal(await refusalOf(ask(handle, 3)), 'busy');
      open();
      for (const update of updates) assert.equal((await update.result()).kind, 'asked');
      await handle.result();
    });
  });

  test('no question gets lost where a run goes on in a new one', async () => {
    const fake = fresh();
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake, { historyLimit: 60 });
      const run = (await handle.describe()).runId;
      const current = env.client.workflow.getHandle(handle.workflowId);
      let refusals = 0;
      const insist = async (nsu: number): Promise<PointAnswer> => {
        for (;;) {
          try {
            return await ask(current, nsu);
          } catch (error) {
            // The test server has a moment between two runs in which there is none.
            if (!(error instanceof WorkflowNotFoundError)) {
              assert.equal(await refusalOf(Promise.reject(error)), 'busy');
            }
            refusals += 1;
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        }
      };
      await Promise.all(Array.from({ length: 60 }, (_, i) => insist(i + 1)));
      assert.equal(new Set(fake.points.map(({ asked }) => asked)).size, 60);
      assert.equal(fake.points.length, 60, `none twice (${refusals} refused on the way)`);
      assert.notEqual((await current.describe()).runId, run, 'more than one run');
      await current.signal('stop');
      await handle.result();
    });
  });
});

describe('recovery', () => {
  let env: TestWorkflowEnvironment;
  before(async () => {
    env = await skippingServer();
  });
  const recoveries = (fake: FakeCapture) => fake.points.filter(({ asked }) => asked === 'recovery');
  const missing = (fake: FakeCapture, due: number) => {
    fake.due = due;
    fake.change({ recovery: { nextAt: 0 } });
  };

  test('works off what is due one after the other, then rests', async () => {
    const fake = fresh();
    missing(fake, 4);
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await until(() => fake.due === 0, 'all recovered');
      const at = recoveries(fake).map((point) => point.at);
      assert.ok((at[3] ?? 0) - (at[0] ?? 0) < MINUTE, 'without a pause');
      await env.sleep('3 hours');
      assert.equal(recoveries(fake).length, 4);
      await stop(handle);
    });
  });

  test('new gaps of a page are asked for within five minutes, not at once', async () => {
    const fake = fresh();
    fake.script.push(() => {
      missing(fake, 1);
      return { kind: 'documents', statusCode: '138', ultNsu: parseNsu(50), maxNsu: parseNsu(50), items: 49 };
    });
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await until(() => fake.calls.length === 1, 'page');
      await env.sleep('4 minutes');
      assert.equal(recoveries(fake).length, 0);
      await env.sleep('2 minutes');
      assert.equal(recoveries(fake).length, 1);
      await stop(handle);
    });
  });

  test('without a slot: the next one and up to half an hour more; nothing is tried in between', async () => {
    const fake = fresh();
    missing(fake, 3);
    let slot = 0;
    await withWorkers(env, fake.activities, async () => {
      const now = await env.currentTimeMs();
      slot = now + 40 * MINUTE;
      fake.pointScript.push({}, { refuse: { reason: 'quota', until: slot } });
      const handle = await startCapture(env, fake);
      await env.sleep('39 minutes');
      assert.equal(recoveries(fake).length, 1);
      await env.sleep('35 minutes');
      assert.equal(recoveries(fake).length, 3);
      const again = recoveries(fake)[1]?.at ?? 0;
      assert.ok(again >= slot && again <= slot + 31 * MINUTE, `${(again - slot) / MINUTE} minutes after the slot`);
      assert.equal(fake.log.filter((line) => line.startsWith('refused')).length, 1);
      await stop(handle);
    });
  });

  test('pages and recovery take turns', async () => {
    const fake = fresh();
    missing(fake, 3);
    for (const ult of [50, 100, 150, 200]) {
      fake.script.push({
        kind: 'documents',
        statusCode: '138',
        ultNsu: parseNsu(ult),
        maxNsu: parseNsu(200),
        items: 50,
      });
    }
    const order: string[] = [];
    fake.meanwhile = () => {
      order.push(`${fake.calls.length} pages, ${recoveries(fake).length} recovered`);
    };
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await until(() => fake.calls.length === 4 && fake.due === 0, 'all');
      assert.deepEqual(order, [
        '0 pages, 0 recovered',
        '0 pages, 1 recovered',
        '1 pages, 1 recovered',
        '1 pages, 2 recovered',
        '2 pages, 2 recovered',
        '2 pages, 3 recovered',
        '3 pages, 3 recovered',
      ]);
      await stop(handle);
    });
  });

  test('not while a person holds the capture; at once after the hold', async () => {
    const fake = fresh();
    await withWorkers(env, fake.activities, async () => {
      fake.change({ heldUntil: 'indefinitely' });
      missing(fake, 1);
      const handle = await startCapture(env, fake);
      await env.sleep('2 hours');
      assert.equal(recoveries(fake).length, 0);
      await handle.signal('resume');
      await until(() => recoveries(fake).length === 1, 'recovered');
      await stop(handle);
    });
  });

  test('goes on in the next run where it stood', async () => {
    const fake = fresh();
    missing(fake, 1);
    fake.pointScript.push({ refuse: { reason: 'suspended', until: 0 } });
    await withWorkers(env, fake.activities, async () => {
      const now = await env.currentTimeMs();
      fake.pointScript[0] = { refuse: { reason: 'suspended', until: now + 20 * HOUR } };
      const handle = await startCapture(env, fake, { historyLimit: 40 });
      await env.sleep('19 hours');
      assert.deepEqual([recoveries(fake).length, fake.log.filter((line) => line.includes('suspended')).length], [0, 1]);
      await env.sleep('2 hours');
      assert.equal(recoveries(fake).length, 1);
      await env.client.workflow.getHandle(handle.workflowId).signal('stop');
      await handle.result();
    });
  });
});

describe('a database that came back older', () => {
  test('does not make the run forget: it goes on asking with what it knows, obeys a stop, and adopts the repaired row', async () => {
    const env = await skippingServer();
    const fake = fresh();
    fake.change({});
    fake.change({});
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await until(() => fake.calls.length === 1, 'first call');
      const known = fake.row.revision;
      fake.row = { ...fake.row, revision: 1 };
      await handle.signal('wake');
      await until(() => fake.log.length === 2, 'read again');
      await env.sleep('70 minutes');
      assert.equal(fake.calls[1]?.revision, known, 'the guard gets to hear what the run knows');
      fake.row = { ...fake.row, revision: 1_000_010 };
      await handle.signal('wake');
      await until(async () => {
        const { snapshot } = await handle.query<CaptureStateAnswer>('state');
        return snapshot?.revision === 1_000_010;
      }, 'adopted');
      fake.row = { ...fake.row, revision: 1, enabled: false };
      await handle.signal('wake');
      await handle.result();
    });
  });
});
