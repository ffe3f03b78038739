import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MANIFESTATION_RULES } from '../../src/model/manifestation.js';
import type { CaptureKey } from '../../src/model/words.js';
import { manifestationFigures } from '../../src/storage/capture-figures.js';
import {
  type ManifestationOrder,
  type OrderAnswer,
  requestManifestation,
} from '../../src/storage/manifestation-orders.js';
import {
  expireManifestations,
  giveToCall,
  lockDue,
  lockOfCall,
  type ManifestationResult,
  outlookOf,
  overdueManifestations,
  putOff,
  recordResults,
  withdrawManifestations,
} from '../../src/storage/manifestation-queue.js';
import { getManifestation, listManifestations, type ManifestationRow } from '../../src/storage/manifestations.js';
import { until } from '../support/until.js';
import { newDocument } from './documents-support.js';
import { newCompany, openDatabase } from './support.js';

const { db } = await openDatabase();

const NOW = Date.parse('2026-11-30T12:00:00Z');
const DAY = 86_400_000;
const keyOf = (n: number) => `35261111222333000181550010000000${String(n).padStart(12, '0')}`;
let keys = 0;

interface Speaker {
  readonly capture: CaptureKey;
  readonly taxId: string;
}
async function speaker(): Promise<Speaker> {
  const { id, taxId } = await newCompany(db);
  return { capture: { companyId: id, documentType: 'nfe', environment: 'homologation' }, taxId };
}

function order(who: Speaker, type: string, more: Partial<ManifestationOrder> = {}): Promise<OrderAnswer> {
  const rule = MANIFESTATION_RULES.get(type);
  assert.ok(rule);
  return db.transaction((tx) => requestManifestation(tx, { ...who, key: keyOf(1), rule, now: NOW, ...more }));
}
function taken(answer: OrderAnswer): ManifestationRow {
  assert.ok(answer.ok, JSON.stringify(answer));
  return answer.row;
}

const done = (row: ManifestationRow, more: Partial<ManifestationResult> = {}): ManifestationResult => ({
  id: row.id,
  status: 'registered',
  nextAttemptAt: null,
  failures: 0,
  unanswered: 0,
  answerLost: false,
  alone: false,
  late: false,
  statusCode: '135',
  statusText: 'Evento registrado',
  protocol: '891260000000999',
  registeredAt: NOW,
  documentId: null,
  xmlDueAt: null,
  ...more,
});
const record = (results: ManifestationResult[], now = NOW) => db.transaction((tx) => recordResults(tx, results, now));

describe('figures for metrics', () => {
  test('what waits for its time, and what nobody has sent although it is due', async () => {
    const of = async (overdueBefore: number) =>
      Object.fromEntries(
        (await manifestationFigures(db, overdueBefore))
          .filter(({ documentType, environment }) => documentType === 'nfe' && environment === 'homologation')
          .map(({ state, manifestations }) => [state, manifestations]),
      );
    const before = await of(NOW);
    const who = await speaker();
    await order(who, '210200');
    const settled = taken(await order(who, '210210', { key: keyOf(2) }));
    await record([done(settled)]);
    const [waiting, overdue] = [(before.waiting ?? 0) + 1, (before.overdue ?? 0) + 1];
    assert.equal((await of(NOW - 1)).waiting, waiting);
    assert.equal((await of(NOW)).overdue, overdue);
  });
});

describe('requests', () => {
  test('asking twice makes one, also at the same moment and under another company', async () => {
    const who = await speaker();
    const answers = await Promise.all(Array.from({ length: 8 }, () => order(who, '210200')));
    assert.equal(new Set(answers.map((answer) => taken(answer).id)).size, 1);
    assert.equal(answers.filter((answer) => answer.ok && answer.made).length, 1);
    const other = await speaker();
    assert.notEqual(taken(await order(other, '210200')).id, taken(answers[0] as OrderAnswer).id);
  });

  test('one that comes while the first is being written waits for it', async () => {
    const who = await speaker();
    const rule = MANIFESTATION_RULES.get('210200');
    assert.ok(rule);
    let second: Promise<OrderAnswer> | undefined;
    const first = await db.transaction(async (tx) => {
      const answer = await requestManifestation(tx, { ...who, key: keyOf(1), rule, now: NOW });
      second = order(who, '210200');
      await until(
        async () => (await db.query('select from pg_locks where not granted')).rowCount > 0,
        'the second waits',
      );
      return answer;
    });
    const waited = await second;
    assert.ok(waited?.ok && !waited.made);
    assert.equal(waited.row.id, taken(first).id);
  });

  test('keeps what is said, and counts the deadline from the authorization where it is known', async () => {
    const who = await speaker();
    const unknown = taken(await order(who, '210240', { justification: 'Mercadoria recusada no recebimento' }));
    assert.equal(unknown.justification, 'Mercadoria recusada no recebimento');
    assert.deepEqual([unknown.deadline, unknown.expiresAt, unknown.nextAttemptAt], [null, NOW + 90 * DAY, NOW]);
    const key = keyOf(2);
    await newDocument(db, {
      company_id: who.capture.companyId,
      kind: 'resNFe',
      key,
      issuer_tax_id: '11222333000181',
      metadata: JSON.stringify({ authorizedAt: '2026-11-25T09:00:00-03:00' }),
    });
    const known = taken(await order(who, '210210', { key }));
    assert.equal(new Date(known.deadline ?? 0).toISOString(), '2026-12-05T12:00:00.000Z');
    assert.equal(known.expiresAt, known.deadline);
    // Too late by law: it is sent all the same, and the government says so.
    const late = taken(await order(who, '210210', { key: keyOf(3), now: NOW }));
    assert.equal(late.status, 'pending');
    const fields = { indAceitacao: '1' };
    assert.deepEqual(taken(await order(who, '211128', { fields })).fields, fields);
  });

  test('what other programs of the company said counts, and so does what is known of the note', async () => {
    const who = await speaker();
    const { companyId } = who.capture;
    const key = keyOf(4);
    const event = (type: string, at: string, sequence: number, author = who.taxId) =>
      newDocument(db, {
        company_id: companyId,
        kind: 'procEventoNFe',
        key,
        event_type: type,
        event_sequence: sequence,
        event: JSON.stringify({ type, author, registeredAt: at }),
      });
    await event('210200', '2026-11-01T10:00:00-03:00', 1);
    await event('210240', '2026-11-02T10:00:00-03:00', 1);
    await event('210220', '2026-11-03T10:00:00-03:00', 1, '00000000000191');
    assert.equal(taken(await order(who, '210200', { key })).sequence, 2);
    assert.equal(taken(await order(who, '210220', { key })).sequence, 1);
    const own = keyOf(5);
    await newDocument(db, {
      company_id: companyId,
      key: own,
      issuer_tax_id: who.taxId,
      recipient_tax_id: '11222333000181',
    });
    assert.deepEqual(await order(who, '210200', { key: own }), { ok: false, problem: 'own_document' });
    const elsewhere = keyOf(6);
    await newDocument(db, { company_id: companyId, key: elsewhere, recipient_tax_id: '11222333000181' });
    assert.deepEqual(await order(who, '210200', { key: elsewhere }), { ok: false, problem: 'not_the_recipient' });
  });

  test('a rejected one may be asked for anew; a scheduled one is hurried by whoever asks', async () => {
    const who = await speaker();
    const first = taken(await order(who, '210200'));
    await record([done(first, { status: 'rejected', statusCode: '596', protocol: null, registeredAt: null })]);
    const second = taken(await order(who, '210200'));
    assert.notEqual(second.id, first.id);
    assert.equal(second.sequence, 1);
    await db.query(`update manifestations set next_attempt_at = $2 where id = $1`, [second.id, new Date(NOW + DAY)]);
    const hurried = taken(await order(who, '210200'));
    assert.deepEqual([hurried.id, hurried.nextAttemptAt], [second.id, NOW]);
  });
});

describe('the queue', () => {
  async function three(): Promise<{ who: Speaker; rows: ManifestationRow[] }> {
    const who = await speaker();
    const rows: ManifestationRow[] = [];
    for (const type of ['210200', '210210', '210240']) {
      keys += 1;
      const justification = type === '210240' ? 'Mercadoria recusada' : null;
      rows.push(taken(await order(who, type, { key: keyOf(100 + keys), justification, now: NOW + rows.length })));
    }
    return { who, rows };
  }
  const idsOf = (rows: readonly ManifestationRow[]) => rows.map(({ id }) => id);

  test('gives out in order, to one sender at a time, and again after the call’s deadline', async () => {
    const { who, rows } = await three();
    const call = { id: 'run:1', startedAt: NOW, deadline: NOW + 90_000 };
    await db.transaction(async (tx) => {
      const due = await lockDue(tx, who.capture, { now: NOW + 10, limit: 2 });
      assert.deepEqual(idsOf(due), idsOf(rows.slice(0, 2)));
      await db.transaction(async (other) => {
        assert.deepEqual(idsOf(await lockDue(other, who.capture, { now: NOW + 10, limit: 20 })), idsOf(rows.slice(2)));
      });
      await giveToCall(
        tx,
        call,
        due.map(({ id }) => ({ id, signed: Buffer.from('<evento/>'), signedUntil: NOW + DAY })),
      );
    });
    const due = (now: number) => db.transaction((tx) => lockDue(tx, who.capture, { now, limit: 20 }));
    assert.deepEqual(idsOf(await due(NOW + 89_999)), idsOf(rows.slice(2)));
    const later = await due(NOW + 90_000);
    assert.deepEqual(
      later.map((row) => [row.callId, row.attempts, row.signed?.toString()]),
      [
        [null, 0, undefined],
        ['run:1', 1, '<evento/>'],
        ['run:1', 1, '<evento/>'],
      ],
    );
    assert.deepEqual(
      idsOf(await db.transaction((tx) => lockOfCall(tx, who.capture, 'run:1'))),
      idsOf(rows.slice(0, 2)),
    );
    assert.deepEqual(await outlookOf(db, who.capture), { pending: 3, nextDueAt: NOW + 2 });
  });

  test('results settle an event, or say when it is tried again', async () => {
    const { who, rows } = await three();
    const [first, second] = rows;
    assert.ok(first && second);
    await record([
      done(first, { late: true, statusCode: '155', xmlDueAt: NOW + 2 * DAY }),
      done(second, {
        status: 'pending',
        nextAttemptAt: NOW + 60_000,
        failures: 1,
        unanswered: 1,
        alone: true,
        statusCode: null,
        statusText: null,
        protocol: null,
        registeredAt: null,
      }),
    ]);
    const settled = await getManifestation(db, first.id);
    assert.deepEqual(
      [
        settled?.status,
        settled?.late,
        settled?.statusCode,
        settled?.protocol,
        settled?.settledAt,
        settled?.nextAttemptAt,
      ],
      ['registered', true, '155', '891260000000999', NOW, null],
    );
    const waiting = await getManifestation(db, second.id);
    assert.deepEqual(
      [waiting?.status, waiting?.failures, waiting?.alone, waiting?.settledAt, waiting?.nextAttemptAt],
      ['pending', 1, true, null, NOW + 60_000],
    );
    assert.deepEqual(await outlookOf(db, who.capture), { pending: 2, nextDueAt: NOW + 2 });
  });

  test('without a certificate everything is put off, and found at once when there is one', async () => {
    const { who, rows } = await three();
    await db.transaction((tx) => putOff(tx, who.capture, NOW + 10, NOW + DAY));
    assert.deepEqual(await outlookOf(db, who.capture), { pending: 3, nextDueAt: NOW + DAY });
    const due = await db.transaction((tx) => lockDue(tx, who.capture, { now: NOW + 10, limit: 20 }));
    assert.equal(due.length, rows.length);
  });

  test('ends when its time is over, unless a call has it in hand', async () => {
    const { who, rows } = await three();
    const [first, ...others] = rows;
    assert.ok(first);
    const end = first.expiresAt;
    await db.transaction((tx) =>
      giveToCall(tx, { id: 'run:2', startedAt: end, deadline: end + 90_000 }, [
        { id: first.id, signed: Buffer.from('x'), signedUntil: end },
      ]),
    );
    assert.equal(await db.transaction((tx) => expireManifestations(tx, who.capture, end + 10)), others.length);
    assert.deepEqual(await outlookOf(db, who.capture), { pending: 1, nextDueAt: end + 90_000 });
  });

  test('what was sent cannot be withdrawn', async () => {
    const { who, rows } = await three();
    const [first, second] = rows;
    assert.ok(first && second);
    await db.transaction((tx) =>
      giveToCall(tx, { id: 'run:3', startedAt: NOW, deadline: NOW + 1 }, [
        { id: first.id, signed: Buffer.from('x'), signedUntil: NOW },
      ]),
    );
    await db.transaction((tx) => withdrawManifestations(tx, [first.id, second.id]));
    assert.equal((await outlookOf(db, who.capture)).pending, 2);
  });

  test('who has had something due for a while is found once', async () => {
    const { who } = await three();
    const overdue = await overdueManifestations(db, NOW + 10, 1_000);
    assert.equal(overdue.filter(({ companyId }) => companyId === who.capture.companyId).length, 1);
    assert.deepEqual(
      overdue.find(({ companyId }) => companyId === who.capture.companyId),
      who.capture,
    );
    const before = await overdueManifestations(db, NOW - 1, 1_000);
    assert.ok(!before.some(({ companyId }) => companyId === who.capture.companyId));
  });
});

describe('lists', () => {
  test('newest first, by company, key, type and status, only what may be seen', async () => {
    const who = await speaker();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(taken(await order(who, '210200', { key: keyOf(500 + i), now: NOW + i })).id);
    const { companyId } = who.capture;
    const first = await listManifestations(db, { companyId }, { limit: 2 });
    assert.deepEqual(
      first.rows.map(({ id }) => id),
      ids.toReversed().slice(0, 2),
    );
    const rest = await listManifestations(db, { companyId }, { limit: 10, cursor: first.nextCursor });
    assert.deepEqual(
      rest.rows.map(({ id }) => id),
      ids.toReversed().slice(2),
    );
    assert.equal(rest.nextCursor, null);
    const count = async (filter: Parameters<typeof listManifestations>[1]) =>
      (await listManifestations(db, { companyId, ...filter }, { limit: 50 })).rows.length;
    assert.equal(await count({ key: keyOf(500) }), 1);
    assert.equal(await count({ type: '210210' }), 0);
    assert.equal(await count({ status: 'pending' }), 5);
    assert.equal(await count({ status: 'expired' }), 0);
    assert.equal(await count({ visible: [] }), 0);
    assert.equal(await count({ visible: [companyId] }), 5);
  });
});
