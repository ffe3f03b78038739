import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Database } from '../../src/storage/database.js';
import { DatabaseError } from '../../src/storage/database-error.js';
import { type ObjectStore, ObjectStoreUnavailable } from '../../src/storage/object-store/index.js';
import { documents, none, nsu, summaries } from '../activities/government.js';
import { committed, count, newCapture, nextActivity, query, rowOf, world } from '../activities/support.js';
import { key } from '../documents/samples.js';

const w = await world({ limits: { firstPause: 10, patience: 400 } });
/** For failures that end while somebody waits. */
const patient = { firstPause: 10, patience: 60_000 };

/** A database whose nth transaction commits, and then says that its connection was lost. */
function losingCommit(nth: number): Database {
  let transactions = 0;
  return {
    ...w.db,
    async transaction(work) {
      const result = await w.db.transaction(work);
      transactions += 1;
      if (transactions === nth) throw new DatabaseError('PostgreSQL connection: read ECONNRESET', 'ECONNRESET');
      return result;
    },
  };
}

/** A database that lets so many transactions pass and then fails so many. */
function failingAfter(passing: number, code: string, times = Number.POSITIVE_INFINITY) {
  let transactions = 0;
  const state = { failures: 0 };
  const database: Database = {
    ...w.db,
    transaction(work) {
      transactions += 1;
      if (transactions <= passing || state.failures >= times) return w.db.transaction(work);
      state.failures += 1;
      return Promise.reject(new DatabaseError(`PostgreSQL ${code}: made up`, code));
    },
  };
  return { database, state };
}

describe('a commit in doubt', () => {
  test('of the row before the call: nobody calls, and the wait of an unknown call is set', async () => {
    const capture = await newCapture(w);
    w.government.answers(none());
    const before = w.government.calls;
    const activity = await nextActivity(w, capture);
    await assert.rejects(activity.attempt(w.process({ database: losingCommit(1) })), { type: 'DatabaseError' });
    assert.equal(committed(await activity.attempt(w.activities)).outcome, 'unknown');
    assert.equal(w.government.calls - before, 0);
    assert.equal(await count(w, 'calls', capture.companyId), 1);
  });

  test('of the page: the repeat recognizes its own rows', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents(summaries(1, 5, key), 5));
    const before = w.government.calls;
    const activity = await nextActivity(w, capture);
    const worker = w.process({ database: losingCommit(2), limits: patient });
    const result = committed(await activity.attempt(worker));
    assert.equal(result.outcome, 'documents');
    assert.equal(result.documents, 5);
    assert.equal(w.government.calls - before, 1);
    assert.equal(await count(w, 'documents', capture.companyId), 5);
    assert.equal(await count(w, 'events', capture.companyId), 5);
    assert.equal((await rowOf(w, capture)).documents, 5);
  });
});

describe('a database that fails with an answer in hand', () => {
  test('for a moment: the same attempt tries again', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents(summaries(1, 5, key), 5));
    const { database, state } = failingAfter(1, '57P01', 3);
    const worker = w.process({ database, limits: patient });
    const result = committed(await (await nextActivity(w, capture)).attempt(worker));
    assert.equal(result.documents, 5);
    assert.equal(state.failures, 3);
  });

  test('for longer: even a 137 is put aside, and the next attempt commits it without a call', async () => {
    const capture = await newCapture(w);
    w.government.answers(none());
    const before = w.government.calls;
    const activity = await nextActivity(w, capture);
    const { database, state } = failingAfter(1, '57P03');
    await assert.rejects(activity.attempt(w.process({ database })), { type: 'DatabaseError' });
    assert.ok(state.failures > 0);
    const result = committed(await activity.attempt(w.activities));
    assert.equal(result.outcome, 'none');
    assert.equal(result.snapshot.state.phase, 'waiting');
    assert.equal(w.government.calls - before, 1);
  });

  test('an error that does not pass is not waited for, and loses nothing either', async () => {
    const capture = await newCapture(w);
    w.government.answers(none());
    const activity = await nextActivity(w, capture);
    const { database, state } = failingAfter(1, '42P01');
    await assert.rejects(activity.attempt(w.process({ database })));
    assert.equal(state.failures, 1);
    assert.equal(committed(await activity.attempt(w.activities)).outcome, 'none');
  });
});

describe('an object store that fails with an answer in hand', () => {
  const full = (failures: number): ObjectStore => {
    let left = failures;
    return Object.create(w.deps.objectStore, {
      put: {
        value: (name: string, bytes: Uint8Array) => {
          left -= 1;
          return left >= 0
            ? Promise.reject(new ObjectStoreUnavailable('ENOSPC', 'put'))
            : w.deps.objectStore.put(name, bytes);
        },
      },
    });
  };

  test('for a moment: the same attempt tries again', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents(summaries(1, 5, key), 5));
    const worker = w.process({ objectStore: full(2), limits: patient });
    assert.equal(committed(await query(w, capture, worker)).documents, 5);
  });

  test('for longer: the database keeps the bytes until it works, and no call is made', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents(summaries(1, 5, key), 5));
    const before = w.government.calls;
    const activity = await nextActivity(w, capture);
    const down = w.process({ objectStore: full(Number.POSITIVE_INFINITY) });
    await assert.rejects(activity.attempt(down), { type: 'ObjectStoreUnavailable' });
    await assert.rejects(activity.attempt(down), { type: 'ObjectStoreUnavailable' });
    assert.equal((await rowOf(w, capture)).state.ultNsu, nsu(0), 'no row without its object');
    const result = committed(await activity.attempt(w.activities));
    assert.equal(result.documents, 5);
    assert.equal(w.government.calls - before, 1);
    const { rows } = await w.db.query<{ objectKey: string; body: Buffer | null }>(
      `select a.object_key as "objectKey", l.body from archives a join calls l on l.archive_id = a.id where a.company_id = $1`,
      [capture.companyId],
    );
    assert.equal(rows[0]?.body, null);
    assert.ok((await w.deps.objectStore.get(rows[0]?.objectKey ?? '')).length > 0);
  });
});

test('an error that Temporal is told of holds neither values nor our words about them', async () => {
  const capture = await newCapture(w);
  const secret = 'segredo 11222333000181';
  const activity = await nextActivity(w, capture);
  w.government.answers(() => {
    throw new Error(secret);
  });
  await assert.rejects(activity.attempt(w.activities), (failure: Error) => {
    assert.ok(!JSON.stringify([failure.message, failure.stack]).includes('11222333'), failure.stack);
    return true;
  });
});
