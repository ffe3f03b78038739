import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CaptureKey } from '../../src/model/words.js';
import { documents, html, nsu, summaries } from '../activities/government.js';
import { ask, asked, one, PointActivity, recover } from '../activities/point-support.js';
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
import { key, note } from '../documents/samples.js';
import { DEATHS } from './death-table.js';

/** Point queries die like distribution calls do: one row makes at most one call, no answer is lost, and the slot is never forgotten. */
const w = await world();
const MINUTE = 60_000;

let notes = 80_000;
const whole = (n: number) => ({ nsu: n, xml: note({ key: key(++notes) }), schema: 'procNFe_v4.00.xsd' });

async function pointActivity(capture: CaptureKey, n: number): Promise<PointActivity> {
  return new PointActivity({ capture, ask: { nsu: nsu(n) } }, (await rowOf(w, capture)).revision);
}

describe('a process that dies in a point query', () => {
  for (const { at, sent, outcome, callsInAll } of DEATHS) {
    test(`${at}: the next attempt says ${outcome}, ${callsInAll} calls in all`, async () => {
      const capture = await newCapture(w);
      w.government.answers(one(whole(5)));
      const before = w.government.calls;
      const activity = await pointActivity(capture, 5);
      await dies(activity.attempt(w.process({ failpoint: dyingAt(at) })));
      assert.equal(w.government.calls - before, sent);
      const result = asked(await activity.attempt(w.activities));
      assert.equal(result.outcome, outcome);
      assert.equal(result.documentIds.length, outcome === 'documents' ? 1 : 0);
      assert.equal(w.government.calls - before, callsInAll);
      assert.equal(await count(w, 'events', capture.companyId), outcome === 'documents' ? 1 : 0);
      assert.deepEqual(
        asked(await activity.attempt(w.activities)),
        result,
        'a further attempt gives the stored result',
      );
      assert.equal((await rowOf(w, capture)).state.quota.grants.length, 1, 'the slot is taken either way');
    });
  }
});

describe('point query and page', () => {
  test('a late page is committed although a point query came after its call was given up', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents(summaries(11, 20, key), 20));
    const page = await nextActivity(w, capture);
    let late: (() => Promise<unknown>) | null = null;
    // The process that made the call goes on after another one settled it: its commit comes last.
    const slow = w.process({
      failpoint: async (name) => {
        if (name === 'after_archive') await new Promise<void>((resolve) => (late = async () => resolve()));
      },
    });
    const made = page.attempt(slow);
    while (!late) await new Promise((resolve) => setTimeout(resolve, 10));
    // Its object is not seen (the store is the slow one's), so it is given up as unknown.
    const { rows } = await w.db.query<{ key: string }>('select archive_key as key from calls where company_id = $1', [
      capture.companyId,
    ]);
    const kept = await w.deps.objectStore.get(rows[0]?.key ?? '');
    await w.deps.objectStore.delete(rows[0]?.key ?? '');
    w.clock.advance(6 * MINUTE);
    w.government.answers(one(whole(3)));
    assert.equal(asked(await ask(w, capture, 3)).outcome, 'documents');
    await w.deps.objectStore.put(rows[0]?.key ?? '', kept);
    await (late as () => Promise<unknown>)();
    assert.equal(committed(await made).outcome, 'documents');
    assert.equal((await rowOf(w, capture)).state.ultNsu, nsu(20));
    assert.equal(await count(w, 'documents', capture.companyId), 11);
  });

  test('a point call in the air keeps distribution out until its lease ends, and is settled first then', async () => {
    const capture = await newCapture(w);
    w.government.answers(one(whole(5)));
    const point = await pointActivity(capture, 5);
    await dies(point.attempt(w.process({ failpoint: dyingAt('after_archive') })));
    const page = await nextActivity(w, capture);
    await assert.rejects(page.attempt(w.activities), { type: 'lease_taken' });
    w.clock.advance(6 * MINUTE);
    assert.equal(refused(await page.attempt(w.activities)).refusal.reason, 'stale');
    assert.equal(await count(w, 'documents', capture.companyId), 1, 'its archive was found and stored');
    w.government.answers(documents(summaries(11, 20, key), 20));
    assert.equal(committed(await query(w, capture)).outcome, 'documents');
    assert.equal(w.government.overlap, 1);
  });

  test('an item whose attempt died is not asked for twice at once, and its attempt counts', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents(summaries(11, 12, key), 13));
    committed(await query(w, capture));
    w.government.answers(html());
    await dies(recover(w, capture, w.process({ failpoint: dyingAt('after_send') })));
    w.clock.advance(6 * MINUTE);
    const calls = w.government.calls;
    assert.equal((await recover(w, capture)).kind, 'nothing_due', 'it waits after its attempt in vain');
    assert.equal(w.government.calls, calls);
    w.clock.advance(2 * MINUTE);
    w.government.answers(one(whole(13)));
    assert.equal(asked(await recover(w, capture)).outcome, 'documents');
    const { rows } = await w.db.query(`select attempts, status from gaps where company_id = $1 and cause = 'page'`, [
      capture.companyId,
    ]);
    assert.deepEqual(rows, [{ attempts: 1, status: 'recovered' }]);
  });
});
