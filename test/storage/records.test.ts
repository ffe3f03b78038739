import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { closeAlert, listAlerts, openAlert } from '../../src/storage/alerts.js';
import { createApiKey, listApiKeys, revokeApiKey, useApiKey } from '../../src/storage/api-keys.js';
import { type ArchiveRow, getArchive, insertArchive } from '../../src/storage/archives.js';
import { recordAudit } from '../../src/storage/audit.js';
import { listCalls } from '../../src/storage/call-log.js';
import { abandonIdempotent, beginIdempotent, finishIdempotent } from '../../src/storage/idempotency.js';
import type { Page } from '../../src/storage/keyset.js';
import { getSetting, putSetting, settleSetting } from '../../src/storage/settings.js';
import {
  type MonthlyUsage,
  monthlyUsage,
  monthOfUse,
  recordUsage,
  type UsageFilter,
  type UsageRecord,
} from '../../src/storage/usage.js';
import { openDatabase } from './support.js';

const { db } = await openDatabase();
const NOW = Date.UTC(2026, 10, 30, 12);
const MINUTE = 60_000;

describe('alerts', () => {
  const capture = { companyId: randomUUID(), documentType: 'nfe', environment: 'production' } as const;

  test('the same one is open once, also when several open it at the same moment', async () => {
    const identity = { code: 'other_consumer', ...capture } as const;
    const opened = await Promise.all([1, 2, 3, 4].map(() => openAlert(db, identity, 'another program asks', NOW)));
    assert.equal(opened.filter((alert) => alert !== null).length, 1);
    const closed = await closeAlert(db, identity, NOW + 1);
    assert.equal(closed?.closedAt, NOW + 1);
    assert.equal(await closeAlert(db, identity, NOW + 2), null);
    assert.ok(await openAlert(db, identity, 'again', NOW + 3), 'after it was closed it opens anew');
  });

  test('what differs in any part of the identity is another alert', async () => {
    const identities = [
      { code: 'endpoint_disabled', subject: 'e1' },
      { code: 'endpoint_disabled', subject: 'e2' },
      { code: 'service_outage', subject: 'nfe-distribution' },
      { code: 'cursor_ahead', ...capture },
      { code: 'cursor_ahead', ...capture, environment: 'homologation' },
      { code: 'cursor_ahead', companyId: capture.companyId },
    ] as const;
    for (const identity of identities) assert.ok(await openAlert(db, identity, 'x', NOW));
    for (const identity of identities) assert.equal(await openAlert(db, identity, 'x', NOW), null);
    for (const identity of identities) assert.ok(await closeAlert(db, identity, NOW));
  });

  test('are listed newest first, by every filter', async () => {
    await db.query('delete from alerts');
    const company = randomUUID();
    await openAlert(db, { code: 'service_outage', subject: 's' }, 'a', NOW);
    await openAlert(db, { code: 'item_failed', companyId: company, documentType: 'cte' }, 'b', NOW + 1);
    await openAlert(db, { code: 'cursor_ahead', ...capture }, 'c', NOW + 2, 'critical');
    await closeAlert(db, { code: 'cursor_ahead', ...capture }, NOW + 3);
    const details = async (filter: Parameters<typeof listAlerts>[1]) =>
      (await listAlerts(db, filter, { limit: 10 })).rows.map(({ detail }) => detail).join('');
    assert.equal(await details({}), 'cba');
    assert.equal(await details({ open: true }), 'ba');
    assert.equal(await details({ open: false }), 'c');
    assert.equal(await details({ code: 'item_failed' }), 'b');
    assert.equal(await details({ companyId: company }), 'b');
    assert.equal(await details({ documentType: 'nfe' }), 'c');
    assert.equal(await details({ visible: [company] }), 'b');
    const severities = (await listAlerts(db, {}, { limit: 10 })).rows.map(({ severity }) => severity);
    assert.deepEqual(severities, ['critical', 'warning', 'warning']);
    const first = await listAlerts(db, {}, { limit: 2 });
    const second = await listAlerts(db, {}, { limit: 2, cursor: first.nextCursor });
    assert.deepEqual([first.rows.length, second.rows.map(({ detail }) => detail), second.nextCursor], [2, ['a'], null]);
  });
});

describe('API keys', () => {
  const key = (name: string, now = NOW) =>
    createApiKey(db, { id: randomUUID(), name, hash: name.repeat(8), scopes: ['read'], companyIds: null, now });

  test('are found by their hash until revoked; use is noted at most once a minute', async () => {
    const made = await key('one');
    assert.equal(made.lastUsedAt, null);
    const lastUse = async () =>
      (await listApiKeys(db, { limit: 10 })).rows.find(({ id }) => id === made.id)?.lastUsedAt;
    assert.equal((await useApiKey(db, 'one'.repeat(8), NOW))?.id, made.id);
    assert.equal(await lastUse(), NOW);
    await useApiKey(db, 'one'.repeat(8), NOW + MINUTE - 1);
    assert.equal(await lastUse(), NOW);
    await useApiKey(db, 'one'.repeat(8), NOW + MINUTE + 1);
    assert.equal(await lastUse(), NOW + MINUTE + 1);
    assert.equal(await useApiKey(db, 'another', NOW), null);
    assert.equal(await revokeApiKey(db, made.id, NOW), true);
    assert.equal(await revokeApiKey(db, made.id, NOW), false);
    assert.equal(await useApiKey(db, 'one'.repeat(8), NOW), null);
  });

  test('keep their companies, and no answer holds a hash', async () => {
    const companyIds = [randomUUID(), randomUUID()];
    const made = await createApiKey(db, {
      id: randomUUID(),
      name: 'two',
      hash: 'secret-hash',
      scopes: ['read', 'manage'],
      companyIds,
      now: NOW,
    });
    assert.deepEqual([made.companyIds, made.scopes], [companyIds, ['read', 'manage']]);
    assert.doesNotMatch(JSON.stringify([made, await listApiKeys(db, { limit: 10 })]), /secret-hash/);
  });
});

describe('idempotency', () => {
  const fresh = () => ({ scope: 'key-1 POST /v1/companies', key: randomUUID() });

  test('one begins, the others wait; then all get the answer', async () => {
    const request = fresh();
    const began = await Promise.all([1, 2, 3].map(() => beginIdempotent(db, request, 'mac', NOW)));
    assert.deepEqual(began.map(({ kind }) => kind).sort(), ['begun', 'in_flight', 'in_flight']);
    await finishIdempotent(db, request, 201, Buffer.from([1, 2, 3]));
    assert.deepEqual(await beginIdempotent(db, request, 'mac', NOW + MINUTE), {
      kind: 'finished',
      status: 201,
      answer: Buffer.from([1, 2, 3]),
    });
  });

  test('another request under the same key is told so, in flight and afterwards', async () => {
    const request = fresh();
    await beginIdempotent(db, request, 'mac', NOW);
    assert.equal((await beginIdempotent(db, request, 'other', NOW)).kind, 'other_request');
    assert.equal((await beginIdempotent(db, request, 'other', NOW + 60 * MINUTE)).kind, 'other_request');
    await finishIdempotent(db, request, 200, Buffer.alloc(0));
    assert.equal((await beginIdempotent(db, request, 'other', NOW)).kind, 'other_request');
    assert.equal((await beginIdempotent(db, { ...request, scope: 'key-2' }, 'other', NOW)).kind, 'begun');
  });

  test('one that was abandoned, or whose process died, is done by the next', async () => {
    const [abandoned, died] = [fresh(), fresh()];
    await beginIdempotent(db, abandoned, 'mac', NOW);
    await abandonIdempotent(db, abandoned);
    assert.equal((await beginIdempotent(db, abandoned, 'mac', NOW)).kind, 'begun');
    await beginIdempotent(db, died, 'mac', NOW);
    assert.equal((await beginIdempotent(db, died, 'mac', NOW + 4 * MINUTE)).kind, 'in_flight');
    assert.equal((await beginIdempotent(db, died, 'mac', NOW + 6 * MINUTE)).kind, 'begun');
    assert.equal((await beginIdempotent(db, died, 'mac', NOW + 6 * MINUTE)).kind, 'in_flight');
    await finishIdempotent(db, died, 200, Buffer.alloc(0));
    await abandonIdempotent(db, died);
    assert.equal((await beginIdempotent(db, died, 'mac', NOW)).kind, 'finished', 'a finished one cannot be abandoned');
  });
});

test('usage counts a document once, in its first month, per company and type', async () => {
  const [a, b] = [randomUUID(), randomUUID()];
  const record = (
    companyId: string,
    documentType: 'nfe' | 'cte',
    kind: UsageRecord['kind'] = 'procNFe',
  ): UsageRecord => ({
    documentId: randomUUID(),
    companyId,
    documentType,
    kind,
  });
  const records = [record(a, 'nfe'), record(a, 'nfe', 'resNFe'), record(a, 'cte', 'procCTe'), record(b, 'nfe')];
  await recordUsage(db, records, NOW);
  await recordUsage(db, records, NOW);
  await recordUsage(db, records.slice(0, 1), Date.UTC(2026, 11, 1));
  await recordUsage(db, [record(b, 'cte')], Date.UTC(2026, 11, 31, 23, 59));
  await recordUsage(db, [], NOW);
  const byKey = (usage: { companyId: string; documentType: string; documents: number }[]) =>
    Object.fromEntries(usage.map((row) => [`${row.companyId} ${row.documentType}`, row.documents]));
  const kinds = (await monthlyUsage(db, { month: '2026-11', companyId: a }, { limit: 9 })).rows.map((row) => row.kinds);
  assert.deepEqual(kinds, [{ procCTe: 1 }, { procNFe: 1, resNFe: 1 }]);
  const usageOf = async (filter: UsageFilter) => {
    const all: MonthlyUsage[] = [];
    for (let cursor: string | null = null; ; ) {
      const page: Page<MonthlyUsage> = await monthlyUsage(db, filter, { limit: 2, cursor });
      all.push(...page.rows);
      if (page.nextCursor === null) return all;
      cursor = page.nextCursor;
    }
  };
  assert.deepEqual(byKey(await usageOf({ month: '2026-11' })), { [`${a} nfe`]: 2, [`${a} cte`]: 1, [`${b} nfe`]: 1 });
  assert.deepEqual(byKey(await usageOf({ month: '2026-12' })), { [`${b} cte`]: 1 });
  assert.deepEqual(byKey(await usageOf({ month: '2026-11', visible: [b] })), { [`${b} nfe`]: 1 });
});

test('a month of use is Brazil’s: its last evening is still in it', async () => {
  const company = randomUUID();
  const record = { companyId: company, documentType: 'nfe', kind: 'procNFe' } as const;
  // 23:59:59.999 and 00:00 in Brasília.
  const [last, first] = [Date.UTC(2026, 11, 1, 2, 59, 59, 999), Date.UTC(2026, 11, 1, 3)];
  for (const at of [last, first, Date.UTC(2027, 0, 1, 2)]) {
    await recordUsage(db, [{ ...record, documentId: randomUUID() }], at);
  }
  const count = async (month: string) =>
    (await monthlyUsage(db, { month, companyId: company }, { limit: 1 })).rows[0]?.documents;
  assert.deepEqual([await count('2026-11'), await count('2026-12'), await count('2027-01')], [1, 2, undefined]);
  assert.deepEqual([monthOfUse(last), monthOfUse(first)], ['2026-11', '2026-12']);
});

test('settings: the first to settle one decides for all', async () => {
  assert.equal(await getSetting(db, 'deployment'), undefined);
  const settled = await Promise.all(['x', 'y', 'z'].map((value) => settleSetting(db, 'deployment', value)));
  assert.equal(new Set(settled).size, 1);
  await putSetting(db, 'deployment', { id: 1 });
  assert.deepEqual(await getSetting(db, 'deployment'), { id: 1 });
});

test('an audit entry is written with the change, or not at all', async () => {
  const entry = { actor: 'key:1', action: 'capture.set_cursor', target: 'c1', detail: { from: '1', to: '2' } };
  await db.transaction((tx) => recordAudit(tx, entry));
  await assert.rejects(
    db.transaction(async (tx) => {
      await recordAudit(tx, { actor: 'cli', action: 'never', target: 'x' });
      throw new Error('the change failed');
    }),
  );
  const { rows } = await db.query('select actor, action, target, detail from audit');
  assert.deepEqual(rows, [entry]);
});

test('archives: a repeat with the same object gives the first id', async () => {
  const archive: ArchiveRow = {
    id: randomUUID(),
    companyId: randomUUID(),
    documentType: 'cte',
    environment: 'production',
    objectKey: 'c/cte/production/2026/11/30/run.1',
    requestKey: null,
    callId: 'run:1',
    size: 12,
    sha256: 'ab'.repeat(32),
    contentType: 'application/soap+xml',
    httpStatus: 200,
    capturedAt: NOW,
  };
  assert.equal(await insertArchive(db, archive), archive.id);
  assert.equal(await insertArchive(db, { ...archive, id: randomUUID() }), archive.id);
  assert.deepEqual(await getArchive(db, archive.id), archive);
  assert.equal(await getArchive(db, randomUUID()), null);
});

test('the call log: newest first, by every filter, page by page, without bodies and results', async () => {
  const companyId = randomUUID();
  for (let i = 0; i < 5; i += 1) {
    await db.query(
      `insert into calls (id, started_at, company_id, document_type, environment, service, kind, from_nsu, status, deadline,
         archive_key, status_code, max_nsu, documents, body, result)
       values ($1, $2, $3, 'nfe', $4, 'nfe-distribution', $5, $6, 'answered', $2, 'k', $7, 99, 3, 'body', '{}')`,
      [
        `run:${i}`,
        new Date(NOW + Math.floor(i / 2)),
        companyId,
        i === 4 ? 'homologation' : 'production',
        i % 2 ? 'consNSU' : 'distNSU',
        i,
        i === 1 ? '137' : '138',
      ],
    );
  }
  const ids = async (filter: object, limit = 10, cursor: string | null = null) => {
    const page = await listCalls(db, { companyId, documentType: 'nfe', ...filter }, { limit, cursor });
    return { ids: page.rows.map(({ id }) => id.slice(4)).join(''), page };
  };
  assert.equal((await ids({})).ids, '43210');
  assert.equal((await ids({ environment: 'production' })).ids, '3210');
  assert.equal((await ids({ kind: 'consNSU' })).ids, '31');
  assert.equal((await ids({ statusCode: '137' })).ids, '1');
  assert.equal((await ids({ documentType: 'cte' })).ids, '');
  const first = await ids({}, 2);
  const second = await ids({}, 2, first.page.nextCursor);
  const third = await ids({}, 2, second.page.nextCursor);
  assert.deepEqual([first.ids, second.ids, third.ids, third.page.nextCursor], ['43', '21', '0', null]);
  const [row] = first.page.rows;
  assert.deepEqual([row?.fromNsu, row?.maxNsu, row?.ultNsu], ['000000000000004', '000000000000099', null]);
  assert.ok(row && !('body' in row) && !('result' in row));
});
