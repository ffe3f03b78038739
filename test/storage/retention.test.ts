import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { ensureCallPartitions } from '../../src/storage/call-partitions.js';
import { sweepRetention } from '../../src/storage/retention.js';
import { openDatabase } from './support.js';

const { db } = await openDatabase();
const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 30, 12);

test('a sweep forgets what is past its time, in more than one batch, and nothing else', async () => {
  const ago = (days: number, ms = 0) => new Date(NOW - days * DAY - ms);
  await db.query(
    `insert into delivery_attempts (delivery_id, at, duration_ms) select gen_random_uuid(), $1, 1 from generate_series(1, 12000)`,
    [ago(30, 1)],
  );
  await db.query('insert into delivery_attempts (delivery_id, at, duration_ms) values ($1, $2, 1)', [
    randomUUID(),
    ago(30),
  ]);
  for (const [id, at] of [
    ['old', ago(90, 1)],
    ['young', ago(90)],
  ] as const) {
    await db.query(
      `insert into events (id, company_id, sequence, type, action, body, created_at) values ($1, $2, 1, 't', 'a', '{}', $3)`,
      [id, randomUUID(), at],
    );
  }
  for (const [key, at] of [
    ['old', ago(1, 1)],
    ['young', ago(1)],
  ] as const) {
    await db.query("insert into idempotency (scope, key, request_mac, created_at) values ('s', $1, 'm', $2)", [
      key,
      at,
    ]);
  }
  for (const [detail, closed] of [
    ['old', ago(365, 1)],
    ['young', ago(365)],
    ['open', null],
  ] as const) {
    await db.query(
      `insert into alerts (id, code, subject, detail, opened_at, closed_at) values ($1, 'item_failed', $2, $2, $3, $4)`,
      [randomUUID(), detail, ago(400), closed],
    );
  }
  for (const day of [92, 91, 90, 1]) await ensureCallPartitions(db, NOW - day * DAY, 0);

  assert.deepEqual(await sweepRetention(db, NOW), {
    deliveryAttempts: 12000,
    eventBodies: 1,
    callPartitions: 2,
    idempotency: 1,
    alerts: 1,
    transfers: 0,
  });
  assert.deepEqual((await db.query('select detail from alerts order by detail')).rows, [
    { detail: 'open' },
    { detail: 'young' },
  ]);
  assert.equal((await db.query('select from delivery_attempts')).rowCount, 1);
  assert.deepEqual((await db.query('select id, body from events order by id')).rows, [
    { id: 'old', body: '' },
    { id: 'young', body: '{}' },
  ]);
  assert.deepEqual((await db.query('select key from idempotency')).rows, [{ key: 'young' }]);
  assert.deepEqual(await sweepRetention(db, NOW), {
    deliveryAttempts: 0,
    eventBodies: 0,
    callPartitions: 0,
    idempotency: 0,
    alerts: 0,
    transfers: 0,
  });
});
