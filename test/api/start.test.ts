import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { type ApiOptions, startApi } from '../../src/api/start.js';
import { createLogger } from '../../src/platform/log.js';
import { migrate } from '../../src/storage/migrate.js';
import { testDatabase } from '../support/database.js';
import { scratchFolder } from '../support/scratch.js';
import { until } from '../support/until.js';
import { BOOTSTRAP_KEY } from './support.js';

/** A database as `malote migrate` leaves it, with its list of migrations. */
const { url: database, drop } = await testDatabase();
const admin = new pg.Client({ connectionString: database });
await admin.connect();
await admin.query('drop schema public cascade; create schema public');
after(async () => {
  await admin.end();
  await drop();
});

const options: ApiOptions = {
  database,
  objectStore: pathToFileURL(scratchFolder('objects')).href,
  masterKey: randomBytes(32).toString('base64'),
  apiKey: BOOTSTRAP_KEY,
  host: '127.0.0.1',
  port: 0,
  temporal: { connectionOptions: { address: '127.0.0.1:9' }, namespace: 'default' },
  timeScale: 1,
  allowPrivateWebhooks: false,
  logger: createLogger({ level: 'silent', role: 'api' }),
};
const headers = { authorization: `Bearer ${BOOTSTRAP_KEY}` };

describe('the API as a process', () => {
  test('does not start over tables that are not there, or with a key that is none', async () => {
    await assert.rejects(startApi(options), { name: 'WrongSchema' });
    await assert.rejects(startApi({ ...options, masterKey: 'short' }), { name: 'InvalidMasterKey' });
    await assert.rejects(startApi({ ...options, objectStore: 'ftp://x' }), { name: 'InvalidObjectStore' });
  });

  test('answers without Temporal, says so, and stops in order', async () => {
    await migrate(database);
    const api = await startApi(options);
    const ask = (path: string) => fetch(api.url + path, { headers });
    assert.equal((await ask('/healthz')).status, 200);
    assert.equal((await ask('/v1/companies')).status, 200);
    const readiness = async () => (await (await ask('/readyz')).json()) as { stopping: boolean; checks: object };
    assert.deepEqual((await readiness()).checks, { database: true, temporal: false, objectStore: true });
    // Due for an hour, and for the next one.
    await admin.query(`with company as (
        insert into companies (id, tax_id, root, name, uf, created_at)
        values (gen_random_uuid(), '11222333000181', '11222333', 'Empresa Inventada', 'SP', now()) returning id)
      insert into manifestations (id, company_id, document_type, environment, key, type, sequence, origin, status, requested_at, expires_at, next_attempt_at)
      select gen_random_uuid(), id, 'nfe', 'production', 'k', type, 1, 'request', 'pending', now(), now(), now() + wait::interval
      from company, (values ('210200', '-1 hour'), ('210210', '1 hour'), ('210220', '1 hour')) as m (type, wait)`);
    const metrics = await (await ask('/metrics')).text();
    assert.match(metrics, /malote_database_connections\{state="idle"\}/);
    const pending = 'malote_pending_manifestations{document_type="nfe",environment="production",state=';
    for (const figure of ['"overdue"} 1\n', '"waiting"} 2\n']) assert.ok(metrics.includes(pending + figure), figure);

    const taken = Number(new URL(api.url).port);
    await assert.rejects(startApi({ ...options, port: taken }), { code: 'EADDRINUSE' });

    // A request that is in hand when the stop is asked for: it waits for a lock that we hold.
    await admin.query('begin; lock table companies in access exclusive mode');
    const inHand = ask('/v1/companies');
    await until(async () => {
      const { rows } = await admin.query("select from pg_stat_activity where wait_event_type = 'Lock'");
      return rows.length > 0;
    }, 'the request waits');
    let closed = false;
    const closing = api.close({ drainMs: 4_000 }).then(() => {
      closed = true;
    });
    // Readiness flips first, while everything is still answered.
    assert.equal((await readiness()).stopping, true);
    assert.equal((await ask('/healthz')).status, 200);
    await until(
      () =>
        ask('/healthz').then(
          () => false,
          () => true,
        ),
      'it no longer listens',
    );
    assert.equal(closed, false);
    await admin.query('commit');
    assert.equal((await inHand).status, 200);
    await closing;
    await until(async () => {
      const { rows } = await admin.query("select from pg_stat_activity where application_name = 'malote-api'");
      return rows.length === 0;
    }, 'its connections to the database are closed');
  });
});
