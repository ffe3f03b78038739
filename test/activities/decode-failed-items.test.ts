import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeItem } from '../../src/documents/index.js';
import type { DecodeItem } from '../../src/model/document.js';
import { key, summary } from '../documents/samples.js';
import { documents } from './government.js';
import { alertsOf, count, eventsOf, newCapture, query, rowOf, run, world } from './support.js';

const MINUTE = 60_000;
const w = await world();

/** A version that cannot read anything yet. */
const older: DecodeItem = () => ({ ok: false, failure: 'internal', detail: 'not known yet' });

describe('items that failed', () => {
  test('are decoded again from the archive when their time has come, and told then', async () => {
    const capture = await newCapture(w);
    const page = [1, 2, 3].map((n) => ({ nsu: n, xml: summary({ key: key(n) }) }));
    w.government.answers(documents(page, 3));
    await query(w, capture, w.process({ decodeItem: older }));
    assert.equal(await count(w, 'documents', capture.companyId), 0);

    const newer = w.activities.housekeeping.decodeFailedItems;
    assert.deepEqual(await run(newer), { resolved: 0, stillFailing: 0 }, 'not yet');
    w.clock.advance(31 * MINUTE);
    assert.deepEqual(await run(newer), { resolved: 3, stillFailing: 0 });
    assert.equal(await count(w, 'documents', capture.companyId), 3);
    assert.equal(await count(w, 'usage_records', capture.companyId), 3);
    assert.deepEqual(await eventsOf(w, capture.companyId), [
      'capture_alert/item_failed',
      ...Array(3).fill('product_invoice_inbound_summary/issued_successfully'),
    ]);
    assert.deepEqual(await alertsOf(w, capture.companyId), []);
    assert.equal((await rowOf(w, capture)).documents, 3);
    const { rows } = await w.db.query(
      `select from failed_items f join documents d on d.id = f.document_id and d.nsu = f.nsu
       where f.company_id = $1 and f.resolved_at is not null`,
      [capture.companyId],
    );
    assert.equal(rows.length, 3);
    assert.deepEqual(await run(newer), { resolved: 0, stillFailing: 0 });
  });

  test('those that still fail wait twice as long each time, at most a day', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents([{ nsu: 1, base64: '!!' }], 1));
    await query(w, capture);
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      const { rows } = await w.db.query<{ next: number }>(
        'select next_attempt_at as next from failed_items where company_id = $1',
        [capture.companyId],
      );
      const wait = (rows[0]?.next ?? 0) - (await w.clock.now());
      waits.push(Math.round(wait / MINUTE));
      w.clock.advance(wait + 1_000);
      assert.deepEqual(await run(w.activities.housekeeping.decodeFailedItems), { resolved: 0, stillFailing: 1 });
    }
    assert.deepEqual(waits, [30, 60, 120, 240, 480, 960, 1440, 1440]);
  });

  test('one that the database refuses does not keep the others waiting', async () => {
    const capture = await newCapture(w);
    const page = [1, 2].map((n) => ({ nsu: n, xml: summary({ key: key(n) }) }));
    w.government.answers(documents(page, 2));
    await query(w, capture, w.process({ decodeItem: older }));
    w.clock.advance(31 * MINUTE);
    let first = true;
    const sick: DecodeItem = (item, type) => {
      const decoded = decodeItem(item, type);
      if (!decoded.ok || !first) return decoded;
      first = false;
      return { ...decoded, document: { ...decoded.document, metadata: { uf: '\u0000' } } };
    };
    const { decodeFailedItems } = w.process({ decodeItem: sick }).housekeeping;
    assert.deepEqual(await run(decodeFailedItems), { resolved: 1, stillFailing: 1 });
    assert.deepEqual(await alertsOf(w, capture.companyId), ['item_failed']);
  });

  test('one whose archive is gone says so', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents([{ nsu: 1, base64: '!!' }], 1));
    await query(w, capture);
    await w.deps.objectStore.deletePrefix(`${capture.companyId}/`);
    w.clock.advance(31 * MINUTE);
    await run(w.activities.housekeeping.decodeFailedItems);
    const { rows } = await w.db.query('select detail from failed_items where company_id = $1', [capture.companyId]);
    assert.deepEqual(rows, [{ detail: 'its archive is gone' }]);
  });
});

test('the sweep makes partitions ahead and forgets what is old', async () => {
  const { removed } = await run(w.activities.housekeeping.sweep);
  assert.equal(removed, 0);
  const { rows } = await w.db.query(`select relname from pg_class where relname ~ '^calls_[0-9]{8}$'`);
  assert.equal(rows.length, 4);
  const capture = await newCapture(w);
  w.government.answers(documents([{ nsu: 1, xml: summary({ key: key(1) }) }], 1));
  await query(w, capture);
  w.clock.advance(100 * 24 * 60 * MINUTE);
  assert.ok((await run(w.activities.housekeeping.sweep)).removed > 0);
  assert.equal(await count(w, 'calls', capture.companyId), 0);
  assert.equal(await count(w, 'documents', capture.companyId), 1);
});
