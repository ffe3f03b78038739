import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { parseNsu } from '../../src/model/nsu.js';
import type { CaptureKey, CaptureOptions } from '../../src/model/words.js';
import { countCaptures } from '../../src/storage/capture-counts.js';
import {
  closeCapture,
  disableCapture,
  enableCapture,
  holdCapture,
  markCapture,
  restoreCapture,
  resumeCapture,
  setCursor,
} from '../../src/storage/capture-orders.js';
import { type CaptureRow, snapshotOf, UnknownStateVersion } from '../../src/storage/capture-rows.js';
import { commitState, getCapture, listCaptures, listCompanyCaptures, lockCapture } from '../../src/storage/captures.js';
import { DatabaseError } from '../../src/storage/database-error.js';
import { InvalidCursor } from '../../src/storage/keyset.js';
import { until } from '../support/until.js';
import { newCompany, openDatabase } from './support.js';

const { db } = await openDatabase();
const NOW = Date.UTC(2026, 10, 30, 12);
const HOUR = 3_600_000;

const keyOf = (companyId: string, more: Partial<CaptureKey> = {}): CaptureKey => ({
  companyId,
  documentType: 'nfe',
  environment: 'homologation',
  ...more,
});

function enable(capture: CaptureKey, options: CaptureOptions = {}, now = NOW, timeScale = 1) {
  return db.transaction((tx) => enableCapture(tx, { capture, options: () => options, now, timeScale }));
}

async function enabled(capture: CaptureKey, options: CaptureOptions = {}, now = NOW): Promise<CaptureRow> {
  const answer = await enable(capture, options, now);
  assert.ok(answer.ok);
  return answer.row;
}

/** What a page transaction does with the row. */
async function commit(capture: CaptureKey, change: object, notBefore: number | null = null, at = NOW) {
  return db.transaction(async (tx) => {
    const row = await lockCapture(tx, capture);
    assert.ok(row);
    const lastQuery = { at, statusCode: '138', statusText: 'Documento localizado' };
    const written = await commitState(tx, capture, { ...row.state, ...change }, { now: at, notBefore, lastQuery });
    assert.ok(written);
    return written;
  });
}

describe('enabling', () => {
  test('a first time makes a capture that asks at once, from the NSU of its options', async () => {
    const company = await newCompany(db, { taxId: '12ABC34501DE35', uf: 'RJ' });
    const handler = { taskQueue: 'host', activity: 'take' };
    const row = await enabled(keyOf(company.id), { startNsu: '150', handler });
    assert.equal(row.enabled, true);
    assert.equal(row.generation, 1);
    assert.equal(row.revision, 0);
    assert.equal(row.ultNsu, '000000000000150');
    assert.equal(row.state.ultNsu, '000000000000150');
    assert.equal(row.phase, 'querying');
    assert.equal(row.notBefore, null);
    assert.deepEqual(snapshotOf(row, company), {
      state: row.state,
      revision: 0,
      enabled: true,
      generation: 1,
      handler,
      handedNsu: '000000000000000',
      heldUntil: null,
      late: false,
      recovery: null,
      taxIdEnding: 'DE35',
      uf: 'RJ',
    });
    assert.deepEqual(await getCapture(db, keyOf(company.id)), row);
  });

  test('with notBefore it waits, and until it has asked that may be changed', async () => {
    const capture = keyOf((await newCompany(db)).id);
    const later = new Date(NOW + 50 * HOUR).toISOString();
    let row = await enabled(capture, { notBefore: later });
    assert.equal(row.notBefore, NOW + 50 * HOUR);
    assert.equal(row.state.nextQueryAt, NOW + 50 * HOUR);
    assert.equal(row.phase, 'waiting');
    row = await enabled(capture, { notBefore: new Date(NOW + HOUR).toISOString(), startNsu: '7' });
    assert.equal(row.notBefore, NOW + HOUR);
    assert.equal(row.ultNsu, '000000000000007');
    assert.equal(row.generation, 2);
  });

  test('again only changes options: cursor, waits and blocks stay; startNsu is ignored, notBefore only ever later', async () => {
    const capture = keyOf((await newCompany(db)).id);
    await enabled(capture);
    const block = {
      ultNsu: parseNsu(40),
      maxNsu: parseNsu(90),
      phase: 'blocked',
      blockedUntil: NOW + HOUR,
      reason: 'x',
      failures: 3,
    };
    await commit(capture, block, NOW + HOUR);
    const row = await enabled(capture, {
      startNsu: '1',
      notBefore: new Date(NOW).toISOString(),
      minIntervalMinutes: 90,
    });
    assert.deepEqual(row.options, { startNsu: '1', notBefore: new Date(NOW).toISOString(), minIntervalMinutes: 90 });
    assert.equal(row.ultNsu, '000000000000040');
    assert.equal(row.notBefore, NOW + HOUR);
    assert.equal(row.phase, 'blocked');
    assert.equal(row.state.failures, 3);
    assert.equal(row.revision, 2);
    assert.equal(row.lastStatusCode, '138', 'a change of options does not forget the last answer');
  });

  test('after a stop it goes on where it stood, no earlier than it may', async () => {
    const capture = keyOf((await newCompany(db)).id);
    await enabled(capture);
    await commit(capture, { ultNsu: parseNsu(40), maxNsu: parseNsu(40), phase: 'waiting', failures: 2 }, NOW + HOUR);
    await db.transaction((tx) => holdCapture(tx, capture, Number.POSITIVE_INFINITY, NOW));
    await db.transaction((tx) => disableCapture(tx, capture, NOW));
    const row = await enabled(capture, {}, NOW + HOUR / 2);
    assert.equal(row.heldUntil, null, 'a start ends a hold of before the stop');
    assert.equal(row.generation, 3);
    assert.equal(row.ultNsu, '000000000000040');
    assert.equal(row.phase, 'waiting');
    assert.equal(row.state.nextQueryAt, NOW + HOUR);
    assert.equal(row.notBefore, NOW + HOUR);
    assert.equal(row.state.failures, 0);
  });

  test('another environment of the same company and type is refused while one runs', async () => {
    const { id } = await newCompany(db);
    await enabled(keyOf(id));
    const production = keyOf(id, { environment: 'production' });
    assert.deepEqual(await enable(production), {
      ok: false,
      problem: 'environment_in_use',
      environment: 'homologation',
    });
    assert.ok((await enable(keyOf(id, { documentType: 'cte', environment: 'production' }))).ok);
    await db.transaction((tx) => disableCapture(tx, keyOf(id), NOW));
    assert.ok((await enable(production)).ok);
  });

  test('two environments at the same moment: exactly one wins', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await newCompany(db);
      const answers = await Promise.all([
        enable(keyOf(id)),
        enable(keyOf(id, { environment: 'production' })),
        enable(keyOf(id)),
      ]);
      const rows = await listCompanyCaptures(db, id);
      assert.equal(rows.filter((row) => row.enabled).length, 1);
      assert.equal(answers.filter((answer) => !answer.ok).length >= 1, true);
    }
  });

  test('even a program that forgets the rule cannot run two environments', async () => {
    const { id } = await newCompany(db);
    await enabled(keyOf(id));
    const copy = `insert into captures (company_id, document_type, environment, state, phase)
      select company_id, document_type, 'production', state, phase from captures where company_id = $1`;
    await assert.rejects(
      db.query(copy, [id]),
      (error) => error instanceof DatabaseError && error.constraint === 'captures_one_environment',
    );
  });

  test('an unknown company and one being erased are told apart', async () => {
    assert.deepEqual(await enable(keyOf(randomUUID())), { ok: false, problem: 'company_unknown' });
    const { id } = await newCompany(db);
    await db.query('update companies set deleting_at = now() where id = $1', [id]);
    assert.deepEqual(await enable(keyOf(id)), { ok: false, problem: 'company_deleting' });
  });
});

describe('orders', () => {
  test('a stop counts a generation; a repeat of a start after it counts another', async () => {
    const capture = keyOf((await newCompany(db)).id);
    await enabled(capture);
    const row = await db.transaction((tx) => disableCapture(tx, capture, NOW));
    assert.equal(row?.enabled, false);
    assert.equal(row?.generation, 2);
    assert.equal(row?.revision, 1);
    assert.equal(row?.phase, 'stopped');
    assert.equal(row?.state.phase, 'stopped');
  });

  test("a workflow's own stop yields to a start that it did not see", async () => {
    const capture = keyOf((await newCompany(db)).id);
    await enabled(capture);
    await enabled(capture);
    const late = await db.transaction((tx) => closeCapture(tx, capture, 1, NOW));
    assert.equal(late?.closed, false);
    assert.equal(late?.row.enabled, true);
    const seen = await db.transaction((tx) => closeCapture(tx, capture, 2, NOW));
    assert.equal(seen?.closed, true);
    assert.equal(seen?.row.enabled, false);
    assert.equal(seen?.row.generation, 2);
    const repeat = await db.transaction((tx) => closeCapture(tx, capture, 2, NOW));
    assert.equal(repeat?.closed, true);
    assert.equal(repeat?.row.revision, seen?.row.revision);
  });

  test('a hold shows as paused and ends without shortening a wait', async () => {
    const company = await newCompany(db);
    const capture = keyOf(company.id);
    await enabled(capture);
    await commit(capture, { phase: 'waiting', nextQueryAt: NOW + HOUR }, NOW + HOUR);
    let row = await db.transaction((tx) => holdCapture(tx, capture, Number.POSITIVE_INFINITY, NOW));
    assert.equal(row?.phase, 'paused');
    assert.ok(row && snapshotOf(row, company).heldUntil === 'indefinitely');
    row = await db.transaction((tx) => holdCapture(tx, capture, NOW + 5 * HOUR, NOW));
    assert.equal(row?.heldUntil, NOW + 5 * HOUR);
    row = await db.transaction((tx) => holdCapture(tx, capture, null, NOW));
    assert.equal(row?.heldUntil, null);
    assert.equal(row?.phase, 'waiting');
    assert.equal(row?.state.nextQueryAt, NOW + HOUR);
    assert.equal(row?.notBefore, NOW + HOUR);
    assert.equal(row?.revision, 4);
  });

  test('a hold does not hide that operators are needed', async () => {
    const capture = keyOf((await newCompany(db)).id);
    await enabled(capture);
    await commit(capture, { phase: 'attention', failures: 10 });
    await db.transaction((tx) => holdCapture(tx, capture, NOW + HOUR, NOW));
    const row = await db.transaction((tx) => holdCapture(tx, capture, null, NOW));
    assert.equal(row?.phase, 'attention');
  });

  test('resume takes the counters to zero, keeps not_before, ends a hold, and does not start what was stopped', async () => {
    const capture = keyOf((await newCompany(db)).id);
    await enabled(capture);
    const counters = { failures: 10, unknowns: 2, standstills: 3, certificateRefusals: 10 };
    await commit(capture, { phase: 'disabled', ...counters }, NOW + HOUR);
    await db.transaction((tx) => holdCapture(tx, capture, NOW + HOUR, NOW));
    let row = await db.transaction((tx) => resumeCapture(tx, capture, NOW));
    assert.equal(row?.phase, 'waiting');
    assert.equal(row?.notBefore, NOW + HOUR);
    assert.equal(row?.heldUntil, null);
    for (const counter of Object.keys(counters) as (keyof typeof counters)[]) assert.equal(row?.state[counter], 0);
    await db.transaction((tx) => disableCapture(tx, capture, NOW));
    row = await db.transaction((tx) => resumeCapture(tx, capture, NOW));
    assert.equal(row?.phase, 'stopped');
  });

  test('a phase that the workflow found itself in is written once', async () => {
    const capture = keyOf((await newCompany(db)).id);
    await enabled(capture);
    const mark = () => db.transaction((tx) => markCapture(tx, capture, 'handing-over', 'host takes nothing', NOW));
    assert.equal((await mark())?.phase, 'handing-over');
    assert.equal((await mark())?.revision, 1);
  });

  test('a cursor set by hand keeps not_before, and maxNSU never falls below it', async () => {
    const capture = keyOf((await newCompany(db)).id);
    await enabled(capture);
    await commit(capture, { ultNsu: parseNsu(40), maxNsu: parseNsu(60) }, NOW + HOUR);
    const set = async (nsu: number, now = NOW) => {
      const answer = await db.transaction((tx) => setCursor(tx, capture, parseNsu(nsu), now));
      return answer.ok ? [Number(answer.row.ultNsu), Number(answer.row.maxNsu), answer.row.notBefore] : answer.problem;
    };
    assert.deepEqual(await set(10), [10, 60, NOW + HOUR]);
    assert.deepEqual(await set(70), [70, 70, NOW + HOUR]);
    const { rows } = await db.query(
      'select from_nsu::int as from, to_nsu::int as to, status from gaps where company_id = $1',
      [capture.companyId],
    );
    assert.deepEqual(rows, [{ from: 11, to: 70, status: 'before_onboarding' }], 'what it passes is not forgotten');
    await db.query(
      `update captures set call_id = 'c', distribution_call_id = 'c', call_deadline = $2 where company_id = $1`,
      [capture.companyId, new Date(NOW + HOUR)],
    );
    assert.equal(await set(5), 'call_in_hand');
    assert.deepEqual(await set(5, NOW + HOUR), [5, 70, NOW + HOUR]);
    assert.equal((await getCapture(db, capture))?.distributionCallId, null, 'a late page cannot move it on');
  });

  test('an order waits for a page being committed and is not lost under it', async () => {
    const capture = keyOf((await newCompany(db)).id);
    await enabled(capture);
    let order: Promise<unknown> | undefined;
    await db.transaction(async (tx) => {
      const row = await lockCapture(tx, capture);
      assert.ok(row);
      order = db.transaction((other) => disableCapture(other, capture, NOW));
      await until(
        async () => (await db.query("select from pg_stat_activity where wait_event_type = 'Lock'")).rowCount > 0,
        'the order waits',
      );
      await commitState(
        tx,
        capture,
        { ...row.state, ultNsu: parseNsu(50), maxNsu: parseNsu(50) },
        { now: NOW, documents: 50 },
      );
    });
    await order;
    const row = await getCapture(db, capture);
    assert.deepEqual(
      [row?.enabled, row?.phase, row?.ultNsu, row?.documents],
      [false, 'stopped', '000000000000050', 50],
    );
  });

  test('orders for a capture that is not there answer null', async () => {
    const capture = keyOf(randomUUID());
    await db.transaction(async (tx) => {
      assert.equal(await disableCapture(tx, capture, NOW), null);
      assert.equal(await closeCapture(tx, capture, 1, NOW), null);
      assert.equal(await holdCapture(tx, capture, null, NOW), null);
      assert.equal(await resumeCapture(tx, capture, NOW), null);
      assert.equal(await markCapture(tx, capture, 'attention', 'x', NOW), null);
      assert.deepEqual(await setCursor(tx, capture, parseNsu(1), NOW), { ok: false, problem: 'unknown' });
      assert.equal(await restoreCapture(tx, capture, { now: NOW, hold: 1 }), null);
    });
  });
});

describe('committing a state', () => {
  test('not_before only grows, the last answer stays when a commit brings none, every commit counts a revision', async () => {
    const capture = keyOf((await newCompany(db)).id);
    await enabled(capture);
    await commit(capture, { phase: 'waiting' }, NOW + HOUR);
    let row = await commit(capture, { phase: 'waiting' }, NOW + 10);
    assert.equal(row.notBefore, NOW + HOUR);
    assert.equal(row.lastQueryAt, NOW);
    assert.equal(row.lastStatusText, 'Documento localizado');
    row = await db.transaction(async (tx) => {
      const written = await commitState(tx, capture, row.state, { now: NOW + 1, documents: 2 });
      assert.ok(written);
      return written;
    });
    assert.deepEqual(
      [row.revision, row.lastStatusCode, row.documents, row.updatedAt, row.notBefore],
      [3, '138', 2, NOW + 1, NOW + HOUR],
    );
  });

  test('a state of a newer program is refused, not guessed at', async () => {
    const capture = keyOf((await newCompany(db)).id);
    await enabled(capture);
    await db.query(`update captures set state = state || '{"version": 2}' where company_id = $1`, [capture.companyId]);
    await assert.rejects(getCapture(db, capture), UnknownStateVersion);
    await db.query('delete from captures where company_id = $1', [capture.companyId]);
  });
});

describe('lists and counts', () => {
  test('every filter, and pages that neither repeat nor skip while captures are added', async () => {
    await db.query('delete from captures');
    const made: string[] = [];
    for (let i = 0; i < 12; i += 1) {
      const { id } = await newCompany(db, { uf: i % 2 ? 'SP' : 'MG' });
      made.push(id);
      await enabled(keyOf(id));
      if (i % 3 === 0) await enabled(keyOf(id, { documentType: 'cte', environment: 'production' }));
      if (i % 4 === 0) await commit(keyOf(id), { phase: 'attention' });
    }
    const all = async (filter: Parameters<typeof listCaptures>[1]) =>
      (await listCaptures(db, filter, { limit: 100 })).rows.length;
    assert.equal(await all({}), 16);
    assert.equal(await all({ documentType: 'cte' }), 4);
    assert.equal(await all({ environment: 'production' }), 4);
    assert.equal(await all({ phase: 'attention' }), 3);
    assert.equal(await all({ phase: 'attention', documentType: 'cte' }), 0);
    assert.equal(await all({ uf: 'SP' }), 8);
    assert.equal(await all({ enabled: false }), 0);
    assert.equal(await all({ visible: made.slice(0, 2) }), 3);
    assert.equal(await all({ visible: [] }), 0);

    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof listCaptures>> = await listCaptures(db, {}, { limit: 3, cursor });
      seen.push(...page.rows.map((row) => `${row.companyId}/${row.documentType}`));
      cursor = page.nextCursor;
      await enabled(keyOf((await newCompany(db)).id));
    } while (cursor !== null && seen.length < 200);
    assert.equal(new Set(seen).size, seen.length);
    for (const id of made) assert.ok(seen.includes(`${id}/nfe`));
  });

  test('a foreign cursor is refused before it reaches a statement', async () => {
    for (const cursor of ['', 'x', 'W10', Buffer.from('["a","b","c"]').toString('base64url')]) {
      await assert.rejects(listCaptures(db, {}, { limit: 3, cursor }), InvalidCursor);
    }
  });

  test('counts of several captures come in their order', async () => {
    const [a, b] = [await newCompany(db), await newCompany(db)];
    const call = (companyId: string, answeredAt: number, granted: boolean, environment = 'homologation') =>
      db.query(
        `insert into calls (id, started_at, company_id, document_type, environment, service, kind, status, deadline, archive_key, answered_at, granted)
         values ($1, $2, $3, 'nfe', $5, 's', 'consNSU', 'answered', $2, 'k', $2, $4)`,
        [randomUUID(), new Date(answeredAt), companyId, granted, environment],
      );
    await call(b.id, NOW - HOUR / 2, true);
    await call(b.id, NOW - HOUR / 4, true);
    await call(b.id, NOW - HOUR / 4, false);
    await call(b.id, NOW - HOUR - 1, true);
    await call(b.id, NOW - HOUR / 4, true, 'production');
    for (const [nsu, status] of [
      [1, 'pending'],
      [2, 'pending'],
      [3, 'recovered'],
    ] as const) {
      await db.query(
        `insert into gaps (id, company_id, document_type, environment, from_nsu, to_nsu, status, cause, created_at, next_attempt_at)
         values ($1, $2, 'nfe', 'homologation', $3, $3, $4, 'page', now(), now())`,
        [randomUUID(), a.id, nsu, status],
      );
    }
    for (const resolved of [null, new Date(NOW)]) {
      await db.query(
        `insert into failed_items (id, company_id, document_type, environment, failure, detail, archive_id, object_key, byte_offset,
           byte_length, encoding, created_at, resolved_at)
         values ($1, $2, 'nfe', 'homologation', 'gzip', 'x', $1, 'k', 0, 1, 'base64', now(), $3)`,
        [randomUUID(), a.id, resolved],
      );
    }
    assert.deepEqual(await countCaptures(db, [keyOf(b.id), keyOf(a.id)], NOW - HOUR), [
      { failedItems: 0, gaps: {}, pointQueries: { used: 2, oldestAt: NOW - HOUR / 2 } },
      { failedItems: 1, gaps: { pending: 2, recovered: 1 }, pointQueries: { used: 0, oldestAt: null } },
    ]);
    assert.deepEqual(await countCaptures(db, [], NOW), []);
  });
});
