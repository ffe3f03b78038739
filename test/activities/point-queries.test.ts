import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { POINT_CALLS_PER_HOUR, POINT_DOCUMENTS_PER_HOUR } from '../../src/model/point-quota.js';
import type { CaptureKey } from '../../src/model/words.js';
import { holdCapture } from '../../src/storage/capture-orders.js';
import { commitState } from '../../src/storage/captures.js';
import { getReprocess, insertReprocess } from '../../src/storage/reprocess-requests.js';
import { event, key, note, summary } from '../documents/samples.js';
import { documents, html, none, nothing, nsu, refusal, summaries, throttled } from './government.js';
import { ask, asked, nobody, one, refusalIn } from './point-support.js';
import { alertsOf, committed, count, eventsOf, HOUR, newCapture, query, rowOf, world } from './support.js';

const w = await world();
const MINUTE = 60_000;

/** A capture whose queue is empty: its cursor stands at `cursor`. */
async function drained(cursor = 100, more: Parameters<typeof newCapture>[1] = {}): Promise<CaptureKey> {
  const capture = await newCapture(w, more);
  w.government.answers(
    documents(
      summaries(cursor, cursor, () => key(9_000_000 + cursor)),
      cursor,
    ),
  );
  committed(await query(w, capture));
  return capture;
}

let notes = 0;
/** A whole note of its own. */
const fresh = (n: number) => ({ nsu: n, xml: note({ key: key(++notes) }), schema: 'procNFe_v4.00.xsd' });

/** Uses up slots, one an instant. */
async function use(capture: CaptureKey, slots: number, from = 1): Promise<void> {
  for (let i = 0; i < slots; i++) {
    w.government.answers(one(fresh(from + i)));
    assert.equal(asked(await ask(w, capture, from + i)).outcome, 'documents');
  }
}

async function documentsOf(capture: CaptureKey) {
  const { rows } = await w.db.query<{ nsu: string | null; kind: string; origin: string }>(
    'select nsu, kind, origin from documents where company_id = $1 order by captured_at, id',
    [capture.companyId],
  );
  return rows;
}

async function endpointOf(capture: CaptureKey): Promise<string> {
  const endpoint = randomUUID();
  await w.db.query(
    `insert into endpoints (id, url, company_ids, key_id, secret) values ($1, 'https://example.com', array[$2::uuid], 'k', '')`,
    [endpoint, capture.companyId],
  );
  return endpoint;
}

describe('a point query', () => {
  test('stores what comes, takes a slot, and leaves cursor, wait and fence of the sequence alone', async () => {
    const capture = await drained();
    const before = await rowOf(w, capture);
    w.government.answers(one(fresh(40)));
    const result = asked(await ask(w, capture, 40));
    assert.deepEqual([result.outcome, result.statusCode, result.documentIds.length], ['documents', '138', 1]);
    const after = await rowOf(w, capture);
    for (const field of ['ultNsu', 'maxNsu', 'nextQueryAt', 'hasPage', 'lastAnswer'] as const) {
      assert.deepEqual(after.state[field], before.state[field], field);
    }
    assert.deepEqual(
      [after.distributionCallId, after.notBefore, after.lastQueryAt, after.callDeadline],
      [before.distributionCallId, before.notBefore, before.lastQueryAt, null],
    );
    assert.deepEqual(after.state.quota.grants.length, 1);
    assert.equal(after.revision, before.revision + 1);
    assert.deepEqual((await documentsOf(capture))[1], { nsu: '40', kind: 'procNFe', origin: 'reprocess' });
    const { rows } = await w.db.query(
      `select kind, from_nsu as from, ult_nsu as ult, granted, documents, origin from calls where company_id = $1 and kind = 'consNSU'`,
      [capture.companyId],
    );
    assert.deepEqual(rows, [
      { kind: 'consNSU', from: '40', ult: null, granted: true, documents: 1, origin: 'reprocess' },
    ]);
    assert.equal(await count(w, 'usage_records', capture.companyId), 2);
  });

  test('may be made during the wait of an empty queue and in attention', async () => {
    const capture = await drained();
    const { state } = await rowOf(w, capture);
    const now = await w.clock.now();
    await w.db.transaction((tx) => commitState(tx, capture, { ...state, phase: 'attention' }, { now }));
    w.government.answers(one(fresh(41)));
    assert.equal(asked(await ask(w, capture, 41)).outcome, 'documents');
    assert.equal((await rowOf(w, capture)).phase, 'attention');
  });

  test('by key: answers with NSU 0 or without are stored by key and kind, each once (case C15)', async () => {
    const capture = await drained();
    const [first, second] = [key(501), key(502)];
    for (const [sought, item] of [
      [first, { nsu: null, xml: note({ key: first }) }],
      [second, { nsu: 0, xml: note({ key: second }) }],
    ] as const) {
      w.government.answers(one(item));
      assert.equal(asked(await ask(w, capture, sought)).documentIds.length, 1);
    }
    assert.deepEqual(
      (await documentsOf(capture)).slice(1).map(({ nsu: n, kind }) => [n, kind]),
      [
        [null, 'procNFe'],
        [null, 'procNFe'],
      ],
    );
    assert.deepEqual(
      w.government.journal.slice(-2).map(({ point }) => point),
      [{ key: first }, { key: second }],
    );
  });

  test('the same bytes that come in a page later fill in the number, and nobody is told twice', async () => {
    const capture = await drained(100);
    const xml = note({ key: key(511) });
    w.government.answers(one({ nsu: null, xml }));
    const [id] = asked(await ask(w, capture, key(511))).documentIds;
    const told = await eventsOf(w, capture.companyId);
    w.clock.advance(63 * MINUTE);
    w.government.answers(
      documents(
        [
          { nsu: 101, xml },
          { nsu: 102, xml: summary({ key: key(512) }) },
        ],
        102,
      ),
    );
    committed(await query(w, capture));
    const { rows } = await w.db.query('select id, nsu from documents where company_id = $1 and key = $2', [
      capture.companyId,
      key(511),
    ]);
    assert.deepEqual(rows, [{ id, nsu: '101' }]);
    assert.equal((await eventsOf(w, capture.companyId)).length, told.length + 1, 'only of 102');
  });

  test('bytes that came in a page are not stored again without a number; who asked is told again', async () => {
    const capture = await newCapture(w);
    const endpoint = await endpointOf(capture);
    const xml = summary({ key: key(521) });
    w.government.answers(documents([{ nsu: 5, xml }], 5));
    committed(await query(w, capture));
    await w.db.query(`update deliveries set status = 'delivered' where company_id = $1`, [capture.companyId]);
    w.woken.length = 0;
    w.government.answers(one({ nsu: null, xml }));
    const result = asked(await ask(w, capture, key(521)));
    assert.equal(
      result.documentIds.length,
      1,
      'a summary alone is asked for again: the whole note may be there by now',
    );
    assert.equal(await count(w, 'documents', capture.companyId), 1);
    assert.deepEqual(w.woken, [endpoint]);
    const { rows } = await w.db.query('select status, event_id from deliveries where company_id = $1', [
      capture.companyId,
    ]);
    assert.equal(rows.length, 1, 'the same webhook-id');
    assert.equal(rows[0]?.status, 'pending');
  });
});

describe('local first', () => {
  test('by NSU and by key: sent again under its webhook-id, nothing is asked, no slot is taken', async () => {
    const capture = await newCapture(w);
    const endpoint = await endpointOf(capture);
    w.government.answers(documents([{ nsu: 7, xml: note({ key: key(600) }) }], 7));
    committed(await query(w, capture));
    await w.db.query(`update deliveries set status = 'delivered' where company_id = $1`, [capture.companyId]);
    const calls = w.government.calls;
    for (const sought of [7, key(600)]) {
      w.woken.length = 0;
      const result = await ask(w, capture, sought);
      assert.equal(result.kind, 'local');
      assert.deepEqual(w.woken, [endpoint]);
    }
    assert.equal(w.government.calls, calls);
    assert.equal(await count(w, 'deliveries', capture.companyId), 1);
    assert.equal(await count(w, 'events', capture.companyId), 1);
  });

  test('also when stopped, without a certificate, or with the quota used up', async () => {
    const capture = await drained(3);
    await w.db.query('update captures set enabled = false where company_id = $1', [capture.companyId]);
    await w.db.query('delete from certificates where company_id = $1', [capture.companyId]);
    assert.equal((await ask(w, capture, 3)).kind, 'local');
  });

  test("never another company's copy, nor this one's of the other environment", async () => {
    const xml = note({ key: key(610) });
    const theirs = await newCapture(w);
    w.government.answers(documents([{ nsu: 1, xml }], 1));
    committed(await query(w, theirs));
    const ours = await drained();
    w.government.answers(nobody());
    assert.equal((await ask(w, ours, key(610))).kind, 'asked');
    await w.db.query(`update documents set environment = 'production' where company_id = $1`, [theirs.companyId]);
    w.government.answers(nobody());
    assert.equal((await ask(w, theirs, key(610))).kind, 'asked');
  });

  test('a summary is not the note, unless the note can never be had', async () => {
    const capture = await newCapture(w);
    const cancelled = key(621);
    w.government.answers(
      documents(
        [
          { nsu: 1, xml: summary({ key: key(620) }) },
          { nsu: 2, xml: summary({ key: cancelled, situation: '3' }) },
          { nsu: 3, xml: event({ key: key(622) }), schema: 'procEventoNFe_v1.00.xsd' },
        ],
        3,
      ),
    );
    committed(await query(w, capture));
    w.government.answers(nobody());
    assert.equal((await ask(w, capture, key(620))).kind, 'asked');
    assert.equal((await ask(w, capture, cancelled)).kind, 'local');
    w.government.answers(nobody());
    assert.equal((await ask(w, capture, key(622))).kind, 'asked', 'an event is not the note that it speaks of');
  });
});

describe('answers without a document', () => {
  test('are final with their code, give the slot back, and leave the sequence alone', async () => {
    const capture = await drained();
    const before = await rowOf(w, capture);
    for (const [i, code] of ['137', '632', '640', '641', '653', '654', '217'].entries()) {
      const id = randomUUID();
      await insertReprocess(w.db, { ...capture, id, key: key(700 + i), createdAt: await w.clock.now() });
      w.government.answers(code === '137' ? nobody() : refusal(code));
      const result = asked(await ask(w, capture, key(700 + i), { requestId: id }));
      assert.deepEqual([result.statusCode, result.documentIds], [code, []]);
      const request = await getReprocess(w.db, id);
      assert.deepEqual([request?.status, request?.statusCode], ['not_available', code]);
    }
    const after = await rowOf(w, capture);
    assert.deepEqual(after.state, { ...before.state, quota: { grants: [], suspendedUntil: null } });
  });

  test('whatever they return, at most 60 calls an hour', async () => {
    const capture = await drained();
    for (let i = 0; i < POINT_CALLS_PER_HOUR; i++) {
      w.government.answers(nobody());
      asked(await ask(w, capture, 1_000 + i));
    }
    const first = await firstCallEnd(capture);
    assert.deepEqual(refusalIn(await ask(w, capture, 5_000)), { reason: 'quota', until: first + HOUR });
  });

  async function firstCallEnd(capture: CaptureKey): Promise<number> {
    const { rows } = await w.db.query<{ at: number }>(
      `select min(answered_at) as at from calls where company_id = $1 and kind = 'consNSU'`,
      [capture.companyId],
    );
    return rows[0]?.at ?? 0;
  }
});

describe('the quota', () => {
  test('20 documents in any hour, to the millisecond; a slot is free an hour after its answer', async () => {
    const capture = await drained();
    await use(capture, POINT_DOCUMENTS_PER_HOUR);
    const [oldest = 0] = (await rowOf(w, capture)).state.quota.grants;
    const refused = refusalIn(await ask(w, capture, 900));
    assert.deepEqual(refused, { reason: 'quota', until: oldest + HOUR });
    w.clock.advance(oldest + HOUR - (await w.clock.now()) - 60_000);
    assert.equal(refusalIn(await ask(w, capture, 900)).reason, 'quota');
    w.clock.advance(60_000);
    w.government.answers(one(fresh(900)));
    assert.equal(asked(await ask(w, capture, 900)).outcome, 'documents');
  });

  test('an announced slot is kept for its question for a minute, and then anybody may have it', async () => {
    const capture = await drained();
    await use(capture, POINT_DOCUMENTS_PER_HOUR - 1);
    const [oldest = 0] = (await rowOf(w, capture)).state.quota.grants;
    w.clock.advance(30 * MINUTE);
    await use(capture, 1, 300);
    const announced = refusalIn(await ask(w, capture, 901));
    assert.deepEqual(announced, { reason: 'quota', until: oldest + HOUR });
    const second = refusalIn(await ask(w, capture, 902));
    assert.ok('until' in second && second.until !== null && second.until >= oldest + HOUR, 'another slot is announced');
    w.clock.advance(oldest + HOUR - (await w.clock.now()) + 1_000);
    // The first 19 have all aged by now: all but two are used again.
    await use(capture, POINT_DOCUMENTS_PER_HOUR - 3, 400);
    assert.equal(refusalIn(await ask(w, capture, 903)).reason, 'quota', 'the two that are left are kept');
    w.government.answers(one(fresh(901)));
    assert.equal(asked(await ask(w, capture, 901)).outcome, 'documents', 'for whom it was announced to');
    assert.equal(refusalIn(await ask(w, capture, 904)).reason, 'quota');
    w.clock.advance(61_000);
    w.government.answers(one(fresh(905)));
    assert.equal(asked(await ask(w, capture, 905)).outcome, 'documents', 'nobody came for the other one');
  });

  test('what was not sent takes none; what has no answer, or one that cannot be read, may have been counted', async () => {
    const capture = await drained();
    w.government.answers(nothing('not_sent', 'connect ECONNREFUSED'));
    asked(await ask(w, capture, 1));
    assert.equal((await rowOf(w, capture)).state.quota.grants.length, 0);
    w.government.answers(html());
    asked(await ask(w, capture, 1));
    const now = await w.clock.now();
    w.government.answers(nothing('unknown', 'time limit'));
    asked(await ask(w, capture, 1));
    const { grants } = (await rowOf(w, capture)).state.quota;
    assert.equal(grants.length, 2);
    assert.ok((grants[1] ?? 0) >= now + 5 * MINUTE, 'its age counts from its deadline');
    assert.deepEqual(await alertsOf(w, capture.companyId), []);
    assert.equal((await rowOf(w, capture)).state.failures, 0, 'the sequence does not pay for it');
  });

  test('belongs to a tax ID and a service: another capture has its own', async () => {
    const capture = await drained();
    await use(capture, POINT_DOCUMENTS_PER_HOUR);
    const other = await drained();
    w.government.answers(one(fresh(1)));
    assert.equal(asked(await ask(w, other, 1)).outcome, 'documents');
  });
});

describe('a 656 on a point query', () => {
  test('NF-e: blocks distribution and suspends point queries for an hour, takes no pointer, tells', async () => {
    const capture = await drained(100);
    w.government.answers(throttled(555));
    const result = asked(await ask(w, capture, 40));
    assert.equal(result.outcome, 'throttled');
    const { state, notBefore } = await rowOf(w, capture);
    const at = state.lastAnswer?.at ?? 0;
    assert.deepEqual([state.ultNsu, state.phase], [nsu(100), 'blocked']);
    assert.deepEqual([state.blockedUntil, state.quota.suspendedUntil], [at + 61 * MINUTE, at + 61 * MINUTE]);
    assert.ok((state.lawfulFrom ?? 0) >= at + 61 * MINUTE && notBefore === state.lawfulFrom);
    assert.deepEqual(await alertsOf(w, capture.companyId), ['other_consumer']);
    assert.deepEqual(refusalIn(await ask(w, capture, 41)), { reason: 'suspended', until: at + 61 * MINUTE });
    w.clock.advance(at + 61 * MINUTE - (await w.clock.now()));
    w.government.answers(one(fresh(41)));
    assert.equal(asked(await ask(w, capture, 41)).outcome, 'documents');
  });

  test('never shortens a longer wait', async () => {
    const capture = await drained();
    const { state } = await rowOf(w, capture);
    const now = await w.clock.now();
    const later = now + 5 * HOUR;
    await w.db.transaction((tx) =>
      commitState(tx, capture, { ...state, phase: 'attention', nextQueryAt: later, lawfulFrom: later }, { now }),
    );
    w.government.answers(throttled(0));
    asked(await ask(w, capture, 40));
    const after = (await rowOf(w, capture)).state;
    assert.deepEqual([after.nextQueryAt, after.lawfulFrom, after.phase], [later, later, 'attention']);
  });

  test('CT-e: distribution goes on, and its own 656 does not hold point queries', async () => {
    const capture = await drained(100, { documentType: 'cte' });
    w.government.answers(throttled(0));
    asked(await ask(w, capture, 40));
    const { state } = await rowOf(w, capture);
    assert.equal(state.blockedUntil, null);
    assert.equal(refusalIn(await ask(w, capture, 40)).reason, 'suspended');
    w.clock.advance(62 * MINUTE);
    w.government.answers(throttled(0));
    assert.equal(committed(await query(w, capture)).outcome, 'throttled');
    assert.ok(((await rowOf(w, capture)).state.blockedUntil ?? 0) > (await w.clock.now()));
    w.government.answers(nobody());
    assert.equal(asked(await ask(w, capture, 40)).outcome, 'none');
    assert.deepEqual(refusalIn(await ask(w, capture, key(1))), { reason: 'not_supported' });
  });
});

describe('a point query is refused', () => {
  const refusals = async (capture: CaptureKey) => {
    const before = w.government.calls;
    const refused = refusalIn(await ask(w, capture, 77));
    assert.equal(w.government.calls, before);
    return refused;
  };

  test('by people, by a certificate, by a database that is behind', async () => {
    const held = await drained();
    const now = await w.clock.now();
    await w.db.transaction((tx) => holdCapture(tx, held, now + HOUR, now));
    assert.deepEqual(await refusals(held), { reason: 'held', until: now + HOUR });
    const stopped = await drained();
    await w.db.query('update captures set enabled = false where company_id = $1', [stopped.companyId]);
    assert.deepEqual(await refusals(stopped), { reason: 'disabled' });
    const bare = await drained();
    await w.db.query('delete from certificates where company_id = $1', [bare.companyId]);
    assert.equal((await refusals(bare)).reason, 'certificate');
    const behind = await drained();
    await w.db.query('update captures set behind = true where company_id = $1', [behind.companyId]);
    assert.deepEqual(await refusals(behind), { reason: 'database_behind' });
  });

  test('during any block of the tax ID: a rejection, a refused certificate', async () => {
    const capture = await drained();
    w.clock.advance(63 * MINUTE);
    w.government.answers(refusal('589'));
    committed(await query(w, capture));
    const { blockedUntil } = (await rowOf(w, capture)).state;
    assert.deepEqual(await refusals(capture), { reason: 'blocked', until: blockedUntil });
  });

  test('while the service is shut down, which a point query can find out', async () => {
    const capture = await drained();
    const other = await drained();
    w.government.answers(refusal('108'));
    assert.equal(asked(await ask(w, capture, 50)).outcome, 'paused');
    const refused = await refusals(other);
    assert.equal(refused.reason, 'paused');
    w.clock.advance(6 * MINUTE);
    w.government.answers(nobody());
    assert.equal(asked(await ask(w, other, 51)).outcome, 'none', 'it probes');
    w.government.answers(nobody());
    assert.equal(asked(await ask(w, capture, 52)).outcome, 'none', 'and lets the others in');
    w.clock.advance(60 * MINUTE);
    w.government.answers(none(100));
    assert.equal(committed(await query(w, capture)).outcome, 'none');
  });

  test('the request says why, and when it may be asked again', async () => {
    const capture = await drained();
    w.government.answers(throttled(0));
    asked(await ask(w, capture, 40));
    const id = randomUUID();
    await insertReprocess(w.db, { ...capture, id, nsu: nsu(41), createdAt: await w.clock.now() });
    const refused = refusalIn(await ask(w, capture, 41, { requestId: id }));
    const request = await getReprocess(w.db, id);
    assert.deepEqual(
      [request?.status, request?.reason, request?.retryAt],
      ['refused', 'suspended', 'until' in refused ? refused.until : null],
    );
  });
});
