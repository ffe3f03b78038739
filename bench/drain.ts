import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { cnpjCheckDigits } from '../src/documents/index.js';
import type { GovernmentActivities } from '../src/model/activity-contract.js';
import type { CaptureSnapshot } from '../src/model/capture-state.js';
import type { CaptureKey } from '../src/model/words.js';
import { startPostgres } from '../src/runtime/postgres.js';
import { startTemporal } from '../src/runtime/temporal-server.js';
import { migrate } from '../src/storage/migrate.js';
import { type Outside, System } from '../test/e2e/system.js';
import { scratchFolder } from '../test/support/scratch.js';
import { until } from '../test/support/until.js';
import type { FromOutside, ToOutside } from './support/outside.js';

/**
 * From a backlog at the (simulated) government to committed rows and delivered webhooks: documents per second end to end, beside the
 * same activities called in a plain loop without Temporal. Government and customer run in a process of their own; PostgreSQL keeps its
 * data safe (fsync) as in production.
 * Run: node --import tsx bench/drain.ts [documents] [companies]
 */

const documents = Number(process.argv[2] ?? 20_000);
const companies = Number(process.argv[3] ?? 20);
const perCompany = Math.floor(documents / companies);
const LIMIT_MS = 10 * 60_000;
let activity = 0;
Runtime.install({ logger: new DefaultLogger('ERROR') });

const postgres = await startPostgres({ folder: scratchFolder('bench-postgres') });
const temporal = await startTemporal({ folder: scratchFolder('bench-temporal'), ui: false });
const connection = await NativeConnection.connect({ address: temporal.address });

const withTemporal = await measured('with', async (system, captures) => {
  await system.startWorkers();
  return async () => {
    await Promise.all(captures.map((capture) => system.messenger.startCapture(capture, {})));
    await drained(system);
  };
});
const withoutTemporal = await measured('without', async (system, captures) => {
  const { openCapture, queryDistribution, deliverDue } = system.activities();
  return async () => {
    const endpoint = await system.endpointId();
    let capturing = true;
    const deliver = async () => {
      while (capturing || (await system.pending()) > 0) await inActivity(() => deliverDue({ endpointId: endpoint }));
    };
    const delivering = deliver();
    await Promise.all(
      captures.map(async (capture) =>
        drainAlone(capture, await inActivity(() => openCapture({ capture })), queryDistribution),
      ),
    );
    capturing = false;
    await delivering;
  };
});

const share = withTemporal.perSecond / withoutTemporal.perSecond;
console.table({
  'with Temporal': {
    documents: withTemporal.documents,
    seconds: withTemporal.seconds,
    'documents/s': withTemporal.perSecond,
    'CPU s of ours': withTemporal.cpu,
  },
  'without Temporal': {
    documents: withoutTemporal.documents,
    seconds: withoutTemporal.seconds,
    'documents/s': withoutTemporal.perSecond,
    'CPU s of ours': withoutTemporal.cpu,
  },
});
console.log(
  JSON.stringify({
    bench: 'drain',
    node: process.version,
    companies,
    withTemporal,
    withoutTemporal,
    share: Number(share.toFixed(2)),
  }),
);

await connection.close();
await temporal.stop();
await postgres.stop();
process.exit(0);

type Work = () => Promise<void>;

async function measured(name: string, prepare: (system: System, captures: CaptureKey[]) => Promise<Work>) {
  const database = `bench_${name}`;
  const { outside, ask, stop } = await startOutside();
  await createDatabaseNamed(database);
  const system = await System.start({
    temporal: { nativeConnection: connection, namespace: 'default' },
    outside,
    database: { url: postgres.urlOf(database), masterKey: randomBytes(32).toString('base64') },
  });
  await system.addEndpoint();
  const captures: CaptureKey[] = [];
  for (let i = 0; i < companies; i++) {
    const taxId = taxIdOf(i);
    await ask({ do: 'company', taxId, backlog: perCompany });
    const capture: CaptureKey = {
      companyId: await system.addCompany(taxId),
      documentType: 'nfe',
      environment: 'homologation',
    };
    await system.enable(capture);
    captures.push(capture);
  }
  const work = await prepare(system, captures);
  const cpuBefore = process.cpuUsage();
  const begun = performance.now();
  await work();
  const seconds = (performance.now() - begun) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  const stored = await system.count('documents');
  await system.stop();
  stop();
  return {
    documents: stored,
    seconds: Number(seconds.toFixed(1)),
    perSecond: Math.round(stored / seconds),
    cpu: Number(((cpu.user + cpu.system) / 1e6).toFixed(1)),
  };
}

async function drained(system: System): Promise<void> {
  await until(async () => (await system.count('documents')) >= perCompany * companies, 'all documents', LIMIT_MS);
  await until(async () => (await system.pending()) === 0, 'all webhooks', LIMIT_MS);
}

async function drainAlone(
  capture: CaptureKey,
  opened: CaptureSnapshot,
  query: GovernmentActivities['queryDistribution'],
): Promise<void> {
  let { state, revision } = opened;
  for (;;) {
    const result = await inActivity(() => query({ capture, ultNsu: state.ultNsu, revision }));
    ({ state, revision } = result.snapshot);
    if (result.kind === 'refused') throw new Error(`refused: ${result.refusal.reason}`);
    if (state.phase !== 'querying') return;
  }
}

function inActivity<T>(work: () => Promise<T>): Promise<T> {
  activity += 1;
  return new MockActivityEnvironment({ activityId: String(activity) }).run(work) as Promise<T>;
}

async function startOutside(): Promise<{
  outside: Outside;
  ask: (message: ToOutside) => Promise<FromOutside>;
  stop: () => void;
}> {
  const child = fork(fileURLToPath(new URL('./support/outside.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
  });
  const next = async () => ((await once(child, 'message')) as [FromOutside])[0];
  const hello = await next();
  if (!('caPem' in hello)) throw new Error('the outside did not introduce itself');
  const ask = (message: ToOutside) => {
    child.send(message);
    return next();
  };
  const outside: Outside = {
    caPem: hello.caPem,
    endpoints: hello.endpoints,
    issueA1: async ({ taxId, password }) => {
      const answer = await ask({ do: 'certificate', taxId, password });
      return Buffer.from('pfx' in answer ? answer.pfx : '', 'base64');
    },
    receiver: { url: hello.url, secret: `whsec_${randomBytes(32).toString('base64')}` },
  };
  return { outside, ask, stop: () => child.disconnect() };
}

async function createDatabaseNamed(name: string): Promise<void> {
  const { createDatabase } = await import('../src/storage/database.js');
  const admin = createDatabase({ url: postgres.urlOf('postgres'), applicationName: 'bench' });
  await admin.query(`create database ${name}`);
  await admin.close();
  await migrate(postgres.urlOf(name));
}

function taxIdOf(i: number): string {
  const first12 = `${String(10_000_000 + i * 37)}0001`;
  return first12 + cnpjCheckDigits(first12);
}
