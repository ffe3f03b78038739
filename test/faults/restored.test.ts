import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CallAnswer } from '../../src/government/types.js';
import type { CaptureKey } from '../../src/model/words.js';
import { documents, none, nsu, summaries } from '../activities/government.js';
import { asked, one, PointActivity } from '../activities/point-support.js';
import {
  Activity,
  alertsOf,
  committed,
  dies,
  dyingAt,
  eventsOf,
  newCapture,
  nextActivity,
  query,
  refused,
  rowOf,
  run,
  world,
} from '../activities/support.js';
import { key, note } from '../documents/samples.js';

/** A database that comes back older than it was: the workflow knows more, and nobody calls. */
const w = await world();

test('a restore that lost a page', async () => {
  const capture = await newCapture(w);
  w.government.answers(documents(summaries(1, 5, key), 5, 9), none(5));
  const backup = await rowOf(w, capture);
  const { snapshot } = committed(await query(w, capture));
  await restore(backup);
  const before = w.government.calls;
  const ahead = new Activity({ capture, ultNsu: snapshot.state.ultNsu, revision: snapshot.revision });
  const refusal = refused(await ahead.attempt(w.activities));
  assert.equal(refusal.refusal.reason, 'database_behind');
  assert.equal(refusal.snapshot.state.ultNsu, nsu(0));
  assert.equal(w.government.calls, before);

  // The workflow says so to people.
  await run(w.activities.captureRow.markCapture, {
    capture,
    phase: 'attention',
    reason: 'the database is older than this workflow',
    alert: { code: 'database_behind', open: true },
  });
  assert.deepEqual(await alertsOf(w, capture.companyId), ['database_behind']);
  assert.ok((await eventsOf(w, capture.companyId)).includes('capture_alert/database_behind'));
});

test('a restore that lost only a 137: the cursor is the same, the wait is not', async () => {
  const capture = await newCapture(w);
  w.government.answers(none());
  const backup = await rowOf(w, capture);
  const { snapshot } = committed(await query(w, capture));
  await restore(backup);
  const before = w.government.calls;
  const ahead = new Activity({ capture, ultNsu: snapshot.state.ultNsu, revision: snapshot.revision });
  assert.equal(refused(await ahead.attempt(w.activities)).refusal.reason, 'database_behind');
  assert.equal(w.government.calls, before);
});

test('a workflow that was reset to before the last page is told, and calls nobody', async () => {
  const capture = await newCapture(w);
  w.government.answers(documents(summaries(1, 5, key), 5, 9));
  const { state, revision } = await rowOf(w, capture);
  await query(w, capture);
  const before = w.government.calls;
  const reset = new Activity({ capture, ultNsu: state.ultNsu, revision });
  const refusal = refused(await reset.attempt(w.activities));
  assert.equal(refusal.refusal.reason, 'stale');
  assert.equal(refusal.snapshot.state.ultNsu, nsu(5));
  assert.equal(w.government.calls, before);
});

describe('a failover in the middle of a call, to a replica that had not got its row yet', () => {
  /** The process whose call is in the air when the database goes back to how it was before. */
  const losing = (backup: Awaited<ReturnType<typeof rowOf>>) =>
    w.process({ failpoint: (place) => (place === 'after_send' ? restore(backup) : undefined) });

  const attempts = async (capture: CaptureKey, answer: CallAnswer) => {
    w.government.answers(answer);
    const backup = await rowOf(w, capture);
    const activity = await nextActivity(w, capture);
    const before = w.government.calls;
    await assert.rejects(activity.attempt(losing(backup)));
    const result = committed(await activity.attempt(w.activities));
    return { activity, result, calls: w.government.calls - before };
  };

  test('an empty queue: what Temporal remembers of the call is enough not to make it twice', async () => {
    const capture = await newCapture(w);
    const { activity, result, calls } = await attempts(capture, none());
    assert.equal(calls, 1);
    assert.equal(result.outcome, 'none', 'its answer was put aside');
    const { state } = await rowOf(w, capture);
    assert.ok((state.lawfulFrom ?? 0) > (await w.clock.now()) + 59 * 60_000);
    assert.deepEqual(committed(await activity.attempt(w.activities)), result);
  });

  test('a page: its documents are stored, and the cursor moves once', async () => {
    const capture = await newCapture(w);
    const { result, calls } = await attempts(capture, documents(summaries(1, 5, key), 5, 9));
    assert.deepEqual([calls, result.outcome, result.documents], [1, 'documents', 5]);
    assert.equal((await rowOf(w, capture)).ultNsu, nsu(5));
  });

  test('and without the answer it is an unknown call, which is waited out', async () => {
    const capture = await newCapture(w);
    w.government.answers(none());
    const backup = await rowOf(w, capture);
    const activity = await nextActivity(w, capture);
    const before = w.government.calls;
    await dies(
      activity.attempt(
        w.process({
          failpoint: async (place) => {
            if (place !== 'after_send') return;
            await restore(backup);
            dyingAt(place)(place);
          },
        }),
      ),
    );
    assert.equal(committed(await activity.attempt(w.activities)).outcome, 'unknown');
    // By then the process that made it has let go of its connection.
    w.clock.advance(2 * 60_000);
    assert.equal(refused(await query(w, capture)).refusal.reason, 'too_early');
    assert.equal(w.government.calls - before, 1);
  });

  test('where somebody else has asked since, the lost call changes nothing and is not made again', async () => {
    const capture = await newCapture(w);
    w.government.answers(none());
    const backup = await rowOf(w, capture);
    const activity = await nextActivity(w, capture);
    await assert.rejects(activity.attempt(losing(backup)));
    w.government.answers(none());
    committed(await query(w, capture));
    const before = w.government.calls;
    assert.equal(refused(await activity.attempt(w.activities)).refusal.reason, 'stale');
    assert.equal(w.government.calls, before);
  });

  test('a point query: it is not asked twice, and its slot stays taken', async () => {
    const capture = await newCapture(w);
    w.government.answers(one({ nsu: 5, xml: note({ key: key(99_001) }), schema: 'procNFe_v4.00.xsd' }));
    const backup = await rowOf(w, capture);
    const activity = new PointActivity({ capture, ask: { nsu: nsu(5) } }, backup.revision);
    const before = w.government.calls;
    await assert.rejects(activity.attempt(losing(backup)));
    const result = asked(await activity.attempt(w.activities));
    assert.deepEqual([result.outcome, result.documentIds.length], ['documents', 1]);
    assert.equal(w.government.calls - before, 1);
    assert.equal((await rowOf(w, capture)).state.quota.grants.length, 1);
  });
});

async function restore(row: Awaited<ReturnType<typeof rowOf>>): Promise<void> {
  await w.db.query('delete from calls where company_id = $1', [row.companyId]);
  await w.db.query(
    `update captures set state = $2, revision = $3, ult_nsu = $4, max_nsu = $4, phase = $5, not_before = null, call_id = null,
       call_deadline = null, distribution_call_id = null where company_id = $1`,
    [row.companyId, JSON.stringify(row.state), row.revision, row.ultNsu, row.phase],
  );
}
