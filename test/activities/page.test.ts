import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { decodeItem } from '../../src/documents/index.js';
import type { DecodeItem } from '../../src/model/document.js';
import { event, eventSummary, key, note, summary } from '../documents/samples.js';
import { answered, body, documents, html, none, nothing, nsu, refusal, summaries, throttled } from './government.js';
import {
  alertsOf,
  committed,
  count,
  eventsOf,
  newCapture,
  nextActivity,
  query,
  refused,
  rowOf,
  run,
  world,
} from './support.js';

const w = await world();

interface GapRow {
  readonly range: string;
  readonly status: string;
  readonly cause: string;
}

async function gapsOf(companyId: string): Promise<GapRow[]> {
  const { rows } = await w.db.query<GapRow>(
    `select from_nsu || '-' || to_nsu as range, status, cause from gaps where company_id = $1 order by from_nsu`,
    [companyId],
  );
  return rows;
}

async function statesOf(companyId: string): Promise<Record<string, string>> {
  const { rows } = await w.db.query<{ nsu: string; about: string }>(
    `select nsu, state || ' ' || full_xml as about from documents where company_id = $1 order by nsu`,
    [companyId],
  );
  return Object.fromEntries(rows.map(({ nsu: at, about }) => [at, about]));
}

describe('a first load', () => {
  test('is stored page by page and then waits', async () => {
    const capture = await newCapture(w);
    w.government.answers(
      documents(summaries(1001, 1050, key), 1050, 1060),
      documents(summaries(1051, 1060, key), 1060),
      none(1060),
    );
    const before = w.government.calls;
    const first = committed(await query(w, capture));
    assert.equal(first.documents, 50);
    assert.equal(first.snapshot.state.ultNsu, nsu(1050));
    assert.equal(first.snapshot.state.phase, 'querying');
    const second = committed(await query(w, capture));
    assert.equal(second.snapshot.state.phase, 'waiting');
    assert.equal(refused(await query(w, capture)).refusal.reason, 'too_early');
    w.clock.advance(63 * 60_000);
    assert.equal(committed(await query(w, capture)).outcome, 'none');

    assert.deepEqual(
      w.government.journal.slice(before).map(({ ultNsu }) => Number(ultNsu)),
      [0, 1050, 1060],
    );
    for (const table of ['documents', 'events', 'usage_records']) {
      assert.equal(await count(w, table, capture.companyId), 60, table);
    }
    assert.equal(await count(w, 'archives', capture.companyId), 2, 'an empty answer writes no object');
    assert.deepEqual(await gapsOf(capture.companyId), [
      { range: '1-1000', status: 'before_onboarding', cause: 'first_page' },
    ]);
    const row = await rowOf(w, capture);
    assert.equal(row.documents, 60);
    assert.equal(row.callDeadline, null);
    assert.equal(row.lastStatusCode, '137');
    assert.equal(row.revision, second.snapshot.revision + 1);
  });

  test('wakes the endpoints that got deliveries, after the commit', async () => {
    const capture = await newCapture(w);
    const endpoint = randomUUID();
    await w.db.query(
      `insert into endpoints (id, url, company_ids, key_id, secret) values ($1, 'https://example.com', array[$2::uuid], 'k', '')`,
      [endpoint, capture.companyId],
    );
    w.government.answers(documents(summaries(1, 3, key), 3));
    await query(w, capture);
    assert.deepEqual(w.woken, [endpoint]);
    assert.equal(await count(w, 'deliveries', capture.companyId), 3);
  });

  test('points into its archive: every byte of a document is found again', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents([{ nsu: 1, xml: note() }], 1));
    await query(w, capture);
    const { rows } = await w.db.query<{ key: string; from: number; size: number; sha: string }>(
      `select object_key as key, byte_offset as from, byte_length as size, xml_sha256 as sha from documents where company_id = $1`,
      [capture.companyId],
    );
    const [row] = rows;
    assert.ok(row);
    const content = await w.deps.objectStore.getRange(row.key, row.from, row.size);
    const decoded = decodeItem({ content, encoding: 'base64+gzip', schema: null }, 'nfe');
    assert.ok(decoded.ok);
    assert.equal(decoded.xmlSha256, row.sha);
  });
});

describe('what documents say about one another', () => {
  test('a summary, then its note, then its cancellation, on three pages', async () => {
    const capture = await newCapture(w);
    const { companyId } = capture;
    const about = key(1);
    w.government.answers(
      documents([{ nsu: 1, xml: summary({ key: about }) }], 1, 9),
      documents([{ nsu: 2, xml: note({ key: about }) }], 2, 9),
      documents([{ nsu: 3, xml: event({ key: about }) }], 3, 9),
    );
    await query(w, capture);
    assert.deepEqual(await statesOf(companyId), { 1: 'authorized awaited' });
    await query(w, capture);
    assert.deepEqual(await statesOf(companyId), { 1: 'authorized present', 2: 'authorized present' });
    await query(w, capture);
    assert.deepEqual(await statesOf(companyId), {
      1: 'cancelled present',
      2: 'cancelled present',
      3: 'cancelled not_applicable',
    });
    assert.deepEqual(await eventsOf(w, companyId), [
      'product_invoice_inbound_summary/issued_successfully',
      'product_invoice_inbound/issued_successfully',
      'product_invoice_inbound/event_raised_successfully',
    ]);
  });

  test('a cancellation that comes before its note (case C32), and on the same page', async () => {
    const capture = await newCapture(w);
    const about = key(2);
    w.government.answers(
      documents([{ nsu: 1, xml: eventSummary({ key: about }) }], 1, 9),
      documents(
        [
          { nsu: 2, xml: summary({ key: about }) },
          { nsu: 3, xml: event({ key: about }) },
        ],
        3,
      ),
    );
    await query(w, capture);
    await query(w, capture);
    const states = await statesOf(capture.companyId);
    assert.equal(states[2], 'cancelled not_applicable', 'the XML of a cancelled note never comes');
  });

  test("another company's documents of the same key are left alone", async () => {
    const [ours, theirs] = [await newCapture(w), await newCapture(w)];
    w.government.answers(documents([{ nsu: 1, xml: summary({ key: key(3) }) }], 1, 2));
    await query(w, ours);
    w.government.answers(documents([{ nsu: 1, xml: event({ key: key(3) }) }], 1, 2));
    await query(w, theirs);
    assert.deepEqual(await statesOf(ours.companyId), { 1: 'authorized awaited' });
  });
});

describe('odd pages', () => {
  test('one broken item does not stop the page; broken bytes become a recovery item (case C28)', async () => {
    const capture = await newCapture(w);
    w.government.answers(
      documents(
        [
          { nsu: 1, xml: summary({ key: key(1) }) },
          { nsu: 2, base64: 'AAAA' },
          { nsu: 3, xml: '<resNFe><chNFe>unfinished' },
          { nsu: 5, xml: summary({ key: key(5) }) },
        ],
        5,
      ),
    );
    const result = committed(await query(w, capture));
    assert.equal(result.documents, 2);
    assert.equal(result.snapshot.state.ultNsu, nsu(5));
    assert.equal(await count(w, 'failed_items', capture.companyId), 2);
    assert.deepEqual(await gapsOf(capture.companyId), [
      { range: '2-2', status: 'pending', cause: 'failed_item' },
      { range: '3-3', status: 'pending', cause: 'failed_item' },
      { range: '4-4', status: 'pending', cause: 'page' },
    ]);
    assert.deepEqual(await alertsOf(w, capture.companyId), ['item_failed']);
    assert.ok((await eventsOf(w, capture.companyId)).includes('capture_alert/item_failed'));
  });

  test('the same NSU with other bytes: both are kept, and it is told', async () => {
    const capture = await newCapture(w);
    const twice = [
      { nsu: 1, xml: summary({ key: key(1) }) },
      { nsu: 1, xml: summary({ key: key(1), ie: 'ISENTO' }) },
    ];
    w.government.answers(documents(twice, 1, 2));
    assert.equal(committed(await query(w, capture)).documents, 2);
    assert.equal(await count(w, 'documents', capture.companyId), 2);
    assert.deepEqual(await alertsOf(w, capture.companyId), ['same_nsu_other_bytes']);
  });

  test('the same page again changes nothing but the state', async () => {
    const capture = await newCapture(w);
    const page = documents(
      [
        { nsu: 1, xml: summary({ key: key(1) }) },
        { nsu: 2, base64: 'AAAA' },
        { nsu: null, xml: summary({ key: key(3) }) },
      ],
      4,
      9,
    );
    w.government.answers(page);
    await query(w, capture);
    const before = await countsOf(capture.companyId);
    w.clock.advance(63 * 60_000);
    const again = committed(await query(w, capture));
    assert.equal(again.snapshot.state.standstills, 1);
    assert.deepEqual(await countsOf(capture.companyId), before);
    assert.equal((await rowOf(w, capture)).documents, 2);
  });

  test('an item twice on one page is one document (case C46)', async () => {
    const capture = await newCapture(w);
    const item = { nsu: 1, xml: summary({ key: key(1) }) };
    w.government.answers(documents([item, item], 1));
    await query(w, capture);
    assert.equal(await count(w, 'documents', capture.companyId), 1);
    assert.equal(await count(w, 'events', capture.companyId), 1);
  });

  test('a page that the database refuses is committed as failed items, and the company goes on', async () => {
    const capture = await newCapture(w);
    const poison: DecodeItem = (item, type) => {
      const decoded = decodeItem(item, type);
      if (!decoded.ok) return decoded;
      return {
        ...decoded,
        document: { ...decoded.document, metadata: { ...decoded.document.metadata, uf: 'S\u0000P' } },
      };
    };
    w.government.answers(documents(summaries(1, 4, key), 4, 9));
    const sick = w.process({ decodeItem: poison, limits: { firstPause: 5 } });
    const result = committed(await query(w, capture, sick));
    assert.equal(result.documents, 0);
    assert.equal(result.snapshot.state.ultNsu, nsu(4));
    const { rows } = await w.db.query(
      'select failure, count(*)::int as n from failed_items where company_id = $1 group by 1',
      [capture.companyId],
    );
    assert.deepEqual(rows, [{ failure: 'internal', n: 4 }]);
    assert.deepEqual(await gapsOf(capture.companyId), [], 'their bytes are whole: no fresh copy is asked for');

    // A version that can store them decodes them from the archive.
    w.clock.advance(31 * 60_000);
    const healed = await run(w.activities.housekeeping.decodeFailedItems);
    assert.ok(healed.resolved >= 4);
    assert.equal(await count(w, 'documents', capture.companyId), 4);
    assert.deepEqual(await alertsOf(w, capture.companyId), []);
  });

  test('589, 656 and what is no answer keep what the rules say', async () => {
    const capture = await newCapture(w);
    w.government.answers(refusal('589'));
    assert.equal(committed(await query(w, capture)).snapshot.state.phase, 'blocked');
    assert.deepEqual(await alertsOf(w, capture.companyId), ['cursor_ahead']);
    assert.equal(await count(w, 'archives', capture.companyId), 1, 'a rejection is evidence');

    const other = await newCapture(w);
    w.government.answers(html());
    assert.equal(committed(await query(w, other)).snapshot.state.failures, 1);
    assert.equal(await count(w, 'archives', other.companyId), 1, 'so is what is no answer');

    const third = await newCapture(w);
    w.government.answers(throttled(0));
    await query(w, third);
    assert.equal(await count(w, 'archives', third.companyId), 0);
    const { rows } = await w.db.query<{ body: Buffer }>('select body from calls where company_id = $1', [
      third.companyId,
    ]);
    assert.ok(rows[0]?.body.includes('<cStat>656</cStat>'));
  });

  test('time-outs count in a row, and the tenth asks for people', async () => {
    const capture = await newCapture(w);
    w.government.answers(nothing('not_sent', 'connect ECONNREFUSED'));
    for (let i = 1; i <= 10; i++) {
      assert.equal(committed(await query(w, capture)).snapshot.state.failures, i);
      w.clock.advance(31 * 60_000);
    }
    assert.equal((await rowOf(w, capture)).phase, 'attention');
    assert.deepEqual(await alertsOf(w, capture.companyId), ['capture_attention']);
  });
});

describe('jumps of the pointer', () => {
  test('656 with a pointer ahead (case C03): the cursor adopts it, the range becomes recovery items', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents(summaries(1, 3, key), 3, 4), throttled(170));
    await query(w, capture);
    const result = committed(await query(w, capture));
    assert.equal(result.snapshot.state.ultNsu, nsu(170));
    assert.deepEqual(await gapsOf(capture.companyId), [{ range: '4-170', status: 'pending', cause: 'jump' }]);
    assert.deepEqual(await alertsOf(w, capture.companyId), ['other_consumer']);
  });

  test('a range above 2,000 waits for a person', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents(summaries(1, 3, key), 3, 4), throttled(9000));
    await query(w, capture);
    await query(w, capture);
    assert.deepEqual(await gapsOf(capture.companyId), [
      { range: '4-9000', status: 'awaiting_confirmation', cause: 'jump' },
    ]);
    assert.deepEqual(await alertsOf(w, capture.companyId), ['gap_too_large', 'other_consumer']);
  });

  test('a 656 right after an unknown, ahead by a page at most, was caused by us: no other program is blamed', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents(summaries(1, 3, key), 3, 90), nothing('unknown', 'time limit'), throttled(33));
    await query(w, capture);
    await query(w, capture);
    w.clock.advance(3 * 60_000);
    const result = committed(await query(w, capture));
    assert.equal(result.snapshot.state.ultNsu, nsu(33));
    assert.deepEqual(await gapsOf(capture.companyId), [{ range: '4-33', status: 'pending', cause: 'lost_page' }]);
    assert.deepEqual(await alertsOf(w, capture.companyId), []);
  });
});

test('our clock and the government’s: more than 30 s apart is told once, and over when they agree again', async () => {
  const [first, second, third] = [await newCapture(w), await newCapture(w), await newCapture(w)];
  const comparing = w.process({ comparesClocks: true });
  const skewed = (ms: number) => {
    const answer = answered(body('137', 0, 0));
    return { ...answer, serverTime: Date.now() + w.clock.ahead + ms };
  };
  const openSkews = async () =>
    (await w.db.query(`select from alerts where code = 'clock_skew' and closed_at is null`)).rows.length;
  w.government.answers(() => skewed(-45_000));
  await query(w, first, comparing);
  await query(w, second, comparing);
  assert.equal(await openSkews(), 1);
  assert.equal((await eventsOf(w, second.companyId)).length, 0);
  w.government.answers(() => skewed(1_000));
  await query(w, third, comparing);
  assert.equal(await openSkews(), 0);
});

async function countsOf(companyId: string): Promise<Record<string, number>> {
  const tables = ['documents', 'events', 'usage_records', 'gaps', 'failed_items'];
  return Object.fromEntries(await Promise.all(tables.map(async (table) => [table, await count(w, table, companyId)])));
}

test('an observer hears of every end once, and of every refusal', async () => {
  const heard: string[] = [];
  const observed = w.process({
    observer: {
      settled: (_, { outcome, statusCode, documents: fresh }) => heard.push(`${outcome} ${statusCode} ${fresh}`),
      refused: (_, reason) => heard.push(reason),
    },
  });
  const capture = await newCapture(w);
  w.government.answers(documents(summaries(1, 3, key), 3));
  const activity = await nextActivity(w, capture);
  await activity.attempt(observed);
  await activity.attempt(observed);
  await query(w, capture, observed);
  assert.deepEqual(heard, ['documents 138 3', 'too_early']);
});
