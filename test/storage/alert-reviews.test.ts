import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { closeEnded } from '../../src/storage/alert-closing.js';
import {
  type DueAlert,
  reviewDeadlines,
  reviewExpired,
  reviewExpiring,
  reviewNumbering,
  reviewStalled,
} from '../../src/storage/alert-reviews.js';
import { openAlert } from '../../src/storage/alerts.js';
import type { Queryable } from '../../src/storage/database.js';
import { plansOf, scansOf, touched } from './plan-support.js';
import { openDatabase } from './support.js';

const { db } = await openDatabase();
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.now();

/**
 * 10,000 captures of 10,000 companies, as they stand on an ordinary day: each asked within the hour, a tenth has pages to come, each has
 * a certificate and three notes that were answered and one that was not. 20 of each kind are in trouble.
 */
await db.query(`insert into companies (id, tax_id, root, name, uf)
  select gen_random_uuid(), lpad(i::text, 8, '0') || '000100', lpad(i::text, 8, '0'), 'Empresa ' || i, 'SP' from generate_series(1, 10000) i`);
await db.query(
  `create view numbered as select row_number() over (order by tax_id) as n, id, tax_id, root from companies`,
);
await db.query(`insert into captures (company_id, document_type, environment, state, phase, ult_nsu, max_nsu, not_before, searched_at, progressed_at)
  select id, 'nfe', 'production',
    jsonb_build_object('version', 1, 'reason', 'queue empty', 'nextQueryAt',
      extract(epoch from now() + case when n between 21 and 40 then -2 else 1 end * interval '1 hour') * 1000),
    case when n between 61 and 80 then 'certificate' else 'waiting' end, 100,
    case when n % 10 = 0 or n <= 20 then 150 else 100 end,
    now() + case when n between 21 and 40 then -2 else 1 end * interval '1 hour',
    now() - case when n between 41 and 60 then 50 else 0 end * interval '1 day',
    now() - case when n <= 20 then 7 else 0 end * interval '1 hour'
  from numbered`);
await db.query(`insert into certificates (id, company_id, root, tax_id, subject, thumbprint, not_before, not_after, chain, key_id, wrapped_key, sealed)
  select gen_random_uuid(), id, root, tax_id, 's', n::text, now() - interval '1 year',
    now() + case when n between 61 and 80 then -1 when n between 81 and 100 then 10 else 200 end * interval '1 day', '', 'k', '', ''
  from numbered`);
await db.query(`insert into documents (id, company_id, document_type, environment, nsu, kind, root, key, direction, state, full_xml, origin,
    captured_at, authorized_at, recipient_tax_id, metadata, event_type, xml_sha256, xml_length, archive_id, object_key, byte_offset, byte_length, encoding)
  select gen_random_uuid(), c.id, 'nfe', 'production', i * 2 + e, case e when 0 then 'procNFe' else 'procEventoNFe' end, 'x',
    c.n || '-' || i, 'received', 'authorized', 'present', 'distribution', now() - i * interval '22 days', now() - i * interval '22 days', c.tax_id, '{}',
    case e when 1 then '210200' end, md5(c.n || '-' || i || '-' || e), 1, gen_random_uuid(), 'k', 0, 1, 'identity'
  from numbered c, generate_series(1, 4) i, generate_series(0, 1) e
  where e = 0 or not (i = 3 or (i = 4 and n between 101 and 120))`);
await db.query('analyze');

const reviews: Record<string, { count: number; look: (on: Queryable) => Promise<DueAlert[]> }> = {
  'standing still': {
    count: 40,
    look: (on) => reviewStalled(on, NOW, { pending: NOW - 6 * HOUR, overdue: NOW - HOUR }),
  },
  'numbering at risk': { count: 20, look: (on) => reviewNumbering(on, NOW, { risk: 45 * DAY, stop: 60 * DAY }) },
  'no valid certificate': { count: 20, look: (on) => reviewExpired(on, NOW) },
  'a certificate that ends': { count: 20, look: (on) => reviewExpiring(on, NOW) },
  'a deadline': { count: 20, look: (on) => reviewDeadlines(on, NOW) },
};

describe('10,000 captures, one statement for each reason', () => {
  for (const [name, { count, look }] of Object.entries(reviews)) {
    test(`${name}: finds who is concerned, by indexes`, async () => {
      const due = await look(db);
      assert.equal(due.length, count);
      assert.equal(new Set(due.map(({ companyId }) => companyId)).size, count);
      const nodes = await plansOf(db, look);
      const tables =
        name === 'a deadline' ? ['documents', 'certificates', 'calls'] : ['captures', 'documents', 'certificates'];
      for (const table of tables) {
        assert.deepEqual(scansOf(nodes, table), [], `${table}: ${JSON.stringify(nodes.map((n) => n['Index Name']))}`);
      }
      assert.ok(touched(nodes, 'documents') <= 40_000, `touched ${touched(nodes, 'documents')} documents`);
      if (name !== 'a deadline') {
        assert.ok(touched(nodes, 'captures') <= 1_500, `touched ${touched(nodes, 'captures')} captures`);
      }
    });
  }

  test('what is open is not given again, and what is over is closed, in the same statement', async () => {
    const look = reviews['standing still']?.look ?? assert.fail();
    const due = await look(db);
    for (const { detail, severity, ...identity } of due)
      assert.ok(await openAlert(db, identity, detail, NOW, severity));
    const others = { code: 'capture_stalled', documentType: 'nfe', environment: 'production' } as const;
    const { rows } = await db.query<{ id: string }>('select id from numbered where n in (500, 501)');
    for (const { id } of rows) await openAlert(db, { ...others, companyId: id }, 'of yesterday', NOW - DAY);
    assert.deepEqual(await look(db), []);
    const open = await db.query<{ n: number }>('select count(*)::int as n from alerts where closed_at is null');
    assert.equal(open.rows[0]?.n, due.length);
    const closed = await db.query('select detail from alerts where closed_at is not null');
    assert.deepEqual(closed.rows, [{ detail: 'of yesterday' }, { detail: 'of yesterday' }]);
  });

  test('ending what nobody closed reads the open alerts and their captures', async () => {
    await db.query('analyze alerts');
    const nodes = await plansOf(db, (on) => closeEnded(on, NOW, { otherConsumer: NOW, sameNsu: NOW }));
    for (const table of ['captures', 'companies']) assert.deepEqual(scansOf(nodes, table), []);
  });
});
