import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import getPort from 'get-port';
import { type TestDatabase, testDatabase } from '../support/database.js';
import { scratchFolder } from '../support/scratch.js';
import { devServer } from '../support/temporal.js';
import { until } from '../support/until.js';

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const API_KEY = `mlt_${randomBytes(24).toString('hex')}`;
const MASTER_KEY = randomBytes(32).toString('base64');

const started: Process[] = [];

/** One of Malote's processes, as it runs in production. */
class Process {
  readonly child: ChildProcess;
  output = '';
  readonly ended: Promise<number | null>;

  constructor(command: string, env: NodeJS.ProcessEnv) {
    const { PATH, HOME } = process.env;
    this.child = spawn(process.execPath, ['--import', 'tsx', CLI, command], {
      env: { PATH, HOME, NO_COLOR: '1', ...env },
    });
    for (const stream of [this.child.stdout, this.child.stderr]) stream?.on('data', (chunk) => (this.output += chunk));
    this.ended = once(this.child, 'close').then(([code]) => code as number | null);
    started.push(this);
  }

  async answers(url: string): Promise<Response> {
    return until(
      async () => {
        if (this.child.exitCode !== null) throw new Error(`it ended: ${this.output}`);
        const response = await fetch(url).catch(() => null);
        return response?.ok && response;
      },
      url,
      120_000,
    );
  }
}

after(async () => {
  for (const { child, ended } of started) {
    child.kill('SIGKILL');
    await ended;
  }
});

describe('separate processes', () => {
  let database: TestDatabase;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    const { address, namespace } = await devServer();
    database = await testDatabase();
    env = {
      DATABASE_URL: database.url,
      MALOTE_OBJECT_STORE: pathToFileURL(scratchFolder('objects')).href,
      MALOTE_MASTER_KEY: MASTER_KEY,
      MALOTE_API_KEY: API_KEY,
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      MALOTE_HTTP_PORT: String(await getPort()),
      MALOTE_WORKER_PORT: String(await getPort()),
    };
  });
  after(() => database.drop());

  test('API and worker start, answer, and stop in order on SIGTERM; no secret is in their logs', async () => {
    const api = new Process('api', env);
    const worker = new Process('worker', env);
    await api.answers(`http://127.0.0.1:${env.MALOTE_HTTP_PORT}/readyz`);
    const metrics = await worker.answers(`http://127.0.0.1:${env.MALOTE_WORKER_PORT}/metrics`);
    assert.match(await metrics.text(), /malote_database_connections\{state="total"\}/);
    await until(() => worker.output.includes('the workers take up work'), 'the worker is ready');

    for (const each of [api, worker]) each.child.kill('SIGTERM');
    assert.equal(await api.ended, 0, api.output);
    assert.equal(await worker.ended, 0, worker.output);
    for (const { output } of [api, worker]) {
      assert.match(output, /"msg":"starting"/);
      assert.match(output, /"msg":"stopped"\}\s*$/);
      for (const secret of [MASTER_KEY, API_KEY, new URL(database.url).password]) {
        assert.ok(!output.includes(secret), 'a secret is in the log');
      }
    }
  });

  test('migrate says that nothing is to be done', async () => {
    const migrate = new Process('migrate', env);
    assert.equal(await migrate.ended, 0, migrate.output);
    assert.match(migrate.output, /up to date/);
  });

  test('wrong configuration: every fault at once, exit code 2', async () => {
    const worker = new Process('worker', { MALOTE_MASTER_KEY: 'short', MALOTE_HTTP_PRT: '1' });
    assert.equal(await worker.ended, 2);
    for (const fault of [
      'DATABASE_URL is not set',
      'MALOTE_OBJECT_STORE is not set',
      'TEMPORAL_ADDRESS is not set',
      'did you mean MALOTE_HTTP_PORT',
      'MALOTE_MASTER_KEY cannot be used',
    ]) {
      assert.ok(worker.output.includes(fault), `${fault} in ${worker.output}`);
    }
  });

  test('Temporal not there: the address and what to check, exit code 1', async () => {
    const worker = new Process('worker', { ...env, TEMPORAL_ADDRESS: `127.0.0.1:${await getPort()}` });
    assert.equal(await worker.ended, 1);
    assert.match(worker.output, /Temporal at 127\.0\.0\.1:\d+ does not answer .*check TEMPORAL_ADDRESS/);
  });
});
