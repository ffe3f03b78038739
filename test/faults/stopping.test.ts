import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { documents, none, nothing, summaries } from '../activities/government.js';
import { committed, count, newCapture, nextActivity, query, rowOf, world } from '../activities/support.js';
import { key } from '../documents/samples.js';
import { until } from '../support/until.js';

const w = await world();

describe('a worker that stops gracefully', () => {
  test('begins nothing', async () => {
    const capture = await newCapture(w);
    const activity = await nextActivity(w, capture);
    const attempt = activity.attempt(w.process({ failpoint: () => assert.fail('begun') }), 'stopped');
    await assert.rejects(attempt, { type: 'stopping', nonRetryable: false });
    assert.equal(await count(w, 'calls', capture.companyId), 0);
  });

  test('drops a call that it recorded and did not send: it counts as nothing, and the next query follows at once', async () => {
    const capture = await newCapture(w);
    w.government.answers(none());
    const before = w.government.calls;
    const activity = await nextActivity(w, capture);
    const stopping = w.process({
      failpoint: (name) => {
        if (name === 'after_record') activity.environment.cancel('WORKER_SHUTDOWN');
      },
    });
    const dropped = committed(await activity.attempt(stopping));
    assert.equal(dropped.outcome, 'not_sent');
    assert.equal(dropped.snapshot.state.failures, 0);
    assert.equal(w.government.calls - before, 0);
    assert.equal((await rowOf(w, capture)).callDeadline, null);
    assert.equal(committed(await query(w, capture)).outcome, 'none');
    assert.equal(w.government.calls - before, 1);
  });

  test('cuts a connection that is still being made', async () => {
    const capture = await newCapture(w);
    const activity = await nextActivity(w, capture);
    const connecting = {
      ...w.government,
      read: w.government.read,
      ask: ({ signal }: { signal: AbortSignal }) =>
        new Promise<ReturnType<typeof nothing>>((resolve) => {
          signal.addEventListener('abort', () => resolve(nothing('not_sent', 'connect aborted')));
          activity.environment.cancel('WORKER_SHUTDOWN');
        }),
    };
    const dropped = committed(await activity.attempt(w.process({ services: { nfe: connecting } })));
    assert.equal(dropped.outcome, 'not_sent');
    assert.equal(dropped.snapshot.state.failures, 0);
  });

  test('waits for a call that it sent', async () => {
    const capture = await newCapture(w);
    const activity = await nextActivity(w, capture);
    let cut = false;
    let answer = () => {};
    w.government.answers(
      ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            cut = true;
          });
          answer = () => resolve(documents(summaries(1, 3, key), 3));
        }),
    );
    const before = w.government.calls;
    const flying = activity.attempt(w.activities);
    await until(() => w.government.calls === before + 1, 'the call');
    activity.environment.cancel('WORKER_SHUTDOWN');
    answer();
    assert.equal(committed(await flying).documents, 3);
    assert.equal(cut, false);
  });
});
