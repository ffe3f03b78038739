import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { initialState } from '../../src/model/capture-state.js';
import {
  disableCapture,
  enableCapture,
  holdCapture,
  restoreCapture,
  resumeCapture,
  setCursor,
} from '../../src/storage/capture-orders.js';
import { commitState } from '../../src/storage/captures.js';
import type { Transaction } from '../../src/storage/database.js';
import { key } from '../documents/samples.js';
import { documents, none, nsu, summaries, throttled } from './government.js';
import {
  Activity,
  alertsOf,
  committed,
  count,
  dies,
  dyingAt,
  eventsOf,
  giveCertificate,
  HOUR,
  MINUTE,
  newCapture,
  nextActivity,
  query,
  refused,
  rowOf,
  world,
} from './support.js';

const w = await world();

/** Asks, and proves that nothing left. */
async function refusalOf(capture: Awaited<ReturnType<typeof newCapture>>) {
  const before = w.government.calls;
  const answer = refused(await query(w, capture));
  assert.equal(w.government.calls, before);
  assert.equal(await count(w, 'calls', capture.companyId), 0, 'a refusal writes no row');
  return answer;
}

describe('the guard refuses', () => {
  test('a stopped capture, and one whose company is being deleted', async () => {
    const capture = await newCapture(w);
    await w.db.query('update captures set enabled = false where company_id = $1', [capture.companyId]);
    assert.deepEqual((await refusalOf(capture)).refusal, { reason: 'disabled' });
    const deleted = await newCapture(w);
    await w.db.query('update companies set deleting_at = now() where id = $1', [deleted.companyId]);
    assert.deepEqual((await refusalOf(deleted)).refusal, { reason: 'disabled' });
  });

  test('one that a person holds, until the hold ends by itself', async () => {
    const capture = await newCapture(w);
    const until = (await w.clock.now()) + HOUR;
    await w.db.transaction((tx) => holdCapture(tx, capture, until, until - HOUR));
    assert.deepEqual((await refusalOf(capture)).refusal, { reason: 'held', until });
    await w.db.transaction((tx) => holdCapture(tx, capture, Number.POSITIVE_INFINITY, until - HOUR));
    assert.deepEqual((await refusalOf(capture)).refusal, { reason: 'held', until: null });
    await w.db.transaction((tx) => holdCapture(tx, capture, until, until - HOUR));
    w.clock.advance(HOUR + 1_000);
    assert.equal(committed(await query(w, capture)).outcome, 'none');
  });

  test('whatever comes before the committed instant, in the column or in the state', async () => {
    const capture = await newCapture(w);
    const until = (await w.clock.now()) + HOUR;
    await w.db.query('update captures set not_before = $2 where company_id = $1', [capture.companyId, new Date(until)]);
    assert.deepEqual((await refusalOf(capture)).refusal, { reason: 'too_early', until });
    for (const field of ['nextQueryAt', 'blockedUntil'] as const) {
      const other = await newCapture(w);
      const later = (await w.clock.now()) + 2 * HOUR;
      await w.db.transaction((tx) => commitState(tx, other, { ...initialState(), [field]: later }, { now: later }));
      assert.deepEqual((await refusalOf(other)).refusal, { reason: 'too_early', until: later });
    }
  });

  test('during a block, whatever is saved or ordered meanwhile; an hour after the 656 it asks (C05, C06)', async () => {
    const capture = await newCapture(w);
    w.government.answers(throttled(0), none(0));
    const blocked = committed(await query(w, capture)).snapshot.state;
    const until = blocked.blockedUntil ?? 0;
    assert.ok(until >= (await w.clock.now()) + HOUR);
    const calls = w.government.calls;
    const refusedStill = async () => {
      const { refusal } = refused(await query(w, capture));
      assert.deepEqual(refusal, { reason: 'too_early', until });
      assert.equal(w.government.calls, calls);
    };
    const order = async (make: (tx: Transaction, now: number) => Promise<unknown>) => {
      w.clock.advance(8 * MINUTE);
      const now = await w.clock.now();
      await w.db.transaction((tx) => make(tx, now));
      await refusedStill();
    };
    await refusedStill();
    await order((tx, now) => commitState(tx, capture, { ...initialState(), phase: 'backing-off' }, { now }));
    await order((tx, now) => resumeCapture(tx, capture, now));
    await order((tx, now) => setCursor(tx, capture, nsu(0), now));
    await order(async (tx, now) => {
      await disableCapture(tx, capture, now);
      await enableCapture(tx, { capture, now, options: () => ({}) });
    });
    const long = new Date(0).toISOString();
    await order((tx, now) => enableCapture(tx, { capture, now, options: () => ({ notBefore: long }) }));
    w.clock.advance(until - (await w.clock.now()) + 1_000);
    assert.equal(committed(await query(w, capture)).outcome, 'none');
  });

  const asks = async (capture: Awaited<ReturnType<typeof newCapture>>, ultNsu: number, ahead: number) => {
    const revision = (await rowOf(w, capture)).revision + ahead;
    return refused(await new Activity({ capture, ultNsu: nsu(ultNsu), revision }).attempt(w.activities));
  };

  test('a cursor that is not the committed one', async () => {
    const capture = await newCapture(w);
    assert.equal((await asks(capture, 0, -1)).refusal.reason, 'stale');
    assert.equal((await asks(capture, 7, -1)).refusal.reason, 'stale');
    await w.db.query(`update captures set state = state || '{"ultNsu":"000000000000009"}' where company_id = $1`, [
      capture.companyId,
    ]);
    assert.equal((await asks(capture, 7, 0)).refusal.reason, 'stale');
  });

  test('whoever asks, once the database proved older than somebody knows, until it is repaired', async () => {
    for (const [ultNsu, ahead] of [
      [0, 1],
      [7, 0],
    ] as const) {
      const capture = await newCapture(w);
      const { revision } = await rowOf(w, capture);
      const first = await asks(capture, ultNsu, ahead);
      assert.equal(first.refusal.reason, 'database_behind');
      assert.deepEqual([first.snapshot.state.phase, first.snapshot.revision], ['attention', revision]);
      assert.equal((await asks(capture, 0, 0)).refusal.reason, 'database_behind', 'also who knows no more');
      assert.deepEqual(await alertsOf(w, capture.companyId), ['database_behind']);
      const now = await w.clock.now();
      const row = await w.db.transaction((tx) => restoreCapture(tx, capture, { now, hold: 62 * 60_000 }));
      assert.ok(row && row.revision > revision + 1, 'newer than what was lost');
      assert.equal((await asks(capture, ultNsu, ahead - 2)).refusal.reason, 'stale', 'who knew more adopts');
      assert.deepEqual((await asks(capture, 0, 0)).refusal, { reason: 'too_early', until: now + 62 * 60_000 });
    }
  });

  test('nobody for ever because of a call that a backup holds without an end: its page is committed first', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents(summaries(1, 3, key), 3));
    const lost = await nextActivity(w, capture);
    await dies(lost.attempt(w.process({ failpoint: dyingAt('after_archive') })));
    const now = await w.clock.now();
    await w.db.transaction((tx) => restoreCapture(tx, capture, { now, hold: 62 * 60_000 }));
    w.clock.advance(HOUR);
    assert.equal(refused(await query(w, capture)).refusal.reason, 'stale', 'the cursor has moved');
    assert.equal(await count(w, 'documents', capture.companyId), 3);
    assert.equal(refused(await query(w, capture)).refusal.reason, 'too_early', 'the hold is not shortened by it');
    w.clock.advance(2 * HOUR);
    w.government.answers(none());
    assert.equal(committed(await query(w, capture)).outcome, 'none');
  });

  test('nobody for ever because of a call without an end whose cursor was set by hand: it is waited out', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents(summaries(1, 3, key), 3));
    await dies((await nextActivity(w, capture)).attempt(w.process({ failpoint: dyingAt('after_archive') })));
    w.clock.advance(10 * MINUTE);
    const now = await w.clock.now();
    assert.ok((await w.db.transaction((tx) => setCursor(tx, capture, nsu(1), now))).ok);
    assert.equal(refused(await query(w, capture)).refusal.reason, 'stale');
    const { state } = await rowOf(w, capture);
    assert.deepEqual([state.ultNsu, state.unknowns], [nsu(1), 1], 'its page moves nothing');
    const calls = w.government.calls;
    assert.equal(refused(await query(w, capture)).refusal.reason, 'too_early');
    assert.equal(w.government.calls, calls);
    w.clock.advance(2 * HOUR);
    w.government.answers(documents(summaries(2, 3, key), 3));
    assert.equal(committed(await query(w, capture)).outcome, 'documents');
  });

  test('a worker on another time scale', async () => {
    const capture = await newCapture(w);
    const before = w.government.calls;
    await assert.rejects(query(w, capture, w.process({ timeScale: 60 })), {
      type: 'time_scale_mismatch',
      nonRetryable: false,
    });
    assert.equal(w.government.calls, before);
  });

  test('an unknown capture', async () => {
    const { documentType, environment } = await newCapture(w);
    const capture = { companyId: '00000000-0000-7000-8000-000000000000', documentType, environment };
    const activity = new Activity({ capture, ultNsu: nsu(0), revision: 0 });
    await assert.rejects(activity.attempt(w.activities), { type: 'company_unknown', nonRetryable: true });
  });
});

describe('without a usable certificate', () => {
  test('the row says so, the customer is told once, and it goes on by itself', async () => {
    const capture = await newCapture(w, { certificate: false });
    const { companyId } = capture;
    const first = await refusalOf(capture);
    assert.deepEqual(first.refusal, { reason: 'certificate', problem: 'missing', until: null });
    assert.equal(first.snapshot.state.phase, 'certificate');
    const second = await refusalOf(capture);
    assert.equal(second.snapshot.revision, first.snapshot.revision, 'said once');
    assert.deepEqual(await alertsOf(w, companyId), ['certificate_expired']);
    assert.deepEqual(await eventsOf(w, companyId), ['capture_alert/certificate_expired']);

    w.government.answers(documents(summaries(1, 2, key), 2));
    await giveCertificate(w, companyId);
    const result = committed(await query(w, capture));
    assert.equal(result.snapshot.state.phase, 'waiting');
    assert.deepEqual(await alertsOf(w, companyId), []);
  });

  test('expired, not yet valid, and one of the same root', async () => {
    const capture = await newCapture(w, { certificate: false });
    const now = await w.clock.now();
    await giveCertificate(w, capture.companyId, { from: now - 2 * HOUR, to: now - HOUR });
    assert.deepEqual((await refusalOf(capture)).refusal, { reason: 'certificate', problem: 'expired', until: null });
    await giveCertificate(w, capture.companyId, { from: now + HOUR });
    const later = (await refusalOf(capture)).refusal;
    assert.deepEqual(later, { reason: 'certificate', problem: 'not_yet_valid', until: now + HOUR });
    w.clock.advance(HOUR + 1_000);
    w.government.answers(none());
    assert.equal(committed(await query(w, capture)).outcome, 'none');
  });

  test('what people ordered is said first, what is merely early last', async () => {
    const capture = await newCapture(w, { certificate: false });
    const until = (await w.clock.now()) + HOUR;
    await w.db.query('update captures set not_before = $2 where company_id = $1', [capture.companyId, new Date(until)]);
    assert.equal((await refusalOf(capture)).refusal.reason, 'certificate');
    await w.db.transaction((tx) => holdCapture(tx, capture, Number.POSITIVE_INFINITY, until));
    assert.equal((await refusalOf(capture)).refusal.reason, 'held');
  });
});
