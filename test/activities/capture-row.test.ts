import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HandoverPage, HostAnswer } from '../../src/model/activity-contract.js';
import type { CaptureKey } from '../../src/model/words.js';
import { disableCapture } from '../../src/storage/capture-orders.js';
import { writeHandedNsu } from '../../src/storage/handover.js';
import { event, key, summary } from '../documents/samples.js';
import { newCompany } from '../storage/support.js';
import { documents, none, nothing, nsu, refusal, summaries } from './government.js';
import { ask, asked, one } from './point-support.js';
import { alertsOf, committed, eventsOf, HOUR, MINUTE, newCapture, query, rowOf, run, world } from './support.js';

const w = await world();
const { openCapture, closeCapture, holdCapture, resumeCapture, markCapture, nextHandover, recordHandover } =
  w.activities.captureRow;

const handler = { taskQueue: 'host', activity: 'takePage' };
const captureOf = (companyId: string): CaptureKey => ({ companyId, documentType: 'nfe', environment: 'homologation' });

describe('open', () => {
  test('a start makes the row, and enables it again after a stop', async () => {
    const capture = captureOf((await newCompany(w.db)).id);
    const first = await run(openCapture, { capture, start: { handler } });
    assert.equal(first.enabled, true);
    assert.deepEqual(first.handler, handler);
    assert.equal(first.taxIdEnding.length, 4);
    const read = await run(openCapture, { capture });
    assert.deepEqual(read, first);

    const { closed, snapshot } = await run(closeCapture, { capture, generation: first.generation });
    assert.equal(closed, true);
    assert.equal(snapshot.state.phase, 'stopped');
    const again = await run(openCapture, { capture, start: {} });
    assert.equal(again.enabled, true);
    assert.deepEqual(again.handler, handler, 'options stay');
    assert.ok(again.generation > first.generation);
  });

  test('an unknown company or capture, and one captured in the other environment', async () => {
    const nobody = captureOf('00000000-0000-7000-8000-000000000000');
    const unknown = { type: 'company_unknown', nonRetryable: true };
    await assert.rejects(run(openCapture, { capture: nobody, start: {} }), unknown);
    await assert.rejects(run(openCapture, { capture: nobody }), unknown);
    const company = await newCompany(w.db);
    await assert.rejects(run(openCapture, { capture: captureOf(company.id) }), unknown);
    await run(openCapture, { capture: captureOf(company.id), start: {} });
    const production = { ...captureOf(company.id), environment: 'production' } as const;
    await assert.rejects(run(openCapture, { capture: production, start: {} }), { type: 'environment_in_use' });
  });

  test('waits written on another time scale are refused, with what to do', async () => {
    const capture = await newCapture(w);
    const fast = w.process({ timeScale: 60 }).captureRow.openCapture;
    await assert.rejects(run(fast, { capture }), (failure: Error & { type?: string; nonRetryable?: boolean }) => {
      assert.equal(failure.type, 'time_scale_mismatch');
      assert.equal(failure.nonRetryable, true);
      assert.match(failure.message, /MALOTE_TIME_SCALE=1/);
      return true;
    });
  });
});

describe('close', () => {
  test('only for the generation that the workflow saw; a repeat succeeds', async () => {
    const capture = await newCapture(w);
    const { generation } = await run(openCapture, { capture });
    await run(openCapture, { capture, start: {} });
    assert.equal((await run(closeCapture, { capture, generation })).closed, false);
    assert.equal((await rowOf(w, capture)).enabled, true);
    const current = (await rowOf(w, capture)).generation;
    assert.equal((await run(closeCapture, { capture, generation: current })).closed, true);
    assert.equal((await run(closeCapture, { capture, generation: current })).closed, true);
  });
});

describe('hold, resume, mark', () => {
  test('a hold is in the row at once, and its end too', async () => {
    const capture = await newCapture(w);
    const held = await run(holdCapture, { capture, until: 'indefinitely' as const });
    assert.equal(held.heldUntil, 'indefinitely');
    assert.equal(held.state.phase, 'paused');
    const until = (await w.clock.now()) + HOUR;
    assert.equal((await run(holdCapture, { capture, until })).heldUntil, until);
    const free = await run(holdCapture, { capture, until: null });
    assert.equal(free.heldUntil, null);
    assert.notEqual(free.state.phase, 'paused');
  });

  test('resume leaves attention with counters at zero; the wait stays', async () => {
    const capture = await newCapture(w);
    w.government.answers(nothing('not_sent', 'reset'));
    for (let i = 0; i < 10; i++) {
      await query(w, capture);
      w.clock.advance(31 * MINUTE);
    }
    assert.deepEqual(await alertsOf(w, capture.companyId), ['capture_attention']);
    const { notBefore } = await rowOf(w, capture);
    const resumed = await run(resumeCapture, { capture });
    assert.equal(resumed.state.failures, 0);
    assert.notEqual(resumed.state.phase, 'attention');
    assert.equal((await rowOf(w, capture)).notBefore, notBefore);
    assert.deepEqual(await alertsOf(w, capture.companyId), []);
  });

  test('resume never shortens a block', async () => {
    const capture = await newCapture(w);
    w.government.answers(refusal('215'));
    const { blockedUntil } = committed(await query(w, capture)).snapshot.state;
    const resumed = await run(resumeCapture, { capture });
    assert.equal(resumed.state.blockedUntil, blockedUntil);
    assert.equal(resumed.state.phase, 'blocked');
  });

  test('a mark writes the phase and tells once', async () => {
    const capture = await newCapture(w);
    const mark = {
      capture,
      phase: 'handing-over' as const,
      reason: 'the host has not taken a page for 15 minutes',
      alert: { code: 'handler_unavailable' as const, open: true },
    };
    const marked = await run(markCapture, mark);
    assert.equal(marked.state.phase, 'handing-over');
    assert.equal((await run(markCapture, mark)).revision, marked.revision);
    assert.deepEqual(await eventsOf(w, capture.companyId), ['capture_alert/handler_unavailable']);
    await run(markCapture, {
      ...mark,
      phase: 'waiting' as const,
      reason: 'the host takes pages again',
      alert: { ...mark.alert, open: false },
    });
    assert.deepEqual(await alertsOf(w, capture.companyId), []);
  });
});

describe('handing pages to a host', () => {
  async function loaded() {
    const capture = await newCapture(w, { options: { handler } });
    const some = summaries(1, 120, key).filter(({ nsu: n }) => n === null || n % 7 !== 0);
    w.government.answers(
      documents(
        some.filter(({ nsu: n }) => Number(n) <= 58),
        58,
        200,
      ),
      documents(
        some.filter(({ nsu: n }) => Number(n) > 58 && Number(n) <= 116),
        116,
        200,
      ),
      documents(
        some.filter(({ nsu: n }) => Number(n) > 116),
        125,
        200,
      ),
      none(125),
    );
    for (let i = 0; i < 3; i++) await query(w, capture);
    return { capture, expected: some.map(({ nsu: n }) => Number(n)) };
  }

  async function handAll(capture: CaptureKey, answers: (page: HandoverPage) => HostAnswer | null = () => null) {
    const pages: HandoverPage[] = [];
    for (;;) {
      const page = await run(nextHandover, { capture });
      if (!page) return pages;
      pages.push(page);
      assert.ok(pages.length < 20);
      await run(recordHandover, { capture, page: { ultNsu: page.ultNsu }, answer: answers(page) });
    }
  }

  const numbers = (pages: HandoverPage[]) => pages.flatMap((page) => page.documents.map(({ nsu: n }) => Number(n)));

  test('every document once, in NSU order, 50 at a time, up to the cursor and no further', async () => {
    const { capture, expected } = await loaded();
    const before = w.government.calls;
    const pages = await handAll(capture);
    assert.deepEqual(numbers(pages), expected);
    assert.ok(pages.every((page) => page.documents.length <= 50));
    assert.equal(pages.at(-1)?.ultNsu, nsu(125), 'NSUs without a document are passed, too');
    assert.equal(pages.at(-1)?.maxNsu, nsu(200));
    assert.equal(w.government.calls, before);
    assert.equal((await rowOf(w, capture)).handedNsu, nsu(125));
  });

  test('asked twice without an answer it is the same page', async () => {
    const { capture } = await loaded();
    assert.deepEqual(await run(nextHandover, { capture }), await run(nextHandover, { capture }));
  });

  test('a host that goes back is handed from the database; the government’s cursor stays', async () => {
    const { capture, expected } = await loaded();
    await handAll(capture);
    const page = { ultNsu: nsu(125) };
    const back = await run(recordHandover, { capture, page, answer: { ultNsu: '60' } });
    assert.equal(back.handedNsu, nsu(60));
    assert.equal(back.state.ultNsu, nsu(125));
    assert.deepEqual(
      numbers(await handAll(capture)),
      expected.filter((n) => n > 60),
    );
  });

  test('a host ahead of us is clamped, with an alert; one that talks nonsense makes no progress', async () => {
    const { capture } = await loaded();
    const page = { ultNsu: nsu(58) };
    const ahead = await run(recordHandover, { capture, page, answer: { ultNsu: '999999' } });
    assert.equal(ahead.handedNsu, nsu(200));
    assert.equal(ahead.state.ultNsu, nsu(125));
    assert.deepEqual(await alertsOf(w, capture.companyId), ['cursor_ahead']);
    assert.equal(await run(nextHandover, { capture }), null);
    const nonsense = await run(recordHandover, { capture, page, answer: { ultNsu: 'twelve' } });
    assert.equal(nonsense.handedNsu, nsu(200));
    await run(recordHandover, { capture, page, answer: { ultNsu: '58' } });
    assert.deepEqual(await alertsOf(w, capture.companyId), []);
  });

  test('stop moves nothing', async () => {
    const { capture } = await loaded();
    const stopped = await run(recordHandover, { capture, page: { ultNsu: nsu(58) }, answer: { stop: true } });
    assert.equal(stopped.handedNsu, nsu(0));
  });

  test('two documents of one NSU are never on two pages', async () => {
    const capture = await newCapture(w, { options: { handler } });
    const page = summaries(1, 50, key);
    const twin = { ...page[49], nsu: 50, xml: page[48]?.xml ?? '' };
    w.government.answers(documents([...page, twin, ...summaries(51, 60, key)], 60));
    await query(w, capture);
    const first = await run(nextHandover, { capture });
    assert.equal(first?.documents.length, 51);
    assert.equal(first?.ultNsu, nsu(50));
  });
});

describe('documents that come after the host has passed them', () => {
  /** NSUs 1 to 9 are committed and 4 and 5 did not come; 7 could not be decoded. The host has taken all the rest. */
  async function passed() {
    const capture = await newCapture(w, { options: { handler } });
    const items = summaries(1, 9, key).filter(({ nsu: n }) => n !== 4 && n !== 5);
    w.government.answers(
      documents(
        items.map((item) => (item.nsu === 7 ? { nsu: 7, base64: '!!' } : item)),
        9,
      ),
    );
    await query(w, capture);
    await take(capture);
    return capture;
  }

  /** Takes the next page as a host that answers so. */
  async function take(capture: CaptureKey, answer: HostAnswer | null = null) {
    const page = await run(nextHandover, { capture });
    if (!page) return null;
    const { ultNsu, late = false } = page;
    const after = await run(recordHandover, {
      capture,
      page: { ultNsu, late, documents: page.documents.map(({ id }) => id) },
      answer,
    });
    return { late, numbers: page.documents.map((one) => Number(one.nsu)), ultNsu, after };
  }

  async function comes(capture: CaptureKey, n: number) {
    w.government.answers(one({ nsu: n, xml: summary({ key: key(70_000 + n) }) }));
    return asked(await ask(w, capture, n)).snapshot;
  }

  test('are handed in NSU order on a late page, once taken never again, and no cursor moves', async () => {
    const capture = await passed();
    assert.equal(await run(nextHandover, { capture }), null);
    assert.equal((await comes(capture, 5)).late, true, 'the capture hears of it with the answer');
    await comes(capture, 4);
    const page = await take(capture);
    assert.deepEqual([page?.late, page?.numbers, page?.ultNsu], [true, [4, 5], nsu(9)]);
    assert.equal(page?.after.handedNsu, nsu(9));
    assert.equal(page?.after.late, false);
    assert.equal(await run(nextHandover, { capture }), null);
  });

  test('stay until the host has taken them; a stop, a failure or nonsense takes nothing', async () => {
    const capture = await passed();
    await comes(capture, 4);
    for (const answer of [{ stop: true }, { ultNsu: 'four' }]) {
      const page = await take(capture, answer);
      assert.deepEqual(page?.numbers, [4]);
      assert.equal(page?.after.late, true);
      assert.equal(page?.after.handedNsu, nsu(9));
    }
    assert.deepEqual((await take(capture))?.numbers, [4]);
  });

  test('a host that goes back gets them in their place, not twice', async () => {
    const capture = await passed();
    await comes(capture, 5);
    await comes(capture, 4);
    const back = await take(capture, { ultNsu: '4' });
    assert.deepEqual([back?.late, back?.after.handedNsu, back?.after.late], [true, nsu(4), false]);
    assert.deepEqual((await take(capture))?.numbers, [5, 6, 8, 9]);
    assert.equal(await run(nextHandover, { capture }), null);
  });

  test('one that comes while the host has its page in hand is late, too', async () => {
    const capture = await newCapture(w, { options: { handler } });
    w.government.answers(
      documents(
        summaries(1, 9, key).filter(({ nsu: n }) => n !== 4),
        9,
      ),
    );
    await query(w, capture);
    const page = await run(nextHandover, { capture });
    assert.ok(page);
    await comes(capture, 4);
    const input = {
      capture,
      page: { ultNsu: page.ultNsu, documents: page.documents.map(({ id }) => id) },
      answer: null,
    };
    const after = await run(recordHandover, input);
    assert.equal(after.late, true);
    await run(recordHandover, input);
    assert.deepEqual((await take(capture))?.numbers, [4], 'also when the answer was recorded twice');
  });

  test('one that is decoded at last wakes the capture', async () => {
    const capture = await newCapture(w, { options: { handler } });
    w.government.answers(documents(summaries(1, 9, key), 9));
    await query(w, capture, w.process({ decodeItem: () => ({ ok: false, failure: 'internal', detail: 'not yet' }) }));
    const row = await rowOf(w, capture);
    await w.db.transaction((tx) => writeHandedNsu(tx, capture, nsu(9), row.updatedAt));
    w.clock.advance(HOUR);
    const woken: CaptureKey[] = [];
    const { decodeFailedItems } = w.process({ wakeCapture: (woke) => void woken.push(woke) }).housekeeping;
    assert.equal((await run(decodeFailedItems)).resolved, 9);
    assert.deepEqual(new Set(woken.map(({ companyId }) => companyId)), new Set([capture.companyId]));
    assert.deepEqual((await take(capture))?.numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test('an event of our own that gets its number only now is handed like any other', async () => {
    const capture = await passed();
    const comesAgain = async () => {
      w.government.answers(one({ nsu: 4, xml: event({ key: key(71_004) }), schema: 'procEventoNFe_v1.00.xsd' }));
      return asked(await ask(w, capture, 4)).snapshot;
    };
    await comesAgain();
    // As if it had been stored when it was registered, before it came by distribution.
    await w.db.query(`update documents set origin = 'manifestation', nsu = null where company_id = $1 and nsu = 4`, [
      capture.companyId,
    ]);
    await w.db.query('delete from late_documents where company_id = $1', [capture.companyId]);
    assert.equal((await comesAgain()).late, true);
    assert.deepEqual((await take(capture))?.numbers, [4]);
  });

  test('without a host nothing is kept for one', async () => {
    const capture = await newCapture(w);
    w.government.answers(
      documents(
        summaries(1, 9, key).filter(({ nsu: n }) => n !== 4),
        9,
      ),
    );
    await query(w, capture);
    assert.equal((await comes(capture, 4)).late, false);
  });
});

describe('orders that come while a call is in the air', () => {
  async function during(order: (capture: CaptureKey) => Promise<unknown>) {
    const capture = await newCapture(w);
    w.government.answers(async () => {
      await order(capture);
      return documents(summaries(1, 3, key), 3, 9);
    });
    const result = committed(await query(w, capture));
    assert.equal(result.documents, 3, 'the answer is kept');
    return { capture, result, row: await rowOf(w, capture) };
  }

  test('a stop stays a stop', async () => {
    const { result, row } = await during(async (capture) => {
      const now = await w.clock.now();
      await w.db.transaction((tx) => disableCapture(tx, capture, now));
    });
    assert.equal(result.snapshot.enabled, false);
    assert.equal(row.phase, 'stopped');
    assert.equal(row.ultNsu, nsu(3));
  });

  test('a hold stays a hold', async () => {
    const { row } = await during((capture) => run(holdCapture, { capture, until: 'indefinitely' as const }));
    assert.equal(row.phase, 'paused');
    assert.equal(row.heldUntil, Number.POSITIVE_INFINITY);
  });
});
