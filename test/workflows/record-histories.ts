import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { parseNsu } from '../../src/model/nsu.js';
import type { Outcome } from '../../src/model/outcome.js';
import { FakeCapture } from './fake-capture.js';
import { skippingServer, startCapture, withWorkers } from './harness.js';

/**
 * Records histories of the capture workflow, one for each phase, for test/workflows/replay.test.ts. Run once per release, before
 * workflow code changes; recorded files are never written again.
 * Run: node --import tsx test/workflows/record-histories.ts
 */

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };
const folder = fileURLToPath(new URL(`../histories/${version}/`, import.meta.url));
mkdirSync(folder, { recursive: true });

const HOUR = 3_600_000;
const nsu = (n: number) => parseNsu(n);
const page = (ult: number, max: number): Outcome => ({
  kind: 'documents',
  statusCode: '138',
  ultNsu: nsu(ult),
  maxNsu: nsu(max),
  items: 50,
});
const notSent: Outcome = { kind: 'not_sent', reason: 'connect ECONNREFUSED' };

type Scenario = (fake: FakeCapture, handle: () => WorkflowHandle) => Promise<void>;
const env = await skippingServer();
const hours = (count: number) => env.sleep(count * HOUR);

const scenarios: Record<string, { prepare: (fake: FakeCapture) => void; run: Scenario }> = {
  'querying-waiting-stopped': {
    prepare: (fake) => fake.script.push(page(50, 150), page(100, 150), page(150, 150)),
    run: async (_fake, handle) => {
      await hours(4);
      await handle().signal('wake');
      await hours(2);
    },
  },
  blocked: {
    prepare: (fake) => fake.script.push({ kind: 'throttled', statusCode: '656', ultNsu: nsu(70), retryAfterMs: null }),
    run: () => hours(4),
  },
  paused: {
    prepare: (fake) =>
      fake.script.push({ kind: 'paused', statusCode: '108' }, () => ({
        refuse: { reason: 'paused', until: fake.now() + 300_000, spread: 300_000 },
      })),
    run: async (fake, handle) => {
      await hours(2);
      await handle().signal('pause', { until: new Date((fake.calls.at(-1)?.at ?? 0) + 5 * HOUR).toISOString() });
      await hours(7);
    },
  },
  'backing-off-attention-resumed': {
    prepare: (fake) => {
      for (let i = 0; i < 11; i++) fake.script.push(notSent);
    },
    run: async (_fake, handle) => {
      await hours(9);
      await handle().signal('resume');
      await hours(2);
    },
  },
  certificate: {
    prepare: (fake) => fake.script.push({ refuse: { reason: 'certificate', problem: 'missing', until: null } }),
    run: async (_fake, handle) => {
      await hours(1);
      await handle().signal('wake');
      await hours(2);
    },
  },
  'handing-over': {
    prepare: (fake) => {
      fake.change({ handler: { taskQueue: 'host', activity: 'takePage' } });
      fake.script.push(page(50, 50));
      fake.pages.push({
        capture: fake.key,
        ultNsu: nsu(50),
        maxNsu: nsu(50),
        documents: [{ id: 'd', nsu: nsu(50), kind: 'resNFe' }],
      });
    },
    run: () => hours(3),
  },
  'stale-database-behind': {
    prepare: (fake) =>
      fake.script.push(
        () => {
          fake.change({ state: { ...fake.row.state, ultNsu: nsu(400), maxNsu: nsu(500) } });
          return { refuse: { reason: 'stale' } };
        },
        { refuse: { reason: 'database_behind' } },
      ),
    run: () => hours(8),
  },
  'stop-cancelled-by-start': {
    prepare: () => {},
    run: async (_fake, handle) => {
      await hours(1);
      await handle().signal('stop');
      await handle().signal('start', { enable: {} });
      await handle().signal('configure');
      await hours(2);
    },
  },
};

let refusals = 2;
const takePage = async () => {
  refusals -= 1;
  if (refusals >= 0) throw new Error('host database is down');
  return null;
};

for (const [name, { prepare, run }] of Object.entries(scenarios)) {
  const fake = new FakeCapture({ companyId: randomUUID(), documentType: 'nfe', environment: 'homologation' });
  prepare(fake);
  await withWorkers(env, { ...fake.activities, takePage }, async () => {
    const handle = await startCapture(env, fake);
    await run(fake, () => handle);
    await handle.signal('stop');
    await handle.result();
    const history = proto.temporal.api.history.v1.History.encode(await handle.fetchHistory()).finish();
    writeFileSync(`${folder}${name}.pb`, history);
    console.log(`${name}: ${history.length} bytes`);
  });
}
await env.teardown();
process.exit(0);
