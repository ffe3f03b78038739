import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { NativeConnection } from '@temporalio/worker';
import { clearLockedPorts } from 'get-port';
import { TASK_QUEUES } from '../../src/model/activity-contract.js';
import { startPostgres } from '../../src/runtime/postgres.js';
import { startTemporal } from '../../src/runtime/temporal-server.js';
import { migrate } from '../../src/storage/migrate.js';
import { captureWorkflowId, SIGNALS, WORKFLOW_TYPES } from '../../src/workflows/messages.js';
import { scratchFolder } from '../support/scratch.js';
import { until } from '../support/until.js';
import { System } from './system.js';
import type { WorkerProcessInput } from './worker-process.js';

const KILLS = 10;
const TIME_SCALE = 120;
const HEARTBEAT_MS = 4_000;
const COMPANIES = ['11222333000181', 'A1B2C3D4000193'];
const BACKLOG = 1_000;

const cleanUps: (() => Promise<unknown> | unknown)[] = [];
after(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

test('2,000 documents while the worker is killed ten times, and PostgreSQL and Temporal are restarted', async () => {
  const folders = { postgres: scratchFolder('kill-postgres'), temporal: scratchFolder('kill-temporal') };
  let postgres = await startPostgres({ folder: folders.postgres });
  let temporal = await startTemporal({ folder: folders.temporal, ui: false });
  cleanUps.push(
    () => postgres.stop(),
    () => temporal.stop(),
  );
  const databaseUrl = postgres.urlOf('postgres');
  await migrate(databaseUrl);
  const connection = await NativeConnection.connect({ address: temporal.address });
  const masterKey = randomBytes(32).toString('base64');
  const system = await System.start({
    temporal: { nativeConnection: connection, namespace: 'default' },
    timeScale: TIME_SCALE,
    // A real government need not take the same question twice; that its refusal loses nothing either is proved in test/faults.
    simulator: { policy: { tolerateRepeat: true } },
    database: { url: databaseUrl, masterKey },
  });
  cleanUps.push(
    () => system.stop(),
    () => connection.close(),
  );

  await system.addEndpoint();
  const companies: string[] = [];
  for (const taxId of COMPANIES) {
    system.simulator.companies.add({ taxId, backlog: BACKLOG });
    // Slow enough that kills find calls in the air.
    system.simulator.script({ type: 'slow', ms: 150 }, { taxId, count: null });
    companies.push(await system.addCompany(taxId));
  }
  const input: WorkerProcessInput = {
    temporalAddress: temporal.address,
    namespace: 'default',
    databaseUrl,
    objectStore: system.objectStoreUrl,
    masterKey,
    caPem: system.simulator.caPem,
    endpoints: system.simulator.endpointsFile(),
    timeScale: TIME_SCALE,
    beat: 1_000,
    blind: 3_000,
  };
  let worker = await startWorkerProcess(input);
  cleanUps.push(() => worker.kill('SIGKILL'));
  for (const companyId of companies) await start(system, companyId);

  const cursors = async () => {
    const { rows } = await system.database.query<{ ult: string; max: string }>(
      'select ult_nsu as ult, max_nsu as max from captures order by company_id',
    );
    return rows.map(({ ult, max }) => ({
      ult: Number(ult),
      left: Number(max) > 0 ? Number(max) - Number(ult) : BACKLOG,
    }));
  };
  for (let kill = 1; kill <= KILLS; kill++) {
    const before = await cursors();
    // Each company got a page since the last kill, or has none left. Two lost answers in a row, or a lost last page, wait out a whole
    // deadline, which is not scaled: test/faults and test/cadence have those.
    await until(
      async () =>
        (await cursors()).every(({ ult, left }, i) => left === 0 || (left > 200 && ult > (before[i]?.ult ?? 0))),
      `a page of each company before kill ${kill}`,
      180_000,
    );
    await delay(Math.random() * 300);
    worker.kill('SIGKILL');
    await once(worker, 'exit');
    if (kill === 4) {
      await postgres.stop();
      clearLockedPorts();
      postgres = await startPostgres({ folder: folders.postgres, port: postgres.port });
    }
    if (kill === 7) {
      const port = Number(temporal.address.split(':')[1]);
      await temporal.stop();
      clearLockedPorts();
      temporal = await startTemporal({ folder: folders.temporal, ui: false, port });
    }
    worker = await startWorkerProcess(input);
  }

  for (const [i, companyId] of companies.entries()) {
    const taxId = COMPANIES[i] ?? '';
    const truth = new Map(
      system.simulator.companies.truth({ taxId, limit: 10_000 }).map(({ nsu, sha256 }) => [nsu as string, sha256]),
    );
    await until(
      async () => (await system.stored(companyId)).size === truth.size,
      `all documents of company ${i}`,
      240_000,
    );
    assert.deepEqual(await system.stored(companyId), truth, 'stored exactly once, byte for byte');
    const { rows } = await system.database.query<{ ult: string }>(
      "select state ->> 'ultNsu' as ult from captures where company_id = $1",
      [companyId],
    );
    assert.equal(rows[0]?.ult, [...truth.keys()].at(-1), 'the cursor is the last number');
  }
  const { rows: counts } = await system.database.query<{ documents: string; events: string }>(
    'select (select count(*) from documents) as documents, (select count(*) from events where document_id is not null) as events',
  );
  assert.deepEqual(counts[0], { documents: '2000', events: '2000' });
  const events = new Set(
    (await system.database.query<{ id: string }>('select id from events')).rows.map(({ id }) => id),
  );
  await until(() => system.receiver.ids.size >= events.size, 'every webhook delivered', 120_000);
  assert.deepEqual(system.receiver.ids, events, 'each event at least once, under its own id');
  assert.deepEqual(system.receiver.forged, []);
  assert.deepEqual(system.simulator.journal.violations(), []);
});

async function startWorkerProcess(input: WorkerProcessInput): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('./worker-process.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin?.end(JSON.stringify(input));
  await Promise.race([
    once(child.stdout ?? child, 'data'),
    once(child, 'exit').then(() => assert.fail('the worker did not start')),
  ]);
  return child;
}

async function start(system: System, companyId: string): Promise<void> {
  const capture = { companyId, documentType: 'nfe', environment: 'homologation' } as const;
  await system.enable(capture);
  await system.client.workflow.signalWithStart(WORKFLOW_TYPES.capture, {
    workflowId: captureWorkflowId(capture),
    taskQueue: TASK_QUEUES.workflows,
    args: [{ capture, heartbeatTimeout: HEARTBEAT_MS }],
    signal: SIGNALS.start,
    signalArgs: [{}],
  });
}
