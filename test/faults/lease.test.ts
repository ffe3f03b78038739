import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { createActivities } from '../../src/activities/index.js';
import { createDatabase } from '../../src/storage/database.js';
import { ObjectNotFound, type ObjectStore } from '../../src/storage/object-store/index.js';
import { documents, none, nothing, nsu, summaries } from '../activities/government.js';
import {
  Activity,
  committed,
  count,
  dies,
  dyingAt,
  newCapture,
  nextActivity,
  query,
  refused,
  rowOf,
  world,
} from '../activities/support.js';
import { key } from '../documents/samples.js';
import { until } from '../support/until.js';

const w = await world();

describe('one call in flight per capture', () => {
  test('of many that begin at once, in many processes, exactly one calls', async () => {
    const capture = await newCapture(w);
    let answer = () => {};
    const answering = new Promise<void>((resolve) => {
      answer = resolve;
    });
    w.government.answers(async () => {
      await answering;
      return none();
    });
    const before = w.government.calls;
    const { state, revision } = await rowOf(w, capture);
    const attempts = Array.from({ length: 8 }, () =>
      new Activity({ capture, ultNsu: state.ultNsu, revision }, randomUUID()).attempt(w.process({})),
    );
    const results = Promise.allSettled(attempts);
    await until(() => w.government.calls === before + 1, 'one call');
    answer();
    const settled = await results;
    const took = settled.filter(({ status }) => status === 'fulfilled');
    const refusedOnes = settled.filter(
      (one) => one.status === 'rejected' && (one.reason as { type?: string }).type === 'lease_taken',
    );
    // A latecomer may find the call answered already: then it is told that it is stale.
    const stale = took.filter((one) => one.status === 'fulfilled' && one.value.kind === 'refused');
    assert.equal(took.length - stale.length, 1);
    assert.equal(took.length + refusedOnes.length, 8);
    assert.equal(w.government.calls - before, 1);
    assert.equal(w.government.overlap, 1);
  });

  test('the one that is told to wait looks again soon: the other call mostly ends long before its deadline', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents(summaries(1, 2, key), 2));
    await dies((await nextActivity(w, capture)).attempt(w.process({ failpoint: dyingAt('after_send') })));
    await assert.rejects(
      query(w, capture),
      (failure: { type?: string; nonRetryable?: boolean; nextRetryDelay?: number }) => {
        assert.equal(failure.type, 'lease_taken');
        assert.equal(failure.nonRetryable, false);
        assert.equal(failure.nextRetryDelay, 5_000);
        return true;
      },
    );
  });

  test('a call given up while its process may still hold the connection keeps the lease until it must have let go', async () => {
    const capture = await newCapture(w);
    const activity = await nextActivity(w, capture);
    await dies(activity.attempt(w.process({ failpoint: dyingAt('after_send') })));
    const earliest = await w.clock.now();
    assert.equal(committed(await activity.attempt(w.activities)).outcome, 'unknown');
    const latest = await w.clock.now();
    const { callDeadline } = await rowOf(w, capture);
    const kept = (callDeadline ?? 0) - 70_000;
    assert.ok(kept >= earliest && kept <= latest, `${kept - earliest} ms after the second attempt began`);
  });
});

describe('a process that lost its lease lets go', () => {
  const quick = { beat: 20, blind: 60_000 };

  test('when its row is settled by another attempt', async () => {
    const capture = await newCapture(w);
    const activity = await nextActivity(w, capture);
    let cut = false;
    w.government.answers(
      ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            cut = true;
            resolve(nothing('unknown', 'cut'));
          });
        }),
    );
    const before = w.government.calls;
    const flying = activity.attempt(w.process({ limits: quick }));
    await until(() => w.government.calls === before + 1, 'the call');
    // A second attempt of the same activity: its heartbeats did not get through.
    assert.equal(committed(await activity.attempt(w.activities)).outcome, 'unknown');
    assert.equal(committed(await flying).outcome, 'unknown');
    assert.ok(cut);
    assert.equal(w.government.calls - before, 1);
    assert.equal((await rowOf(w, capture)).state.failures, 1, 'counted once');
  });

  test('when its row cannot be read any more', async () => {
    const capture = await newCapture(w);
    const database = createDatabase({ url: w.url, applicationName: 'cut off', max: 2 });
    let blind = false;
    const cutOff = createActivities({
      ...w.deps,
      limits: { beat: 20, blind: 300, patience: 50, firstPause: 10 },
      database: {
        ...database,
        query: (text, values) => (blind ? new Promise(() => {}) : database.query(text, values)),
        transaction: (work) => (blind ? Promise.reject(new Error('cut off')) : database.transaction(work)),
      },
    });
    w.government.answers(
      ({ signal }) =>
        new Promise((resolve) => {
          blind = true;
          signal.addEventListener('abort', () => resolve(nothing('unknown', 'cut')));
        }),
    );
    const activity = await nextActivity(w, capture);
    const begun = Date.now();
    await assert.rejects(activity.attempt(cutOff));
    assert.ok(Date.now() - begun >= 300);
    await database.close();
    assert.equal(committed(await activity.attempt(w.activities)).outcome, 'unknown');
  });

  test('one that was frozen between its row and the first byte does not send', async () => {
    const capture = await newCapture(w);
    const before = w.government.calls;
    const frozen = w.process({
      limits: { sendWithin: 30 },
      failpoint: async (name) => {
        if (name === 'before_send') await new Promise((resolve) => setTimeout(resolve, 60));
      },
    });
    const result = committed(await (await nextActivity(w, capture)).attempt(frozen));
    assert.equal(result.outcome, 'not_sent');
    assert.equal(w.government.calls - before, 0);
  });
});

describe('a late answer', () => {
  async function lateAnswer(meanwhile: (capture: Awaited<ReturnType<typeof newCapture>>) => Promise<void>) {
    const capture = await newCapture(w);
    const activity = await nextActivity(w, capture);
    let arrive = () => {};
    w.government.answers(
      () =>
        new Promise((resolve) => {
          arrive = () => resolve(documents(summaries(1, 3, key), 3, 9));
        }),
    );
    const before = w.government.calls;
    // Never cut: its looks at the row do not happen.
    const flying = activity.attempt(w.process({ limits: { beat: 100_000 } }));
    await until(() => w.government.calls === before + 1, 'the call');
    assert.equal(committed(await activity.attempt(w.activities)).outcome, 'unknown');
    const { notBefore } = await rowOf(w, capture);
    await meanwhile(capture);
    arrive();
    return { capture, result: committed(await flying), notBefore };
  }

  test('still commits after its row was settled as unknown, and shortens no wait', async () => {
    const { capture, result, notBefore } = await lateAnswer(async () => {});
    assert.equal(result.outcome, 'documents');
    assert.equal(result.snapshot.state.ultNsu, nsu(3));
    assert.equal(result.snapshot.state.failures, 0);
    const row = await rowOf(w, capture);
    assert.equal(row.notBefore, notBefore);
    assert.equal(row.state.nextQueryAt, notBefore);
    assert.equal(row.phase, 'waiting');
    assert.equal(await count(w, 'documents', capture.companyId), 3);
    const { rows } = await w.db.query('select status from calls where company_id = $1', [capture.companyId]);
    assert.deepEqual(rows, [{ status: 'answered' }]);
  });

  test('changes nothing once the capture has begun another distribution call', async () => {
    const { capture, result } = await lateAnswer(async (key) => {
      w.clock.advance(70 * 60_000);
      w.government.answers(none());
      assert.equal(committed(await query(w, key)).outcome, 'none');
    });
    assert.equal(result.outcome, 'unknown', 'what its own row says');
    assert.equal(await count(w, 'documents', capture.companyId), 0);
    assert.equal((await rowOf(w, capture)).state.ultNsu, nsu(0));
  });

  test('whose object appeared in time is committed instead of calling again', async () => {
    const capture = await newCapture(w);
    const activity = await nextActivity(w, capture);
    w.government.answers(documents(summaries(1, 3, key), 3));
    const before = w.government.calls;
    await dies(activity.attempt(w.process({ failpoint: dyingAt('after_archive') })));
    // As if the object had not been visible yet when the next attempt looked.
    const hidden: ObjectStore = Object.create(w.deps.objectStore, {
      get: { value: (key: string) => Promise.reject(new ObjectNotFound(key)) },
    });
    assert.equal(committed(await activity.attempt(w.process({ objectStore: hidden }))).outcome, 'unknown');
    w.clock.advance(80 * 60_000);
    const found = refused(await query(w, capture));
    assert.equal(found.refusal.reason, 'stale');
    assert.equal(found.snapshot.state.ultNsu, nsu(3));
    assert.equal(w.government.calls - before, 1);
  });
});
