import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { ensureNamespace, SEARCH_ATTRIBUTES } from '../../src/runtime/temporal-namespace.js';
import { startTemporal, type TemporalServer } from '../../src/runtime/temporal-server.js';
import { scratchFolder } from '../support/scratch.js';
import { devServer } from '../support/temporal.js';
import { until } from '../support/until.js';

async function withClient<T>(server: TemporalServer, work: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: server.address });
  try {
    return await work(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

describe('embedded Temporal server', () => {
  test('keeps workflows over a restart, shows its UI, and takes other ports when its own are in use', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const taken = (blocker.address() as { port: number }).port;
    const folder = join(scratchFolder('temporal'), 'temporal');
    try {
      const first = await startTemporal({ folder, port: taken, uiPort: taken });
      assert.doesNotMatch(first.address, new RegExp(`:${taken}$`));
      const ui = await fetch(first.uiUrl ?? '');
      assert.equal(ui.status, 200);
      await assert.rejects(startTemporal({ folder }), /in use by process/);
      await withClient(first, (client) => client.workflow.start('any', { taskQueue: 'nobody', workflowId: 'kept' }));
      await first.stop();

      const second = await startTemporal({ folder, ui: false });
      assert.equal(second.uiUrl, null);
      const { status } = await withClient(second, (client) => client.workflow.getHandle('kept').describe());
      assert.equal(status.name, 'RUNNING');
      await second.stop();
    } finally {
      blocker.close();
    }
  });

  test('one whose port another server took is not taken for started because that one answers: it is tried again', async () => {
    const first = await startTemporal({ folder: scratchFolder('temporal'), ui: false, throwAway: true });
    const folder = scratchFolder('temporal');
    const starting = startTemporal({ folder, ui: false, throwAway: true, port: first.port, samePorts: true });
    let pid: number | null = null;
    void starting.then(
      (second) => (pid = second.pid),
      () => undefined,
    );
    const log = join(folder, 'server.log');
    await until(
      () => existsSync(log) && /address already in use/.test(readFileSync(log, 'utf8')),
      'its first try failed',
    );
    assert.equal(pid, null);
    await first.stop();
    const second = await starting;
    assert.equal(second.address, first.address);
    await withClient(second, (client) => client.workflow.start('any', { taskQueue: 'nobody', workflowId: 'kept' }));
    await second.stop();
  });
});

describe('preparing a namespace', () => {
  test('registers search attributes and Schedules, twice without harm; a paused one stays paused', async () => {
    const { client, connection, namespace } = await devServer();
    await ensureNamespace(client);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    for (const name of Object.keys(SEARCH_ATTRIBUTES)) assert.ok(customAttributes?.[name], name);

    const minute = client.schedule.getHandle('housekeeping-minute');
    await minute.pause('by an operator');
    await Promise.all([ensureNamespace(client), ensureNamespace(client)]);
    const { state, policies, action } = await minute.describe();
    assert.equal(state.paused, true);
    assert.equal(policies.overlap, 'SKIP');
    assert.equal(policies.catchupWindow, 12 * 3600_000);
    assert.deepEqual(action.type === 'startWorkflow' && action.args, [{ every: 'minute' }]);

    const ids = await until(async () => {
      const found: string[] = [];
      for await (const { scheduleId } of client.schedule.list()) found.push(scheduleId);
      return found.length === 4 && found.sort();
    }, 'four Schedules are listed');
    assert.deepEqual(ids, ['housekeeping-day', 'housekeeping-hour', 'housekeeping-minute', 'nightly-gaps']);

    const nightly = await client.schedule.getHandle('nightly-gaps').describe();
    const hours = nightly.info.nextActionTimes.map((at) =>
      at.toLocaleTimeString('pt-BR', { timeZone: 'America/Sao_Paulo', hour: '2-digit', minute: '2-digit' }),
    );
    assert.ok(hours.length > 0 && hours.every((hour) => hour === '23:00'), hours.join());
    assert.deepEqual([nightly.policies.overlap, nightly.policies.catchupWindow], ['SKIP', 12 * 3600_000]);
  });

  test('a namespace that does not exist is a clear fault', async () => {
    const { connection } = await devServer();
    const other = new Client({ connection, namespace: 'nowhere' });
    await assert.rejects(
      ensureNamespace(other),
      /Temporal has no namespace "nowhere": make it with "temporal operator/,
    );
  });

  test('a search attribute of another type is a clear fault', async () => {
    const { client, connection } = await devServer();
    const namespace = `other-${process.pid}`;
    const { config } = await connection.workflowService.describeNamespace({ namespace: 'default' });
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: config?.workflowExecutionRetentionTtl ?? null,
    });
    await until(
      () =>
        connection.operatorService
          .addSearchAttributes({ namespace, searchAttributes: { Lag: 2 } })
          .then(() => true)
          .catch(() => false),
      'the namespace is known',
    );
    const other = new Client({ connection: client.connection, namespace });
    await assert.rejects(ensureNamespace(other), /has a search attribute Lag of another type than Int/);
  });
});

describe('fairness', () => {
  /** Without `matching.enableFairness` the server takes fairness keys and ignores them; this is what tells. */
  test('a small company is not held up by a large one’s backlog', async () => {
    const { client, nativeConnection, namespace } = await devServer();
    const order: string[] = [];
    const worker = await Worker.create({
      connection: nativeConnection,
      namespace,
      taskQueue: 'fairness',
      // Several at once, so that all four partitions of the queue are polled and none is left for the end.
      maxConcurrentActivityTaskExecutions: 8,
      activities: {
        async work(company: string): Promise<void> {
          order.push(company);
          await delay(5);
        },
      },
    });
    const [large, small] = ['large', 'small'];
    const start = (company: string, count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          client.activity.start('work', {
            id: `${company}-${index}`,
            taskQueue: 'fairness',
            args: [company],
            startToCloseTimeout: '1 minute',
            priority: { fairnessKey: company },
          }),
        ),
      );
    await start(large, 200);
    await start(small, 4);
    const running = worker.run();
    await until(() => order.length === 204, 'all ran');
    worker.shutdown();
    await running;
    // The queue has four partitions, each fair by itself, and which one is polled is chance: so the mean of the places, not the last.
    // In the order of arrival the small company's would come at the end of each.
    const meanPlace = (company: string) => {
      const places = order.flatMap((one, place) => (one === company ? [place] : []));
      return places.reduce((sum, place) => sum + place, 0) / places.length;
    };
    assert.ok(meanPlace(small) < meanPlace(large), `${meanPlace(small)} after ${meanPlace(large)} of ${order.length}`);
  });
});
