import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { createEraseCompany } from '../../src/activities/background/erase-company.js';
import { parseKeyring } from '../../src/certificates/keyring.js';
import { taxIdMac, taxIdMacs } from '../../src/certificates/tax-id-mac.js';
import type { CaptureKey } from '../../src/model/words.js';
import { enableCapture } from '../../src/storage/capture-orders.js';
import { getCapture } from '../../src/storage/captures.js';
import { createCompany, getCompany } from '../../src/storage/companies.js';
import { adoptErased } from '../../src/storage/erase-company.js';
import { cancelErasure, getErasure, overdueErasures, requestErasure } from '../../src/storage/erasures.js';
import { key, note } from '../documents/samples.js';
import { documents, nsu, summaries } from './government.js';
import { ask, asked, one } from './point-support.js';
import {
  dies,
  dyingAt,
  giveCertificate,
  HOUR,
  newCapture,
  nextActivity,
  query,
  refused,
  rowOf,
  run,
  world,
} from './support.js';

const DAY = 24 * HOUR;
const keyring = parseKeyring(randomBytes(32).toString('base64'));
const w = await world();
const { eraseCompany } = createEraseCompany({
  ...w.deps,
  taxIdMac: (taxId) => taxIdMac(keyring, taxId),
  // Every batch is a part of its own.
  atATime: -1,
});

/** A company with a page, a failed item, a gap, a point query, an endpoint of its own and a share of another, two API keys. */
async function furnished(): Promise<CaptureKey> {
  const capture = await newCapture(w);
  const { companyId } = capture;
  const items = summaries(1, 30, key).filter(({ nsu: n }) => n !== 9);
  w.government.answers(
    documents(
      items.map((item) => (item.nsu === 7 ? { nsu: 7, base64: '!!' } : item)),
      30,
    ),
  );
  await query(w, capture);
  w.government.answers(one({ nsu: 9, xml: note({ key: key(880_000 + Number(companyId.charCodeAt(0))) }) }));
  asked(await ask(w, capture, 9));
  await w.db.query(
    `insert into endpoints (id, url, company_ids, key_id, secret) values
       (gen_random_uuid(), 'https://one.example', array[$1]::uuid[], 'k', ''),
       (gen_random_uuid(), 'https://two.example', array[$1, '00000000-0000-4000-8000-000000000001']::uuid[], 'k', '')`,
    [companyId],
  );
  await w.db.query(
    `insert into api_keys (id, name, hash, scopes, company_ids) values
       (gen_random_uuid(), 'one', gen_random_uuid()::text, '{read}', array[$1]::uuid[]),
       (gen_random_uuid(), 'two', gen_random_uuid()::text, '{read}', array[$1, '00000000-0000-4000-8000-000000000001']::uuid[])`,
    [companyId],
  );
  return capture;
}

async function order(companyId: string, grace = 0) {
  const now = await w.clock.now();
  return w.db.transaction((tx) => requestErasure(tx, companyId, { now, dueAt: now + grace }));
}

async function eraseAll(companyId: string): Promise<string[]> {
  const kinds: string[] = [];
  for (;;) {
    const step = await run(eraseCompany, { companyId });
    kinds.push(step.kind);
    if (step.kind !== 'goes_on') return kinds;
    assert.ok(kinds.length < 50);
  }
}

/** Rows by table, for every table that has the company's id. */
async function rowsOf(companyId: string): Promise<Record<string, number>> {
  const { rows: tables } = await w.db.query<{ name: string }>(
    `select c.table_name as name from information_schema.columns c join pg_class k on k.relname = c.table_name and not k.relispartition
     where c.column_name = 'company_id' and c.table_schema = 'public' and k.relkind in ('r', 'p')`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows } = await w.db.query<{ n: number }>(`select count(*)::int as n from ${name} where company_id = $1`, [
      companyId,
    ]);
    if (rows[0]?.n) counts[name] = rows[0].n;
  }
  return counts;
}

async function objectsOf(companyId: string): Promise<number> {
  let count = 0;
  for await (const _ of w.deps.objectStore.list(`${companyId}/`)) count += 1;
  return count;
}

describe('the deletion of a company', () => {
  test('leaves nothing of it but usage, the audit and what the government remembers; others keep everything', async () => {
    const capture = await furnished();
    const other = await furnished();
    const before = await rowsOf(other.companyId);
    for (const table of [
      'documents',
      'archives',
      'failed_items',
      'gaps',
      'calls',
      'events',
      'alerts',
      'captures',
      'certificates',
    ]) {
      assert.ok((before[table] ?? 0) > 0, `${table}: the test must have something to delete`);
    }
    const { companyId } = capture;
    const usage = (await rowsOf(companyId)).usage_records;
    assert.ok((await objectsOf(companyId)) > 0);

    const asked = await order(companyId);
    assert.deepEqual(
      asked?.stopped.map(({ documentType }) => documentType),
      ['nfe'],
    );
    assert.equal((await rowOf(w, capture)).enabled, false, 'stopped at once');
    const kinds = await eraseAll(companyId);
    assert.ok(kinds.length > 3, 'in parts');
    assert.equal(kinds.at(-1), 'over');

    assert.deepEqual(await rowsOf(companyId), { usage_records: usage, erasures: 1 });
    assert.equal(await getCompany(w.db, companyId), null);
    assert.equal(await objectsOf(companyId), 0);
    const erasure = await getErasure(w.db, companyId);
    assert.equal(erasure?.status, 'done');
    assert.ok((erasure?.rowsDeleted ?? 0) > 30 && (erasure?.objectsDeleted ?? 0) >= 2);
    const { rows: audit } = await w.db.query('select action from audit where target = $1', [companyId]);
    assert.deepEqual(audit, [{ action: 'company.erased' }]);
    const { rows: left } = await w.db.query<{ url: string; deleted: boolean }>(
      `select url, deleted_at is not null as deleted from endpoints where company_ids @> array[$1]::uuid[]`,
      [companyId],
    );
    assert.deepEqual(left, [{ url: 'https://one.example', deleted: true }]);
    const { rows: keys } = await w.db.query('select 1 from api_keys where company_ids @> array[$1]::uuid[]', [
      companyId,
    ]);
    assert.equal(keys.length, 0);

    assert.deepEqual(await rowsOf(other.companyId), before);
    assert.ok((await objectsOf(other.companyId)) > 0);
    assert.deepEqual(await run(eraseCompany, { companyId }), { kind: 'over' }, 'a repeat finds nothing to do');
  });

  test('waits for its grace, may be hurried, may be taken back before it begins and not afterwards', async () => {
    const capture = await newCapture(w);
    const { companyId } = capture;
    const first = await order(companyId, 7 * DAY);
    const step = await run(eraseCompany, { companyId });
    assert.deepEqual(step, { kind: 'waits', until: first?.erasure.dueAt, why: 'grace' });
    const again = await order(companyId, 9 * DAY);
    assert.equal(again?.erasure.dueAt, first?.erasure.dueAt, 'a repeat does not put it off');
    assert.deepEqual(again?.stopped, []);
    assert.deepEqual(
      await w.db.transaction((tx) => enableCapture(tx, { capture, options: () => ({}), now: Date.now() })),
      { ok: false, problem: 'company_deleting' },
    );

    assert.equal(await w.db.transaction((tx) => cancelErasure(tx, companyId)), true);
    assert.deepEqual(await run(eraseCompany, { companyId }), { kind: 'over' });
    assert.equal((await getCompany(w.db, companyId))?.deletingAt, null);

    await order(companyId, 7 * DAY);
    await order(companyId);
    assert.equal((await run(eraseCompany, { companyId })).kind, 'goes_on');
    assert.equal(await w.db.transaction((tx) => cancelErasure(tx, companyId)), false);
    await eraseAll(companyId);
    assert.equal(await getCompany(w.db, companyId), null);
  });

  test('waits for a government call in the air, whose answer is stored first', async () => {
    const capture = await newCapture(w);
    const { companyId } = capture;
    const steps: string[] = [];
    w.government.answers(async () => {
      await order(companyId);
      for (let i = 0; i < 2; i++) steps.push(JSON.stringify(await run(eraseCompany, { companyId })));
      return documents(summaries(1, 3, key), 3);
    });
    await query(w, capture);
    assert.match(steps[0] ?? '', /goes_on/);
    assert.match(steps[1] ?? '', /"waits".*"calls"/);
    assert.equal((await rowsOf(companyId)).documents, 3);
    assert.equal((await eraseAll(companyId)).at(-1), 'over');
    assert.deepEqual(Object.keys(await rowsOf(companyId)).sort(), ['erasures', 'usage_records']);
  });

  test('a tax ID that comes back goes on from where the government knows it to be, no sooner', async () => {
    const capture = await furnished();
    const { companyId } = capture;
    const company = await getCompany(w.db, companyId);
    const known = await rowOf(w, capture);
    assert.ok(company && known.notBefore !== null);
    await order(companyId);
    await eraseAll(companyId);
    const { rows } = await w.db.query<{ all: string }>(
      'select string_agg(to_jsonb(e)::text, $1) as all from erased_captures e',
      [''],
    );
    assert.ok(!rows[0]?.all.includes(company.taxId), 'the tax ID itself is not kept');

    const id = crypto.randomUUID();
    await w.db.transaction(async (tx) => {
      await createCompany(tx, { id, taxId: company.taxId, name: 'Back', uf: 'SP' });
      assert.equal(await adoptErased(tx, id, taxIdMacs(keyring, company.taxId), await w.clock.now()), 1);
    });
    const back: CaptureKey = { ...capture, companyId: id };
    const started = await w.db.transaction(async (tx) =>
      enableCapture(tx, { capture: back, options: () => ({ startNsu: '0' }), now: await w.clock.now() }),
    );
    assert.ok(started.ok);
    assert.equal(started.row.state.ultNsu, nsu(30), 'the start in the options is history');
    assert.equal(started.row.notBefore, known.notBefore);
    assert.ok((started.row.state.quota.suspendedUntil ?? 0) > (await w.clock.now()), 'point queries of before count');
    const calls = w.government.calls;
    const answer = await (await nextActivity(w, back)).attempt(w.activities);
    assert.equal(answer.kind, 'refused');
    assert.equal(w.government.calls, calls);
    assert.equal(await w.db.transaction((tx) => adoptErased(tx, id, taxIdMacs(keyring, company.taxId), 0)), 0, 'once');
    assert.equal((await getCapture(w.db, back))?.enabled, true);
  });

  test('a call that never had an end is waited out by the tax ID that comes back', async () => {
    const capture = await newCapture(w);
    const { companyId } = capture;
    const company = await getCompany(w.db, companyId);
    assert.ok(company);
    w.government.answers(documents(summaries(1, 3, key), 3));
    await dies((await nextActivity(w, capture)).attempt(w.process({ failpoint: dyingAt('after_send') })));
    const { callDeadline } = await rowOf(w, capture);
    assert.ok(callDeadline);
    w.clock.advance(10 * 60_000);
    await order(companyId);
    assert.equal((await eraseAll(companyId)).at(-1), 'over');

    const id = crypto.randomUUID();
    const back: CaptureKey = { ...capture, companyId: id };
    await w.db.transaction(async (tx) => {
      const now = await w.clock.now(tx);
      await createCompany(tx, { id, taxId: company.taxId, name: 'Back', uf: 'SP' });
      await adoptErased(tx, id, taxIdMacs(keyring, company.taxId), now);
      assert.ok((await enableCapture(tx, { capture: back, options: () => ({}), now })).ok);
    });
    await giveCertificate(w, id);
    const calls = w.government.calls;
    const answer = refused(await query(w, back));
    assert.deepEqual(answer.refusal, { reason: 'too_early', until: callDeadline + 62 * 60_000 });
    assert.equal(w.government.calls, calls);
  });

  test('is found by housekeeping when its run was lost', async () => {
    const { companyId } = await newCapture(w);
    await order(companyId);
    const now = await w.clock.now();
    assert.ok(!(await overdueErasures(w.db, now - HOUR, 100)).includes(companyId));
    assert.ok((await overdueErasures(w.db, now + HOUR, 100)).includes(companyId));
  });
});

describe('tables', () => {
  test('each table of companies is deleted by the step for it, by its foreign keys, or kept for a reason', async () => {
    const { rows } = await w.db.query<{ name: string }>(
      `select c.table_name as name from information_schema.columns c join pg_class k on k.relname = c.table_name and not k.relispartition
       where c.column_name = 'company_id' and c.table_schema = 'public' and k.relkind in ('r', 'p')
         and not exists (
           select from pg_constraint f where f.contype = 'f' and f.conrelid = k.oid and f.confdeltype = 'c'
             and f.confrelid in ('companies'::regclass, 'documents'::regclass))
       order by 1`,
    );
    assert.deepEqual(
      rows.map(({ name }) => name),
      [
        'alerts',
        'archives',
        'calls',
        'deliveries',
        'documents',
        'erasures',
        'events',
        'failed_items',
        'gaps',
        'usage_records',
      ],
      'a new table of companies needs "on delete cascade", or a batch in src/storage/erase-company.ts',
    );
  });
});
