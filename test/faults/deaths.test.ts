import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { documents, none, nsu, summaries } from '../activities/government.js';
import {
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
import { DEATHS } from './death-table.js';

/** The table of deaths in docs/architecture.md: whatever dies where, one row makes at most one call, and no answer is lost. */
const w = await world();

const page = () => documents(summaries(11, 20, key), 20, 30);

describe('a process that dies', () => {
  for (const { at, sent, outcome, callsInAll } of DEATHS) {
    test(`${at}: the next attempt says ${outcome}, ${callsInAll} calls in all`, async () => {
      const capture = await newCapture(w);
      w.government.answers(page());
      const before = w.government.calls;
      const activity = await nextActivity(w, capture);
      await dies(activity.attempt(w.process({ failpoint: dyingAt(at) })));
      assert.equal(w.government.calls - before, sent);

      const result = committed(await activity.attempt(w.activities));
      assert.equal(result.outcome, outcome);
      assert.equal(w.government.calls - before, callsInAll);
      assert.equal(await count(w, 'documents', capture.companyId), outcome === 'documents' ? 10 : 0);
      assert.equal(await count(w, 'events', capture.companyId), outcome === 'documents' ? 10 : 0);

      const third = committed(await activity.attempt(w.activities));
      assert.deepEqual(third, result, 'a further attempt gives the stored result');
      assert.equal(w.government.calls - before, callsInAll);
      assert.equal(await count(w, 'calls', capture.companyId), 1);
    });
  }

  test('inside the transaction that stores a small answer: nothing stood outside it, so the call is unknown', async () => {
    const capture = await newCapture(w);
    w.government.answers(none());
    const before = w.government.calls;
    const activity = await nextActivity(w, capture);
    await dies(activity.attempt(w.process({ failpoint: dyingAt('inside_transaction') })));
    // An error that a process lives to see is not a death: it had put the bytes aside for the next attempt.
    await w.deps.objectStore.deletePrefix(`${capture.companyId}/`);
    assert.equal(committed(await activity.attempt(w.activities)).outcome, 'unknown');
    assert.equal(w.government.calls - before, 1);
  });

  test('and takes its workflow along: another run waits for the lease, settles what it finds, and asks only then', async () => {
    const capture = await newCapture(w);
    w.government.answers(page());
    const before = w.government.calls;
    await dies((await nextActivity(w, capture)).attempt(w.process({ failpoint: dyingAt('after_archive') })));

    const other = await nextActivity(w, capture);
    await assert.rejects(other.attempt(w.activities), { type: 'lease_taken' });
    w.clock.advance(5 * 60_000 + 31_000);
    const settled = refused(await other.attempt(w.activities));
    assert.equal(settled.refusal.reason, 'stale');
    assert.equal(settled.snapshot.state.ultNsu, nsu(20), 'the page of the dead run is committed');
    assert.equal(w.government.calls - before, 1);

    w.government.answers(documents(summaries(21, 30, key), 30));
    assert.equal(committed(await query(w, capture)).snapshot.state.ultNsu, nsu(30));
    assert.equal(await count(w, 'documents', capture.companyId), 20);
  });

  test('its answer, found later, counts from when it was found: the wait that follows is never too short', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents(summaries(1, 20, key), 20));
    await dies((await nextActivity(w, capture)).attempt(w.process({ failpoint: dyingAt('after_archive') })));
    w.clock.advance(5 * 60_000 + 31_000);
    const foundAt = await w.clock.now();
    const { state } = refused(await query(w, capture)).snapshot;
    assert.equal(state.ultNsu, nsu(20));
    assert.ok((state.nextQueryAt ?? 0) >= foundAt + 3_600_000, `${(state.nextQueryAt ?? 0) - foundAt} ms`);
  });

  test('unsettled, and no answer was stored: the other run writes unknown and its wait', async () => {
    const capture = await newCapture(w);
    w.government.answers(page());
    await dies((await nextActivity(w, capture)).attempt(w.process({ failpoint: dyingAt('after_send') })));
    w.clock.advance(5 * 60_000 + 31_000);
    const settled = refused(await query(w, capture));
    assert.equal(settled.refusal.reason, 'stale');
    assert.equal(settled.snapshot.state.unknowns, 1);
    const refusal = refused(await query(w, capture)).refusal;
    assert.equal(refusal.reason, 'too_early');
    const { callDeadline } = await rowOf(w, capture);
    assert.equal(callDeadline, null);
  });
});
