import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RECOVERY_ATTEMPTS } from '../../src/cadence/index.js';
import { POINT_DOCUMENTS_PER_HOUR } from '../../src/model/point-quota.js';
import type { CaptureKey } from '../../src/model/words.js';
import { type Gap, insertGaps } from '../../src/storage/gaps.js';
import { docZip, key, note, summary } from '../documents/samples.js';
import { documents, html, none, nothing, nsu, refusal, summaries, throttled } from './government.js';
import { ask, asked, nobody, one, recover, refusalIn } from './point-support.js';
import { alertsOf, committed, HOUR, MINUTE, newCapture, query, rowOf, run, world } from './support.js';

const w = await world();

/** A capture whose first page left out these numbers below 100. */
async function missing(...gaps: (number | [number, number])[]): Promise<CaptureKey> {
  const capture = await newCapture(w);
  w.government.answers(
    documents(
      summaries(100, 100, () => key(9_000_000)),
      100,
    ),
  );
  committed(await query(w, capture));
  await add(capture, ...gaps);
  return capture;
}

async function add(capture: CaptureKey, ...gaps: (number | [number, number])[]): Promise<void> {
  const rows = gaps.map((gap): Gap => {
    const [from, to] = typeof gap === 'number' ? [gap, gap] : gap;
    return { from: nsu(from), to: nsu(to), status: 'pending', cause: 'page' };
  });
  const now = await w.clock.now();
  await w.db.transaction((tx) => insertGaps(tx, capture, rows, now));
}

async function gapsOf(capture: CaptureKey): Promise<Record<string, string>> {
  const { rows } = await w.db.query<{ range: string; status: string }>(
    `select case when from_nsu = to_nsu then from_nsu::text else from_nsu || '-' || to_nsu end as range, status from gaps
     where company_id = $1 and status <> 'before_onboarding' order by from_nsu`,
    [capture.companyId],
  );
  return Object.fromEntries(rows.map(({ range, status }) => [range, status]));
}

const attempts = async (capture: CaptureKey) =>
  (
    await w.db.query<{ attempts: number; next: number | null; code: string | null }>(
      `select attempts, next_attempt_at as next, last_status_code as code from gaps
       where company_id = $1 and status <> 'before_onboarding' order by from_nsu`,
      [capture.companyId],
    )
  ).rows[0];

/** The number that was asked for last. */
const lastAsked = () => {
  const point = w.government.journal.at(-1)?.point;
  return point && 'nsu' in point ? Number(point.nsu) : null;
};

let notes = 50_000;
const whole = (n: number) => ({ nsu: n, xml: note({ key: key(++notes) }), schema: 'procNFe_v4.00.xsd' });

describe('recovery', () => {
  test('asks for the lowest number first, stores it as recovered, and says when it is due again', async () => {
    const capture = await missing(40, 38, [30, 31]);
    assert.ok((await rowOf(w, capture)).recoveryAt !== null);
    const order: (number | null)[] = [];
    for (let i = 0; i < 4; i++) {
      w.government.answers(({ point }) => one(whole(point && 'nsu' in point ? Number(point.nsu) : 0)));
      const result = asked(await recover(w, capture));
      order.push(lastAsked());
      assert.equal(result.snapshot.recovery === null, i === 3);
    }
    assert.deepEqual(order, [30, 31, 38, 40]);
    assert.deepEqual(await gapsOf(capture), { 30: 'recovered', 31: 'recovered', 38: 'recovered', 40: 'recovered' });
    assert.equal((await recover(w, capture)).kind, 'nothing_due');
    const { rows } = await w.db.query(
      `select count(*)::int as n from documents where company_id = $1 and origin = 'recovery'`,
      [capture.companyId],
    );
    assert.equal(rows[0]?.n, 4);
  });

  test('137 closes an item for good (case C23)', async () => {
    const capture = await missing(40);
    w.government.answers(nobody());
    assert.equal(asked(await recover(w, capture)).outcome, 'none');
    assert.deepEqual(await gapsOf(capture), { 40: 'nonexistent' });
    assert.equal((await rowOf(w, capture)).recoveryAt, null);
  });

  test('ranges are expanded 100 at a time, and documents that are here are not asked for', async () => {
    const capture = await missing([1, 250]);
    await w.db.query(`update documents set nsu = 2 where company_id = $1 and nsu = 100`, [capture.companyId]);
    w.government.answers(nobody());
    asked(await recover(w, capture));
    const gaps = await gapsOf(capture);
    assert.deepEqual([gaps['1'], gaps['2'], gaps['3'], gaps['100']], ['nonexistent', undefined, 'pending', 'pending']);
    assert.equal(gaps['101-250'], 'pending');
    assert.equal(Object.keys(gaps).length, 100);
  });

  test('a range of 101 leaves no rest', async () => {
    const capture = await missing([1, 101]);
    w.government.answers(nobody());
    asked(await recover(w, capture));
    const gaps = await gapsOf(capture);
    assert.deepEqual([Object.keys(gaps).length, gaps['101']], [100, 'pending'], 'all but 100, which is here');
  });

  test('an item whose document came otherwise is closed without a question', async () => {
    const capture = await missing(100, 40);
    w.government.answers(nobody());
    asked(await recover(w, capture));
    assert.deepEqual([lastAsked(), await gapsOf(capture)], [40, { 40: 'nonexistent', 100: 'recovered' }]);
  });

  test("a person's question closes the item too; its failure is no attempt", async () => {
    const capture = await missing(40, 41);
    w.government.answers(html());
    asked(await ask(w, capture, 40));
    assert.equal((await attempts(capture))?.attempts, 0);
    w.government.answers(one(whole(40)));
    asked(await ask(w, capture, 40));
    w.government.answers(nobody());
    asked(await ask(w, capture, 41));
    assert.deepEqual(await gapsOf(capture), { 40: 'recovered', 41: 'nonexistent' });
  });

  test('answers in vain wait 1, 2, 4 … 30 minutes and a little, at most 8 times', async () => {
    const capture = await missing(40);
    const failures = [
      html(),
      refusal('999'),
      nothing('not_sent', 'x'),
      nothing('unknown', 'x'),
      refusal('280'),
      refusal('215'),
    ];
    const waits: number[] = [];
    for (let i = 0; i < RECOVERY_ATTEMPTS; i++) {
      w.government.answers(failures[i % failures.length] ?? html());
      asked(await recover(w, capture));
      const item = await attempts(capture);
      assert.equal(item?.attempts, i + 1);
      const now = await w.clock.now();
      if (item?.next) {
        waits.push((item.next - now) / MINUTE);
        assert.equal((await recover(w, capture)).kind, 'nothing_due');
        // Also past the lease of the unknown call.
        w.clock.advance(Math.max(item.next - now, 0) + 6 * MINUTE);
      }
    }
    for (const [i, least] of [1, 2, 4, 8, 16, 30, 30].entries()) {
      const wait = waits[i] ?? 0;
      assert.ok(wait > least - 0.1 && wait <= Math.min(least * 1.1, least + 3) + 0.01, `wait ${i}: ${wait} minutes`);
    }
    assert.deepEqual(await gapsOf(capture), { 40: 'exhausted' });
    assert.equal((await rowOf(w, capture)).recoveryAt, null);
  });

  test('a shut service, a 656 and a full quota are no attempts', async () => {
    const capture = await missing(40, 41);
    w.government.answers(refusal('109'));
    asked(await recover(w, capture));
    assert.equal((await attempts(capture))?.attempts, 0);
    assert.equal(refusalIn(await recover(w, capture)).reason, 'paused');
    w.clock.advance(21 * MINUTE);
    w.government.answers(throttled(0));
    asked(await recover(w, capture));
    assert.equal(refusalIn(await recover(w, capture)).reason, 'suspended');
    w.clock.advance(62 * MINUTE);
    for (let i = 0; i < POINT_DOCUMENTS_PER_HOUR; i++) {
      w.government.answers(one(whole(200 + i)));
      asked(await ask(w, capture, 200 + i));
    }
    assert.equal(refusalIn(await recover(w, capture)).reason, 'quota');
    assert.equal((await attempts(capture))?.attempts, 0);
  });

  test('leaves the slot that was announced to a person', async () => {
    const capture = await missing(40);
    for (let i = 0; i < POINT_DOCUMENTS_PER_HOUR; i++) {
      w.government.answers(one(whole(200 + i)));
      asked(await ask(w, capture, 200 + i));
      if (i === 0) w.clock.advance(10 * MINUTE);
    }
    const { reason, ...rest } = refusalIn(await ask(w, capture, 300));
    assert.equal(reason, 'quota');
    const until = 'until' in rest && rest.until !== null ? rest.until : 0;
    w.clock.advance(until - (await w.clock.now()) + 30_000);
    assert.equal(refusalIn(await recover(w, capture)).reason, 'quota');
    w.clock.advance(31_000);
    w.government.answers(nobody());
    asked(await recover(w, capture));
  });

  test('items older than 90 days are not asked for any more', async () => {
    const capture = await missing(40);
    await w.db.query(`update gaps set created_at = created_at - interval '91 days' where company_id = $1`, [
      capture.companyId,
    ]);
    assert.equal((await recover(w, capture)).kind, 'nothing_due');
  });
});

describe('an item that came broken', () => {
  const cut = (n: number) => ({
    nsu: n,
    base64: docZip(summary({ key: key(60_000 + n) }))
      .toString('latin1')
      .slice(0, 60),
  });

  test('is asked for once more; the whole copy ends it and its alert', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents([cut(1), { nsu: 2, xml: summary({ key: key(60_002) }) }], 2));
    committed(await query(w, capture));
    assert.deepEqual(await gapsOf(capture), { 1: 'pending' });
    assert.deepEqual(await alertsOf(w, capture.companyId), ['item_failed']);
    w.government.answers(one(cut(1)));
    asked(await recover(w, capture));
    assert.equal((await attempts(capture))?.attempts, 1, 'a copy that is broken as well is an attempt in vain');
    w.clock.advance(2 * MINUTE);
    w.government.answers(one(whole(1)));
    asked(await recover(w, capture));
    assert.deepEqual(await gapsOf(capture), { 1: 'recovered' });
    assert.deepEqual(await alertsOf(w, capture.companyId), []);
    const { rows } = await w.db.query(
      'select resolved_at is not null as resolved, document_id is not null as has from failed_items where company_id = $1',
      [capture.companyId],
    );
    assert.deepEqual(rows, [{ resolved: true, has: true }]);
  });

  test('that is decoded after all is not asked for', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents([cut(1)], 1));
    let broken = true;
    const decodeItem: NonNullable<(typeof w.deps)['decodeItem']> = () =>
      broken
        ? { ok: false, failure: 'gzip', detail: 'not yet' }
        : {
            ok: true,
            document: { kind: 'unknown', root: 'x', key: null, metadata: {}, event: null, implies: null, warnings: [] },
            xmlSha256: 'f'.repeat(64),
            xmlLength: 1,
          };
    const process = w.process({ decodeItem });
    committed(await query(w, capture, process));
    broken = false;
    w.clock.advance(HOUR);
    await run(process.housekeeping.decodeFailedItems);
    assert.equal((await recover(w, capture, process)).kind, 'nothing_due');
    assert.deepEqual(await gapsOf(capture), { 1: 'recovered' });
  });
});

test('a page that brings a number closes nothing else, and none is an answer to a cursor only', async () => {
  const capture = await missing(40);
  w.clock.advance(63 * MINUTE);
  w.government.answers(none(100));
  committed(await query(w, capture));
  assert.deepEqual(await gapsOf(capture), { 40: 'pending' });
});
