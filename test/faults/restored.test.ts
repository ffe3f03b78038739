import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documents, none, nsu, summaries } from '../activities/government.js';
import {
  Activity,
  alertsOf,
  committed,
  eventsOf,
  newCapture,
  query,
  refused,
  rowOf,
  run,
  world,
} from '../activities/support.js';
import { key } from '../documents/samples.js';

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

async function restore(row: Awaited<ReturnType<typeof rowOf>>): Promise<void> {
  await w.db.query('delete from calls where company_id = $1', [row.companyId]);
  await w.db.query(
    `update captures set state = $2, revision = $3, ult_nsu = $4, max_nsu = $4, phase = $5, not_before = null, call_id = null,
       call_deadline = null, distribution_call_id = null where company_id = $1`,
    [row.companyId, JSON.stringify(row.state), row.revision, row.ultNsu, row.phase],
  );
}
