import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { parseNsu } from '../../src/model/nsu.js';
import { capturesAwaitingXml } from '../../src/storage/awaited-xml.js';
import { listCalls } from '../../src/storage/call-log.js';
import { listCaptures } from '../../src/storage/captures.js';
import { listCompanies } from '../../src/storage/companies.js';
import type { Queryable } from '../../src/storage/database.js';
import { type DocumentFilter, listDocuments, listEventsOfKey } from '../../src/storage/documents.js';
import { outlookOf, overdueManifestations } from '../../src/storage/manifestation-queue.js';
import { listManifestations } from '../../src/storage/manifestations.js';
import { duePdfs } from '../../src/storage/pdfs.js';
import { plansOf, scansOf, touched } from './plan-support.js';
import { openDatabase } from './support.js';

const { db } = await openDatabase();

/** Seeds what a middling installation holds: 500 companies, 50,000 documents, 20,000 calls. */
await db.query(`insert into companies (id, tax_id, root, name, uf, tags, created_at)
  select gen_random_uuid(), lpad(i::text, 12, '0') || '00', lpad((i / 10)::text, 8, '0'), 'Empresa ' || i, 'SP',
    array['t' || i % 50], now() - i * interval '1 minute'
  from generate_series(1, 500) i`);
await db.query(`insert into captures (company_id, document_type, environment, state, phase)
  select id, 'nfe', 'production', '{"version": 1}', case when random() < 0.02 then 'attention' else 'waiting' end from companies`);
await db.query(`insert into documents (id, company_id, document_type, environment, nsu, kind, root, key, direction, state, full_xml,
    origin, captured_at, issued_at, issuer_tax_id, recipient_tax_id, metadata, event, event_type, xml_sha256, xml_length, archive_id,
    object_key, byte_offset, byte_length, encoding)
  select gen_random_uuid(), c.id, 'nfe', 'production', i,
    case when i % 5 = 0 then 'procEventoNFe' else 'procNFe' end, 'nfeProc', lpad((i / 2)::text, 44, '0'), 'received',
    case when i % 20 = 0 then 'cancelled' else 'authorized' end, 'present', 'distribution',
    now() - i * interval '1 minute', now() - i * interval '90 seconds', lpad((i % 3000)::text, 14, '0'), c.tax_id,
    jsonb_build_object('number', i::text, 'issuer', jsonb_build_object('name', 'FORNECEDOR ' || md5((i % 3000)::text))),
    case when i % 5 = 0 then '{"type": "210210"}'::jsonb end, case when i % 5 = 0 then '210210' end,
    md5(i::text) || md5(i::text), 1, gen_random_uuid(), 'k', 0, 1, 'identity'
  from generate_series(1, 50000) i
  join (select row_number() over (order by tax_id) - 1 as n, id, tax_id from companies) c on c.n = i % 500`);
await db.query(`insert into calls (id, started_at, company_id, document_type, environment, service, kind, deadline, archive_key)
  select 'run:' || i, now() - i * interval '1 minute', c.id, 'nfe', 'production', 's', 'distNSU', now(), 'k'
  from generate_series(1, 20000) i
  join (select row_number() over (order by tax_id) - 1 as n, id from companies) c on c.n = i % 500`);
await db.query(`insert into manifestations (id, company_id, document_type, environment, key, type, sequence, origin, status, requested_at,
    expires_at, next_attempt_at)
  select gen_random_uuid(), c.id, 'nfe', 'production', lpad((i * 5)::text, 44, '0'), '210210', 1, 'awareness',
    case when i % 100 = 0 then 'pending' else 'registered' end, now() - i * interval '1 minute', now(),
    case when i % 100 = 0 then now() + i * interval '1 second' end
  from generate_series(1, 20000) i
  join (select row_number() over (order by tax_id) - 1 as n, id from companies) c on c.n = i % 500`);
await db.query(`insert into pdfs (document_id, status, next_attempt_at)
  select id, case when nsu % 100 = 0 then 'pending' else 'done' end, case when nsu % 100 = 0 then captured_at end from documents`);
await db.query('analyze');

async function readsFew(table: string, most: number, work: (db: Queryable) => Promise<unknown>): Promise<void> {
  const nodes = await plansOf(db, work);
  assert.ok(nodes.length > 0);
  assert.deepEqual(
    scansOf(nodes, table),
    [],
    JSON.stringify(nodes.map((node) => [node['Node Type'], node['Index Name']])),
  );
  assert.ok(touched(nodes, table) <= most, `touched ${touched(nodes, table)} rows of ${table}`);
}

const { rows } = await db.query<{ id: string; tax_id: string }>(
  'select id, tax_id from companies order by tax_id limit 2',
);
const company = rows[0] ?? { id: '', tax_id: '' };
const month = 30 * 86_400_000;
const limit = 50;

describe('documents: no list reads the whole table', () => {
  const cases: Record<string, [DocumentFilter, number]> = {
    'no filter': [{}, 51],
    'a company': [{ companyId: company.id }, 51],
    'several visible companies': [{ visible: rows.map((row) => row.id) }, 250],
    'a company and type': [{ companyId: company.id, documentType: 'nfe', environment: 'production' }, 51],
    'a company and a state': [{ companyId: company.id, state: 'cancelled' }, 101],
    'a company and a period of capture': [
      { companyId: company.id, capturedFrom: Date.now() - month, capturedTo: Date.now() },
      101,
    ],
    'a company and a period of issue': [
      { companyId: company.id, issuedFrom: Date.now() - month, issuedTo: Date.now() },
      101,
    ],
    'a period of capture': [{ capturedFrom: Date.now() - month }, 51],
    'a key': [{ key: '1'.padStart(44, '0') }, 4],
    'an NSU of a company': [{ companyId: company.id, nsu: parseNsu(500) }, 2],
    'an issuer': [{ issuerTaxId: '7'.padStart(14, '0') }, 51],
    'a recipient': [{ recipientTaxId: company.tax_id }, 101],
    'no manifestation': [{ companyId: company.id, manifestation: 'none' }, 400],
    'words of a company': [{ companyId: company.id, q: 'fornecedor 500' }, 101],
    'a rare word': [{ q: '49999' }, 10],
  };
  for (const [name, [filter, most]] of Object.entries(cases)) {
    test(name, () => readsFew('documents', most, (on) => listDocuments(on, filter, { limit })));
  }

  test('a page in the middle costs what the first costs', async () => {
    let cursor: string | null = null;
    for (let i = 0; i < 20; i += 1) cursor = (await listDocuments(db, {}, { limit: 200, cursor })).nextCursor;
    assert.ok(cursor !== null);
    await readsFew('documents', 51, (on) => listDocuments(on, {}, { limit, cursor }));
  });

  test('the events of a key', () =>
    readsFew('documents', 4, (on) =>
      listEventsOfKey(on, { companyId: company.id, environment: 'production', key: '5'.padStart(44, '0') }),
    ));
});

describe('other lists', () => {
  test('companies', async () => {
    await readsFew('companies', 51, (on) => listCompanies(on, {}, { limit }));
    await readsFew('companies', 51, (on) => listCompanies(on, { root: '00000001' }, { limit }));
  });

  test('captures in need of attention', () =>
    readsFew('captures', 51, (on) => listCaptures(on, { phase: 'attention' }, { limit })));

  test('manifestations: of all, of a company, of a key; what is due; who has been waiting', async () => {
    const capture = { companyId: company.id, documentType: 'nfe', environment: 'production' } as const;
    await readsFew('manifestations', 51, (on) => listManifestations(on, {}, { limit }));
    await readsFew('manifestations', 51, (on) => listManifestations(on, { companyId: company.id }, { limit }));
    await readsFew('manifestations', 2, (on) => listManifestations(on, { key: '5'.padStart(44, '0') }, { limit }));
    await readsFew('manifestations', 40, (on) => outlookOf(on, capture)); // so many are pending
    await readsFew('manifestations', 201, (on) => overdueManifestations(on, Date.now() + month, limit));
    await readsFew('manifestations', 0, (on) => capturesAwaitingXml(on, Date.now(), limit));
  });

  test('PDFs to be made, among those that are kept', () =>
    readsFew('pdfs', 51, (on) => duePdfs(on, Date.now(), limit)));

  test('the call log of a capture', () =>
    readsFew('calls', 51, (on) =>
      listCalls(on, { companyId: company.id, documentType: 'nfe', environment: 'production' }, { limit }),
    ));
});

test('an unused company id reads nothing', () =>
  readsFew('documents', 0, (on) => listDocuments(on, { companyId: randomUUID() }, { limit })));
