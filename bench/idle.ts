import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { FakeCapture } from '../test/workflows/fake-capture.js';
import { skippingServer, startCapture, withWorkers } from '../test/workflows/harness.js';

/**
 * What an idle company costs an hour: history events, bytes of history, Temporal actions (what Temporal Cloud bills: timers, activity
 * attempts, upserts), beside a textbook loop with an activity for each step. On skipped time, with the real workflow.
 * Run: node --import tsx bench/idle.ts
 */

const HOURS = 24;
/** Event types of Temporal's API that are billed as actions: activity scheduled, timer started, search attributes upserted. */
const ACTIONS = new Map([
  [10, 'activities'],
  [17, 'timers'],
  [40, 'upserts'],
]);

const env = await skippingServer();

const fake = new FakeCapture({ companyId: randomUUID(), documentType: 'nfe', environment: 'homologation' });
const ours = await withWorkers(env, fake.activities, async () => {
  const handle = await startCapture(env, fake);
  const figures = await perHour(handle, () => fake.calls.length);
  // A run that nobody serves would hold the test server's clock.
  await handle.signal('stop');
  await handle.result();
  return figures;
});

let fetched = 0;
const nothing = async () => {};
const textbookActivities = {
  fetchPage: async () => {
    fetched += 1;
  },
  storePage: nothing,
  saveCursor: nothing,
};
const bundle = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('./support/textbook-workflow.ts', import.meta.url)),
  logger: new DefaultLogger('ERROR'),
});
const options = { connection: env.nativeConnection, namespace: env.namespace ?? 'default' };
const workers = [
  await Worker.create({ ...options, taskQueue: 'textbook', workflowBundle: bundle }),
  await Worker.create({ ...options, taskQueue: 'background', activities: textbookActivities }),
];
const runs = workers.map((worker) => worker.run());
const theirs = await perHour(
  await env.client.workflow.start('textbook', { taskQueue: 'textbook', workflowId: randomUUID() }),
  () => fetched,
);
for (const worker of workers) worker.shutdown();
await Promise.all(runs);

console.table({ Malote: ours, 'textbook loop': theirs });
console.log(JSON.stringify({ bench: 'idle', hours: HOURS, aim: { events: 12 }, malote: ours, textbook: theirs }));
await env.teardown();
process.exit(0);

async function perHour(handle: WorkflowHandle, queries: () => number) {
  await env.sleep('3 hours');
  const [before, asked] = [await footprint(handle), queries()];
  await env.sleep(HOURS * 3_600_000);
  const after = await footprint(handle);
  const hours = queries() - asked;
  const share = (to: number, from: number) => Number(((to - from) / hours).toFixed(1));
  return {
    queries: hours,
    'events a query': share(after.events, before.events),
    'bytes a query': Math.round((after.bytes - before.bytes) / hours),
    'actions a query': share(after.actions, before.actions),
  };
}

async function footprint(handle: WorkflowHandle) {
  const { events } = await handle.fetchHistory();
  const list = events ?? [];
  return {
    events: list.length,
    bytes: list.reduce((sum, event) => sum + JSON.stringify(event).length, 0),
    actions: list.filter(({ eventType }) => ACTIONS.has(Number(eventType))).length,
  };
}
