import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { dropCallPartitions, ensureCallPartitions } from '../../src/storage/call-partitions.js';
import { openDatabase } from './support.js';

const { db } = await openDatabase();
const DAY = 86_400_000;
const NOON = Date.UTC(2026, 10, 30, 12);

async function call(at: number): Promise<string> {
  const id = `run:${randomUUID()}`;
  await db.query(
    `insert into calls (id, started_at, company_id, document_type, environment, service, kind, deadline, archive_key)
     values ($1, $2, $3, 'nfe', 'production', 'nfe-distribution', 'distNSU', $2, 'k')`,
    [id, new Date(at), randomUUID()],
  );
  return id;
}

async function placeOf(id: string): Promise<unknown> {
  const { rows } = await db.query('select tableoid::regclass::text as place from calls where id = $1', [id]);
  return rows[0]?.place;
}

describe('call partitions', () => {
  test('are made ahead, once, also by several processes at the same moment', async () => {
    const made = await Promise.all([1, 2, 3].map(() => ensureCallPartitions(db, NOON, 2)));
    assert.deepEqual(made.flat().sort(), ['calls_20261130', 'calls_20261201', 'calls_20261202']);
    assert.deepEqual(await ensureCallPartitions(db, NOON, 2), []);
    assert.equal(await placeOf(await call(NOON)), 'calls_20261130');
    assert.equal(await placeOf(await call(NOON + DAY)), 'calls_20261201');
  });

  test('begin and end at midnight UTC, to the millisecond', async () => {
    const midnight = Date.UTC(2026, 11, 1);
    assert.equal(await placeOf(await call(midnight - 1)), 'calls_20261130');
    assert.equal(await placeOf(await call(midnight)), 'calls_20261201');
  });

  test('a day that nobody prepared is kept in the default partition and moved later', async () => {
    const late = NOON + 20 * DAY;
    const ids = [await call(late), await call(late + 1)];
    assert.equal(await placeOf(ids[0] ?? ''), 'calls_default');
    await ensureCallPartitions(db, late, 0);
    for (const id of ids) assert.equal(await placeOf(id), 'calls_20261220');
    assert.equal((await db.query('select from calls_default')).rowCount, 0);
  });

  test('old days go whole, with what the default partition has of them', async () => {
    const [old, stray, young] = [await call(NOON), await call(NOON - 300 * DAY), await call(NOON + DAY)];
    assert.equal(await dropCallPartitions(db, NOON + DAY), 1);
    assert.equal(await placeOf(old), undefined);
    assert.equal(await placeOf(stray), undefined);
    assert.equal(await placeOf(young), 'calls_20261201');
  });

  test('a new partition has the indexes of the log', async () => {
    const indexesOf = async (table: string) =>
      (await db.query('select from pg_indexes where tablename = $1', [table])).rowCount;
    assert.equal(await indexesOf('calls_20261201'), await indexesOf('calls'));
  });
});
