import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import { Webhook } from 'standardwebhooks';
import { createDeliveryActivities } from '../../src/activities/delivery/deliver-due.js';
import type { DeliveryDependencies } from '../../src/activities/delivery/delivery-run.js';
import type { Database } from '../../src/storage/database.js';
import { DatabaseError } from '../../src/storage/database-error.js';
import { listAttempts, listDeliveries, resendDelivery } from '../../src/storage/deliveries.js';
import {
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  getEndpoint,
  rotateSecret,
} from '../../src/storage/endpoints.js';
import { PostgresClock } from '../../src/storage/postgres-clock.js';
import { type Message, WebhookSender } from '../../src/webhooks/sender.js';
import { newSecret } from '../../src/webhooks/signature.js';
import { until } from '../support/until.js';
import { box, capturePage, newCompany, newEndpoint, openDatabase, type Receiver, receiver } from './support.js';

const database = await openDatabase();
const sender = new WebhookSender({ version: '1.0.0', allowPrivate: true });
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** A clock that stands at an instant of the test's choosing. */
const at = (ms: number) => ({ now: async () => ms });

interface Run {
  readonly result: Promise<{ attempts: number; nextDueAt: number | null; gone: boolean }>;
  readonly env: MockActivityEnvironment;
}

const woken: string[] = [];
function deliver(endpointId: string, deps: Partial<DeliveryDependencies> = {}): Run {
  const env = new MockActivityEnvironment();
  const { deliverDue } = createDeliveryActivities({
    database,
    clock: new PostgresClock(database),
    box,
    sender,
    wakeEndpoints: (ids) => woken.push(...ids),
    ...deps,
  });
  return { env, result: env.run(deliverDue, { endpointId }) as Run['result'] };
}

/** A company whose events go to a receiver. */
async function subscribed(endpoint: Receiver) {
  const company = await newCompany(database);
  return { company, ...(await newEndpoint(database, { url: endpoint.url, companyIds: [company.id] })) };
}

const statuses = async (endpointId: string) => {
  const { rows } = await listDeliveries(database, { endpointId }, { limit: 200 });
  return rows.map((row) => row.status);
};
const documentIds = (endpoint: Receiver) => endpoint.received.map(({ event }) => event.data.id);

describe('sending what is due', () => {
  test('everything, verifiable, on record; then nothing is pending', async () => {
    const endpoint = await receiver((response) => response.writeHead(200).end('ok'));
    const { company, id, secret } = await subscribed(endpoint);
    const documents = await capturePage(database, company, 5);
    assert.deepEqual(await deliver(id).result, { attempts: 5, nextDueAt: null, gone: false });
    assert.deepEqual(
      documentIds(endpoint).sort(),
      documents.map((one) => one.id),
    );
    for (const { body, headers, event } of endpoint.received) {
      new Webhook(secret).verify(body, headers);
      assert.equal(headers['webhook-id'], event.id);
    }
    const { rows } = await listDeliveries(database, { endpointId: id }, { limit: 10 });
    assert.ok(rows.every((row) => row.status === 'delivered' && row.attempts === 1 && row.lastStatusCode === 200));
    const [attempt, ...more] = await listAttempts(database, rows[0]?.id ?? '');
    assert.deepEqual([attempt?.statusCode, attempt?.error, attempt?.response, more.length], [200, null, 'ok', 0]);
    assert.deepEqual(await deliver(id).result, { attempts: 0, nextDueAt: null, gone: false });
  });

  test('in commit order, never more at once than allowed', async () => {
    const endpoint = await receiver((response) => setTimeout(() => response.writeHead(204).end(), 5));
    const { company, id } = await subscribed(endpoint);
    for (let page = 0; page < 4; page += 1) await capturePage(database, company, 10);
    await deliver(id, { concurrency: 1 }).result;
    assert.deepEqual(
      endpoint.received.map(({ event }) => event.sequence),
      Array.from({ length: 40 }, (_, i) => i + 1),
    );
    assert.equal(endpoint.mostAtOnce(), 1);
    for (let page = 0; page < 10; page += 1) await capturePage(database, company, 25);
    const started: string[] = [];
    const ordered = {
      send: (message: Message) => {
        started.push(message.id);
        return sender.send(message);
      },
    };
    await deliver(id, { concurrency: 8, sender: ordered }).result;
    assert.equal(started.length, 250);
    assert.deepEqual(started, [...started].sort(), 'they start in the order of their ids, which grow with time');
    assert.ok(endpoint.mostAtOnce() <= 8 && endpoint.mostAtOnce() > 1, `${endpoint.mostAtOnce()}`);
  });

  test('nothing waits for one that hangs, also not what comes meanwhile', async () => {
    let release = () => {};
    const endpoint = await receiver((response, { event }) => {
      if (event.sequence === 1) release = () => response.writeHead(204).end();
      else response.writeHead(204).end();
    });
    const { company, id } = await subscribed(endpoint);
    await capturePage(database, company, 5);
    const { result } = deliver(id);
    await until(() => endpoint.received.length === 5, 'the other four');
    await capturePage(database, company, 3);
    await until(() => endpoint.received.length === 8, 'three that came later');
    await until(
      async () => (await statuses(id)).filter((status) => status === 'delivered').length === 7,
      'their records',
    );
    release();
    assert.deepEqual(await result, { attempts: 8, nextDueAt: null, gone: false });
  });

  test('stops taking up work when its time is over, and says what is due', async () => {
    // Two at once need 10 s for all.
    let slow = true;
    const endpoint = await receiver((response) => setTimeout(() => response.writeHead(204).end(), slow ? 200 : 0));
    const { company, id } = await subscribed(endpoint);
    await capturePage(database, company, 50);
    await capturePage(database, company, 50);
    const { attempts, nextDueAt } = await deliver(id, { budgetMs: 3_000, concurrency: 2 }).result;
    slow = false;
    assert.ok(attempts > 0 && attempts < 100);
    assert.ok(nextDueAt !== null && nextDueAt <= Date.now());
    await deliver(id).result;
    assert.equal(endpoint.received.length, 100);
    assert.equal(new Set(documentIds(endpoint)).size, 100);
  });

  test('of a worker that shuts down finishes what is in the air and gives back the rest', async () => {
    const waiting: (() => void)[] = [];
    const endpoint = await receiver((response) => waiting.push(() => response.writeHead(204).end()));
    const { company, id } = await subscribed(endpoint);
    await capturePage(database, company, 20);
    const { result, env } = deliver(id);
    await until(() => endpoint.received.length === 8, 'eight in the air');
    env.cancel();
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const answer of waiting.splice(0)) answer();
    const { attempts, nextDueAt } = await result;
    assert.equal(attempts, 8);
    assert.ok(nextDueAt !== null && nextDueAt <= Date.now(), 'due at once for another worker, not after the lease');
    assert.equal((await statuses(id)).filter((status) => status === 'delivered').length, 8);
  });

  test('by two at once: each message once', async () => {
    const endpoint = await receiver((response) => setTimeout(() => response.writeHead(204).end(), 2));
    const { company, id } = await subscribed(endpoint);
    for (let page = 0; page < 6; page += 1) await capturePage(database, company, 50);
    const runs = await Promise.all([deliver(id).result, deliver(id).result, deliver(id).result]);
    assert.equal(
      runs.reduce((sum, run) => sum + run.attempts, 0),
      300,
    );
    assert.equal(new Set(documentIds(endpoint)).size, 300);
    assert.equal(endpoint.received.length, 300);
  });

  test('heartbeats while it waits', async () => {
    let answer = () => {};
    const endpoint = await receiver((response) => {
      answer = () => response.writeHead(204).end();
    });
    const { company, id } = await subscribed(endpoint);
    await capturePage(database, company, 1);
    const { result, env } = deliver(id);
    let beats = 0;
    env.on('heartbeat', () => {
      beats += 1;
    });
    await until(() => beats > 0, 'a heartbeat');
    answer();
    await result;
  });
});

describe('failed attempts', () => {
  test('are repeated later with the same id and the same bytes', async () => {
    let down = true;
    const endpoint = await receiver((response) => response.writeHead(down ? 503 : 204).end('down'));
    const { company, id } = await subscribed(endpoint);
    const now = Date.now();
    await capturePage(database, company, 1, { at: now });
    const first = await deliver(id, { clock: at(now) }).result;
    assert.equal(first.attempts, 1);
    assert.ok(first.nextDueAt !== null && first.nextDueAt >= now + MINUTE && first.nextDueAt < now + 2 * MINUTE);
    assert.equal((await deliver(id, { clock: at(first.nextDueAt - MINUTE) }).result).attempts, 0);
    const second = await deliver(id, { clock: at(first.nextDueAt) }).result;
    assert.ok(second.nextDueAt !== null && second.nextDueAt >= first.nextDueAt + 2 * MINUTE);
    down = false;
    assert.equal((await deliver(id, { clock: at(second.nextDueAt) }).result).nextDueAt, null);
    const [one, ...others] = endpoint.received;
    assert.equal(others.length, 2);
    for (const other of others) {
      assert.equal(other.body, one?.body);
      assert.equal(other.headers['webhook-id'], one?.headers['webhook-id']);
    }
    const [row] = (await listDeliveries(database, { endpointId: id }, { limit: 1 })).rows;
    assert.deepEqual([row?.status, row?.attempts], ['delivered', 3]);
    assert.deepEqual(
      (await listAttempts(database, row?.id ?? '')).map((attempt) => attempt.statusCode),
      [503, 503, 204],
    );
  });

  test('wait as long as Retry-After asks', async () => {
    const endpoint = await receiver((response) => response.writeHead(429, { 'retry-after': '1800' }).end());
    const { company, id } = await subscribed(endpoint);
    const now = Date.now();
    await capturePage(database, company, 1, { at: now });
    const { nextDueAt } = await deliver(id, { clock: at(now) }).result;
    assert.ok(nextDueAt !== null && nextDueAt >= now + 30 * MINUTE && nextDueAt < now + 31 * MINUTE);
  });

  test('end after 3 days, when other events get through', async () => {
    const endpoint = await receiver((response, { event }) =>
      response.writeHead(event.sequence === 1 ? 500 : 204).end(),
    );
    const { company, id } = await subscribed(endpoint);
    const start = Date.now();
    await capturePage(database, company, 1, { at: start });
    let [attempts, now] = [0, start];
    for (let next: number | null = start; next !== null; attempts += 1) {
      now = next;
      await capturePage(database, company, 1, { at: now });
      next = (await deliver(id, { clock: at(now), concurrency: 1 }).result).nextDueAt;
    }
    assert.ok(now >= start + 3 * DAY && now < start + 3 * DAY + MINUTE, `${(now - start) / DAY}`);
    assert.ok(attempts > 65 && attempts < 80, `${attempts}`);
    const all = (await listDeliveries(database, { endpointId: id }, { limit: 200 })).rows;
    assert.equal(all.at(-1)?.status, 'exhausted');
    assert.ok(all.slice(0, -1).every((row) => row.status === 'delivered'));
    assert.equal((await getEndpoint(database, id))?.status, 'enabled');
    await resendDelivery(database, all.at(-1)?.id ?? '', now);
    const again = await deliver(id, { clock: at(now) }).result;
    assert.ok(again.nextDueAt !== null && again.nextDueAt < now + 2 * MINUTE, 'sent again, it has a fresh 3 days');
  });

  test('of a crash between sending and recording: sent again with the same id', async () => {
    const endpoint = await receiver();
    const { company, id } = await subscribed(endpoint);
    await capturePage(database, company, 1);
    const dying: Database = {
      ...database,
      query: (text, values) =>
        text.includes('delivery_attempts')
          ? Promise.reject(new Error('the process died'))
          : database.query(text, values),
    };
    await assert.rejects(deliver(id, { database: dying }).result, /the process died/);
    const { nextDueAt } = await deliver(id).result;
    assert.equal(endpoint.received.length, 1);
    assert.ok(
      nextDueAt !== null && nextDueAt > Date.now() && nextDueAt <= Date.now() + MINUTE,
      'when the lease runs out',
    );
    await deliver(id, { clock: at(nextDueAt) }).result;
    assert.equal(endpoint.received.length, 2);
    assert.equal(endpoint.received[0]?.headers['webhook-id'], endpoint.received[1]?.headers['webhook-id']);
    assert.deepEqual(await statuses(id), ['delivered']);
  });

  test('of a database that is away for a moment are recorded when it is back, and nothing is sent twice', async () => {
    const endpoint = await receiver();
    const { company, id } = await subscribed(endpoint);
    await capturePage(database, company, 30);
    let failures = 3;
    const flaky: Database = {
      ...database,
      query: (text, values) => {
        if (!text.includes('delivery_attempts') || failures === 0) return database.query(text, values);
        failures -= 1;
        return Promise.reject(new DatabaseError('PostgreSQL connection: ECONNRESET', 'ECONNRESET'));
      },
    };
    assert.equal((await deliver(id, { database: flaky }).result).nextDueAt, null);
    assert.equal(endpoint.received.length, 30);
    assert.ok((await statuses(id)).every((status) => status === 'delivered'));
  });
});

describe('secrets', () => {
  test('after a rotation both sign', async () => {
    const endpoint = await receiver();
    const { company, id, secret: old } = await subscribed(endpoint);
    const secret = newSecret();
    await database.transaction((tx) => rotateSecret(tx, box, { id, secret, at: Date.now() }));
    await capturePage(database, company, 1);
    await deliver(id).result;
    const [got] = endpoint.received;
    assert.ok(got);
    for (const valid of [secret, old]) new Webhook(valid).verify(got.body, got.headers);
    await capturePage(database, company, 1);
    await deliver(id, { clock: at(Date.now() + DAY + MINUTE) }).result;
    const [, later] = endpoint.received;
    assert.ok(later);
    new Webhook(secret).verify(later.body, later.headers);
    assert.throws(() => new Webhook(old).verify(later.body, later.headers));
  });
});

describe('endpoints that do not want any more', () => {
  test('deleted or disabled: gone, and nothing is sent', async () => {
    const endpoint = await receiver();
    const [deleted, disabled] = [await subscribed(endpoint), await subscribed(endpoint)];
    for (const { company } of [deleted, disabled]) await capturePage(database, company, 1);
    await deleteEndpoint(database, deleted.id, Date.now());
    await disableEndpoint(database, disabled.id, 'x', Date.now());
    for (const { id } of [deleted, disabled]) {
      assert.deepEqual(await deliver(id).result, { attempts: 0, nextDueAt: null, gone: true });
    }
    assert.equal(endpoint.received.length, 0);
    assert.deepEqual(await statuses(disabled.id), ['held']);
  });

  test('410 disables: what was not started stays, an alert says so, enabling sends it', async () => {
    let gone = true;
    const endpoint = await receiver((response) => response.writeHead(gone ? 410 : 204).end());
    const { company, id } = await subscribed(endpoint);
    await capturePage(database, company, 50);
    const operations = await newEndpoint(database, { companyIds: [company.id], events: ['capture_alert'] });
    woken.length = 0;
    const { attempts, gone: isGone } = await deliver(id, { concurrency: 2 }).result;
    assert.ok(isGone && attempts <= 2, `${attempts}`);
    assert.equal((await getEndpoint(database, id))?.disabledReason, 'the receiver answered 410 Gone');
    assert.ok((await statuses(id)).every((status) => status === 'held'));
    const [alert] = await alertsAbout(id);
    assert.equal(alert?.code, 'endpoint_disabled');
    assert.deepEqual(woken, [operations.id]);
    const [notice] = (await listDeliveries(database, { endpointId: operations.id }, { limit: 5 })).rows;
    assert.deepEqual([notice?.type, notice?.action], ['capture_alert', 'endpoint_disabled']);

    gone = false;
    await enableEndpoint(database, id, 'all', Date.now());
    assert.equal((await deliver(id).result).nextDueAt, null);
    // The alert about the endpoint itself waited for it, too.
    assert.equal((await statuses(id)).filter((status) => status === 'delivered').length, 51);
    assert.deepEqual(
      (await alertsAbout(id)).map((one) => one.open),
      [false],
    );
  });

  test('failing for a day is told, for 3 days disables, and not one event is given up', async () => {
    let down = true;
    const endpoint = await receiver((response) => response.writeHead(down ? 500 : 204).end());
    const { company, id } = await subscribed(endpoint);
    const start = Date.now();
    await capturePage(database, company, 2, { at: start });
    let now = start;
    let warnedAt = 0;
    for (;;) {
      const run = await deliver(id, { clock: at(now) }).result;
      const codes = (await alertsAbout(id)).map((alert) => alert.code);
      if (codes.length === 1 && warnedAt === 0) warnedAt = now;
      if (run.gone) break;
      assert.ok(run.nextDueAt !== null);
      now = run.nextDueAt;
    }
    assert.ok(warnedAt >= start + DAY && warnedAt < start + DAY + 70 * MINUTE);
    assert.ok(now >= start + 3 * DAY && now < start + 3 * DAY + 70 * MINUTE);
    assert.deepEqual((await alertsAbout(id)).map((alert) => alert.code).sort(), [
      'endpoint_disabled',
      'endpoint_failing',
    ]);
    const { failingSince } = (await getEndpoint(database, id)) ?? {};
    assert.ok(failingSince && failingSince - start < MINUTE);
    assert.deepEqual(new Set(await statuses(id)), new Set(['held']));
    down = false;
    await enableEndpoint(database, id, 'all', now);
    await deliver(id, { clock: at(now + MINUTE) }).result;
    assert.deepEqual(new Set(await statuses(id)), new Set(['delivered']));
  });

  test('one success ends the count and closes the warning', async () => {
    let down = true;
    const endpoint = await receiver((response) => response.writeHead(down ? 500 : 204).end());
    const { company, id } = await subscribed(endpoint);
    const start = Date.now();
    await capturePage(database, company, 1, { at: start });
    await deliver(id, { clock: at(start) }).result;
    const { failingSince } = (await getEndpoint(database, id)) ?? {};
    assert.ok(failingSince && failingSince - start < MINUTE);
    await deliver(id, { clock: at(start + 25 * 60 * MINUTE) }).result;
    assert.deepEqual(
      (await alertsAbout(id)).map((alert) => [alert.code, alert.open]),
      [['endpoint_failing', true]],
    );
    down = false;
    await deliver(id, { clock: at(start + 27 * 60 * MINUTE) }).result;
    assert.equal((await getEndpoint(database, id))?.failingSince, null);
    assert.deepEqual(
      (await alertsAbout(id)).map((alert) => alert.open),
      [false],
    );
  });
});

async function alertsAbout(subject: string) {
  const { rows } = await database.query<{ code: string; open: boolean }>(
    'select code, closed_at is null as open from alerts where subject = $1 order by opened_at',
    [subject],
  );
  return rows;
}
