import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, test } from 'node:test';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { parseNsu } from '../../src/model/nsu.js';
import type { Outcome } from '../../src/model/outcome.js';
import type { CaptureStateAnswer } from '../../src/workflows/messages.js';
import { until } from '../support/until.js';
import { FakeCapture } from './fake-capture.js';
import { skippingServer, startCapture, withWorkers } from './harness.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const nsu = (n: number) => parseNsu(n);
const fresh = () => new FakeCapture({ companyId: randomUUID(), documentType: 'nfe', environment: 'homologation' });
const page = (ult: number, max: number): Outcome => ({
  kind: 'documents',
  statusCode: '138',
  ultNsu: nsu(ult),
  maxNsu: nsu(max),
  items: 50,
});
const gaps = (fake: FakeCapture) => fake.calls.slice(1).map((call, i) => call.at - (fake.calls[i]?.at ?? 0));

/** Not terminate: an activity in flight would hold the test server's clock. */
async function stop(handle: WorkflowHandle): Promise<void> {
  await handle.signal('stop');
  await handle.result();
}

describe('capture workflow', () => {
  let env: TestWorkflowEnvironment;
  before(async () => {
    env = await skippingServer();
  });

  test('drains page after page without a pause, then asks once an hour, each wait a little different', async () => {
    const fake = fresh();
    fake.script.push(page(50, 150), page(100, 150), page(150, 150));
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await env.sleep('8 hours');
      const waits = gaps(fake);
      assert.deepEqual(
        fake.calls.slice(0, 4).map((c) => Number(c.ultNsu)),
        [0, 50, 100, 150],
      );
      assert.ok(
        waits.slice(0, 2).every((w) => w < MINUTE),
        'pages follow at once',
      );
      assert.ok(
        waits.slice(2).every((w) => w >= 62 * MINUTE && w <= 65.2 * MINUTE),
        `late, never early: ${waits}`,
      );
      assert.ok(new Set(waits.slice(2)).size > 1, 'jitter differs');
      await handle.signal('stop');
      await handle.result();
      assert.equal(fake.row.enabled, false);
    });
  });

  test('an idle hour costs one timer and one activity: 11 events', async () => {
    const fake = fresh();
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await env.sleep('90 minutes');
      const before = (await handle.fetchHistory()).events?.length ?? 0;
      const calls = fake.calls.length;
      // Neither end is near a call: the fifth is made by minute 326, the sixth not before minute 372.
      await env.sleep('260 minutes');
      const events = ((await handle.fetchHistory()).events?.length ?? 0) - before;
      assert.equal(events / (fake.calls.length - calls), 11);
      await stop(handle);
    });
  });

  test('continue-as-new carries the state, and no hour is lost or shortened by it', async () => {
    const fake = fresh();
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake, { historyLimit: 40 });
      const { runId: firstRunId } = await handle.describe();
      await env.sleep('30 hours');
      const waits = gaps(fake);
      assert.ok(
        waits.every((w) => w >= 62 * MINUTE && w <= 66 * MINUTE),
        `${waits}`,
      );
      assert.deepEqual(fake.log, ['open'], 'the row is read once, not at every run');
      const { runId } = await env.client.workflow.getHandle(handle.workflowId).describe();
      assert.notEqual(runId, firstRunId, 'more than one run');
      await env.client.workflow.getHandle(handle.workflowId).signal('stop');
      await handle.result();
    });
  });

  test('wake looks at the row again and asks no sooner', async () => {
    const fake = fresh();
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await env.sleep('10 minutes');
      await handle.signal('wake');
      await until(() => fake.log.length === 2, 'row read again');
      await env.sleep('40 minutes');
      assert.equal(fake.calls.length, 1);
      await env.sleep('30 minutes');
      assert.equal(fake.calls.length, 2);
      await stop(handle);
    });
  });

  test('started again before the run has ended, a stopped capture goes on; a stop alone completes and stays down', async () => {
    const fake = fresh();
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await until(() => fake.calls.length === 1, 'first call');
      await handle.signal('stop');
      await handle.signal('start', { enable: {} });
      await until(() => fake.log.includes('enable'), 'enabled again');
      await env.sleep('2 hours');
      assert.ok(fake.row.enabled && fake.calls.length >= 2);
      await handle.signal('stop');
      await handle.result();
      assert.deepEqual([fake.row.enabled, fake.row.state.phase], [false, 'stopped']);
    });
  });

  test('a stop that saw an older generation does not undo a newer start', async () => {
    const fake = fresh();
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await until(() => fake.calls.length === 1, 'first call');
      fake.change({ generation: 7 });
      await handle.signal('stop');
      await until(() => fake.log.includes('close'), 'close tried');
      await env.sleep('2 hours');
      assert.ok(fake.row.enabled && fake.calls.length >= 2, 'goes on');
      await stop(handle);
    });
  });

  test('cancelling from the Temporal UI is a stop: the row is written, the run completes', async () => {
    const fake = fresh();
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await until(() => fake.calls.length === 1, 'first call');
      await handle.cancel();
      await handle.result();
      assert.equal(fake.row.enabled, false);
    });
  });

  test('a row disabled by the API ends the run', async () => {
    const fake = fresh();
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await until(() => fake.calls.length === 1, 'first call');
      fake.change({ enabled: false, generation: 2 });
      await handle.signal('stop');
      await handle.result();
      assert.notEqual(fake.row.state.phase, 'stopped', 'the API wrote the row; the workflow leaves it alone');
    });
  });

  test('an unknown company fails the run with a type that a host can tell', async () => {
    const fake = fresh();
    fake.activities.openCapture = async () => {
      throw ApplicationFailure.nonRetryable('no such company', 'company_unknown');
    };
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await assert.rejects(
        handle.result(),
        (error: { cause?: { cause?: { type?: string } } }) => error.cause?.cause?.type === 'company_unknown',
      );
    });
  });

  test('refusals of the guard are waited out and cost nothing', async () => {
    const fake = fresh();
    let first = 0;
    fake.script.push(
      () => {
        first = fake.now();
        return { refuse: { reason: 'too_early', until: first + 20 * MINUTE } };
      },
      () => ({ refuse: { reason: 'paused', until: fake.now() + 5 * MINUTE, spread: 5 * MINUTE } }),
      page(10, 10),
    );
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await env.sleep('45 minutes');
      assert.deepEqual(fake.log, ['open', 'refused too_early', 'refused paused']);
      const waited = (fake.calls[0]?.at ?? 0) - first;
      assert.ok(waited >= 25 * MINUTE && waited <= 31 * MINUTE, `${waited}`);
      await stop(handle);
    });
  });

  test('stale: the committed state is adopted and asked from', async () => {
    const fake = fresh();
    fake.script.push(() => {
      fake.change({ state: { ...fake.row.state, ultNsu: nsu(400), maxNsu: nsu(500) } });
      return { refuse: { reason: 'stale' } };
    });
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await until(() => fake.calls.length === 1, 'call');
      assert.deepEqual([fake.calls[0]?.ultNsu, fake.calls[0]?.revision], [nsu(400), 2]);
      await stop(handle);
    });
  });

  test('no certificate: waits for one, and a wake ends the wait', async () => {
    const fake = fresh();
    fake.script.push({ refuse: { reason: 'certificate', problem: 'expired', until: null } });
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await until(() => fake.log.includes('refused certificate'), 'refused');
      await env.sleep('3 hours');
      assert.equal(fake.calls.length, 0);
      await handle.signal('wake');
      await until(() => fake.calls.length === 1, 'asked');
      await stop(handle);
    });
  });

  test('attention: tries every six hours by itself, at once when an operator resumes it', async () => {
    const fake = fresh();
    for (let i = 0; i < 12; i++) fake.script.push({ kind: 'not_sent', reason: 'connect ECONNREFUSED' });
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await env.sleep('10 hours');
      assert.equal(fake.row.state.phase, 'attention');
      const waits = gaps(fake);
      assert.ok((waits[9] ?? 0) >= 6 * HOUR, `${waits.map((w) => w / MINUTE)}`);
      const calls = fake.calls.length;
      await handle.signal('resume');
      await until(() => fake.calls.length === calls + 1, 'resumed');
      await stop(handle);
    });
  });

  test('pause holds until its time; a malformed argument is ignored', async () => {
    const fake = fresh();
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await until(() => fake.calls.length === 1, 'first call');
      const until5h = (fake.calls[0]?.at ?? 0) + 5 * HOUR;
      await handle.signal('pause', { until: 'tomorrow-ish' });
      await handle.signal('start', { enable: { handler: 'nonsense' } });
      await handle.signal('surprise', 1);
      await handle.signal('pause', { until: new Date(until5h).toISOString() });
      await until(() => fake.log.some((line) => line.startsWith('hold')), 'held');
      await env.sleep('7 hours');
      assert.ok((fake.calls[1]?.at ?? 0) >= until5h, 'held that long');
      assert.ok(!fake.log.includes('enable'));
      await stop(handle);
    });
  });

  test('the state query and the details line answer without another tool', async () => {
    const fake = fresh();
    await withWorkers(env, fake.activities, async () => {
      const handle = await startCapture(env, fake);
      await until(() => fake.calls.length === 1, 'first call');
      await until(
        async () => (await handle.query<CaptureStateAnswer>('state')).snapshot?.state.phase === 'waiting',
        'waiting',
      );
      const answer = await handle.query<CaptureStateAnswer>('state');
      assert.ok((answer.wakesAt ?? 0) > (answer.snapshot?.state.nextQueryAt ?? 0) - 1);
      const metadata = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
      assert.match(
        metadata.currentDetails ?? '',
        /\*\*waiting\*\*: queue empty\. Next look: .*Cursor 000000000000000 .*ending 0181, SP/,
      );
      await stop(handle);
    });
  });
});

describe('handing pages to a host', () => {
  let env: TestWorkflowEnvironment;
  before(async () => {
    env = await skippingServer();
  });
  const withHandler = (fake: FakeCapture) => fake.change({ handler: { taskQueue: 'host', activity: 'takePage' } });
  const handed = (fake: FakeCapture, ult: number) =>
    fake.pages.push({
      capture: fake.key,
      ultNsu: nsu(ult),
      maxNsu: nsu(150),
      documents: [{ id: 'd', nsu: nsu(ult), kind: 'resNFe' }],
    });

  test('in order, before any further query; stop from the host completes and stays down', async () => {
    const fake = fresh();
    withHandler(fake);
    fake.script.push(page(50, 150), page(100, 150), page(150, 150));
    for (const ult of [50, 100, 150]) handed(fake, ult);
    const order: string[] = [];
    const takePage = async (got: { ultNsu: string }) => {
      order.push(`page ${Number(got.ultNsu)} after ${fake.calls.length} calls`);
      return Number(got.ultNsu) === 100 ? { stop: true } : undefined;
    };
    await withWorkers(env, { ...fake.activities, takePage }, async () => {
      const handle = await startCapture(env, fake);
      await handle.result();
      assert.deepEqual(order, ['page 50 after 1 calls', 'page 100 after 2 calls']);
      assert.equal(fake.row.enabled, false);
    });
  });

  test('late documents are handed before any further query, without a signal', async () => {
    const fake = fresh();
    withHandler(fake);
    fake.script.push(page(50, 150), () => {
      fake.change({ late: true });
      return { kind: 'documents', statusCode: '138', ultNsu: nsu(100), maxNsu: nsu(150), items: 50 };
    });
    for (const ult of [50, 100, 150]) handed(fake, ult);
    const order: string[] = [];
    const takePage = async (got: { ultNsu: string; late?: boolean }) => {
      order.push(`${got.late ? 'late ' : ''}page ${Number(got.ultNsu)} after ${fake.calls.length} calls`);
      return Number(got.ultNsu) === 100 ? { stop: true } : undefined;
    };
    await withWorkers(env, { ...fake.activities, takePage }, async () => {
      await (await startCapture(env, fake)).result();
      assert.deepEqual(order, ['page 50 after 1 calls', 'late page 50 after 2 calls', 'page 100 after 2 calls']);
    });
  });

  test('a host whose cursor never moves on is not asked in a circle', async () => {
    const fake = fresh();
    withHandler(fake);
    fake.script.push(page(50, 50));
    handed(fake, 50);
    let asked = 0;
    const takePage = async () => {
      asked += 1;
      return { ultNsu: '0' };
    };
    await withWorkers(env, { ...fake.activities, takePage }, async () => {
      const handle = await startCapture(env, fake);
      await env.sleep('10 minutes');
      assert.ok(asked <= 5, `${asked} times in 10 minutes`);
      assert.ok(fake.log.includes('mark handing-over handler_unavailable open'));
      await stop(handle);
    });
  });

  test('a host that fails: handing-over after 15 minutes, no query meanwhile, attention at the tenth, then healed', async () => {
    const fake = fresh();
    withHandler(fake);
    fake.script.push(page(50, 50));
    handed(fake, 50);
    let broken = true;
    const takePage = async () => {
      if (broken) throw new Error('host database is down');
      return null;
    };
    await withWorkers(env, { ...fake.activities, takePage }, async () => {
      const handle = await startCapture(env, fake);
      await env.sleep('17 minutes');
      assert.equal(fake.log.filter((line) => line === 'mark handing-over handler_unavailable open').length, 1);
      await env.sleep('10 hours');
      assert.equal(fake.calls.length, 1, 'no government query while the host is behind');
      assert.ok(fake.log.includes('mark attention handler_unavailable open'));
      broken = false;
      await handle.signal('resume');
      await until(() => fake.log.includes('handed 50'), 'healed');
      await env.sleep('5 minutes');
      assert.ok(fake.calls.length >= 2, 'asks again');
      await stop(handle);
    });
  });
});
