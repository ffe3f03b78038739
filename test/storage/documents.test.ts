import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseNsu } from '../../src/model/nsu.js';
import { type DocumentFilter, getDocument, listDocuments, listEventsOfKey } from '../../src/storage/documents.js';
import { newDocument } from './documents-support.js';
import { newCompany, openDatabase } from './support.js';

const { db } = await openDatabase();
const DAY = 86_400_000;
const NOON = Date.UTC(2026, 10, 30, 12);
const at = (ms: number) => new Date(ms);

const idsOf = async (filter: DocumentFilter, limit = 200) =>
  (await listDocuments(db, filter, { limit })).rows.map((row) => row.id);

describe('one document', () => {
  test('is read with every column under its name', async () => {
    const company = randomUUID();
    const id = await newDocument(db, {
      company_id: company,
      nsu: 149,
      schema: 'procNFe_v4.00.xsd',
      key: '35',
      issued_at: at(NOON),
      authorized_at: at(NOON + 2),
      captured_at: at(NOON + 1),
      total: '1234.50',
      metadata: { number: '7' },
      event: { type: '110111' },
      event_type: '110111',
      event_sequence: 1,
      warnings: ['w'],
      suppressed: 'history',
      awareness_skipped: 'own_document',
    });
    const row = await getDocument(db, id);
    const { archiveId, xmlSha256, ...rest } = row ?? {};
    assert.match(`${archiveId} ${xmlSha256}`, /^[0-9a-f-]{36} [0-9a-f]{64}$/);
    assert.deepEqual(rest, {
      id,
      companyId: company,
      documentType: 'nfe',
      environment: 'homologation',
      nsu: '000000000000149',
      kind: 'procNFe',
      schema: 'procNFe_v4.00.xsd',
      root: 'nfeProc',
      key: '35',
      direction: 'received',
      state: 'authorized',
      fullXml: 'present',
      origin: 'distribution',
      capturedAt: NOON + 1,
      issuedAt: NOON,
      authorizedAt: NOON + 2,
      total: '1234.50',
      issuerTaxId: null,
      recipientTaxId: null,
      metadata: { number: '7' },
      event: { type: '110111' },
      eventType: '110111',
      eventSequence: 1,
      warnings: ['w'],
      suppressed: 'history',
      awarenessSkipped: 'own_document',
      xmlLength: 1,
      objectKey: 'k',
      byteOffset: 0,
      byteLength: 1,
      encoding: 'identity',
    });
    assert.equal(await getDocument(db, randomUUID()), null);
  });

  test('without an NSU has none, instead of zero', async () => {
    const id = await newDocument(db, { company_id: randomUUID(), nsu: null });
    assert.equal((await getDocument(db, id))?.nsu, null);
  });
});

describe('filters', () => {
  test('each plain filter finds its documents and no others', async () => {
    const company = randomUUID();
    const plain = await newDocument(db, { company_id: company, nsu: 900001 });
    const cases: [Record<string, unknown>, DocumentFilter][] = [
      [{ document_type: 'cte' }, { documentType: 'cte' }],
      [{ environment: 'production' }, { environment: 'production' }],
      [{ kind: 'resNFe' }, { kind: 'resNFe' }],
      [{ direction: 'issued' }, { direction: 'issued' }],
      [{ key: '35ABC' }, { key: '35ABC' }],
      [{ nsu: 900002 }, { nsu: parseNsu(900002) }],
      [{ issuer_tax_id: '12ABC34501DE35' }, { issuerTaxId: '12ABC34501DE35' }],
      [{ recipient_tax_id: '12345678909' }, { recipientTaxId: '12345678909' }],
      [{ state: 'cancelled' }, { state: 'cancelled' }],
      [{ full_xml: 'awaited' }, { fullXml: 'awaited' }],
    ];
    const ids: string[] = [];
    for (const [fields] of cases) ids.push(await newDocument(db, { company_id: company, ...fields }));
    for (const [i, [, filter]] of cases.entries()) {
      assert.deepEqual(await idsOf({ companyId: company, ...filter }), [ids[i]], JSON.stringify(filter));
    }
    assert.deepEqual(await idsOf({ companyId: company }), [...ids.reverse(), plain], 'newest first');
    assert.deepEqual(await idsOf({ companyId: company, kind: 'resNFe', state: 'cancelled' }), [], 'filters add up');
  });

  test('"from" includes, "to" excludes, for both times', async () => {
    const company = randomUUID();
    const ids: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      ids.push(await newDocument(db, { company_id: company, issued_at: at(NOON + i), captured_at: at(NOON + i) }));
    }
    await newDocument(db, { company_id: company, captured_at: at(NOON + DAY) });
    const middle = [ids[1]];
    assert.deepEqual(await idsOf({ companyId: company, issuedFrom: NOON + 1, issuedTo: NOON + 2 }), middle);
    assert.deepEqual(await idsOf({ companyId: company, capturedFrom: NOON + 1, capturedTo: NOON + 2 }), middle);
  });

  test('what a key may not see is not there', async () => {
    const [a, b] = [randomUUID(), randomUUID()];
    const mine = await newDocument(db, { company_id: a, key: 'seen' });
    await newDocument(db, { company_id: b, key: 'seen' });
    assert.deepEqual(await idsOf({ key: 'seen', visible: [a] }), [mine]);
    assert.deepEqual(await idsOf({ companyId: b, visible: [a] }), []);
    assert.deepEqual(await idsOf({ visible: [] }), []);
  });

  /** What this program said about a key, or tried to. */
  const said = (company: string, key: string, type: string, status: string, statusCode: string | null = null) =>
    db.query(
      `insert into manifestations (id, company_id, document_type, environment, key, type, sequence, origin, status, status_code, requested_at, expires_at)
       values (gen_random_uuid(), $1, 'nfe', 'homologation', $2, $3, 1, 'request', $4, $5, now(), now())`,
      [company, key, type, status, statusCode],
    );

  test('manifestation: none, or a type, by the events that the same company and environment know', async () => {
    const { id: company } = await newCompany(db);
    const document = (key: string) => newDocument(db, { company_id: company, key });
    const event = (key: string, type: string, more = {}) =>
      newDocument(db, { company_id: company, key, kind: 'procEventoNFe', event: { type }, event_type: type, ...more });
    const [bare, aware, confirmed, cancelled] = [
      await document('a'),
      await document('b'),
      await document('c'),
      await document('d'),
    ];
    await event('b', '210210');
    await event('c', '210210');
    await event('c', '210200');
    await event('d', '110111');
    await event('a', '210210', { company_id: randomUUID() });
    await event('a', '210210', { environment: 'production' });
    await newDocument(db, { company_id: company, key: null, kind: 'unknown' });
    // Registered before by another program (573): no document, and no need to say it again (case C53).
    const duplicate = await document('e');
    await said(company, 'e', '210210', 'registered', '573');
    const [pending, rejected] = [await document('f'), await document('g')];
    await said(company, 'f', '210210', 'pending');
    await said(company, 'g', '210210', 'rejected', '596');
    assert.deepEqual(await idsOf({ companyId: company, environment: 'homologation', manifestation: 'none' }), [
      rejected,
      pending,
      cancelled,
      bare,
    ]);
    assert.deepEqual(await idsOf({ companyId: company, manifestation: '210210' }), [duplicate, confirmed, aware]);
    assert.deepEqual(await idsOf({ companyId: company, manifestation: '210200' }), [confirmed]);
  });

  test('deadlineBefore: notes that await a conclusive manifestation of their recipient, whose 90 days end before', async () => {
    const { id: company, taxId } = await newCompany(db);
    const document = (key: string, authorized: number, more = {}) =>
      newDocument(db, { company_id: company, key, recipient_tax_id: taxId, authorized_at: at(authorized), ...more });
    const summary = (key: string, more = {}) =>
      document(key, NOON - 95 * DAY, { kind: 'resNFe', full_xml: 'awaited', recipient_tax_id: null, ...more });
    await document('a', NOON - 90 * DAY - 1, { issued_at: at(NOON) });
    await summary('b');
    // The issue is never later than the authorization: too early rather than too late.
    await document('c', 0, { authorized_at: null, issued_at: at(NOON - 90 * DAY - 1) });
    await document('d', NOON - 90 * DAY, { issued_at: at(NOON - 95 * DAY) });
    for (const [key, more] of Object.entries({
      e: { direction: 'issued' },
      f: { kind: 'procEventoNFe' },
      g: { state: 'cancelled' },
      h: { state: 'denied' },
      i: { recipient_tax_id: '99999999000191' }, // as carrier, or as a third party that may download it
      j: { document_type: 'cte', kind: 'procCTe' },
    })) {
      await document(key, NOON - 95 * DAY, more);
    }
    await summary('k', { full_xml: 'present' });
    const event = (key: string, type: string) =>
      newDocument(db, { company_id: company, key, kind: 'procEventoNFe', event: { type }, event_type: type });
    await document('l', NOON - 95 * DAY);
    await event('l', '210240');
    await event('a', '210210'); // awareness ends nothing
    await document('m', NOON - 95 * DAY);
    await document('n', NOON - 95 * DAY);
    await said(company, 'm', '210200', 'registered');
    await said(company, 'n', '210200', 'pending');
    await document('o', NOON - 95 * DAY);
    await said(company, 'o', '210210', 'rejected', '655');
    const keysOf = async (before: number) =>
      (await listDocuments(db, { companyId: company, deadlineBefore: before }, { limit: 50 })).rows
        .map(({ key }) => key)
        .sort()
        .join('');
    assert.equal(await keysOf(NOON), 'abcn');
    assert.equal(await keysOf(NOON + 1), 'abcdn');
  });

  test('q: words by their beginnings, in any order, without accents or case, in names, numbers and keys', async () => {
    const company = randomUUID();
    const id = await newDocument(db, {
      company_id: company,
      key: '35261112ABC34501DE3555001000001234',
      metadata: {
        number: '001234',
        issuer: { name: 'PADARIA SÃO JOSÉ & FILHOS LTDA', taxId: '12ABC34501DE35' },
        recipient: { name: "Caminhões D'Água" },
      },
    });
    await newDocument(db, { company_id: company, metadata: { issuer: { name: 'OUTRA' } } });
    for (const q of [
      'padaria',
      'São José',
      'jose PADAR',
      'filhos & ltda',
      '001234',
      '35261112abc',
      '12ABC34501',
      "d'agua caminhoes",
    ]) {
      assert.deepEqual(await idsOf({ companyId: company, q }), [id], q);
    }
    assert.deepEqual(await idsOf({ companyId: company, q: 'padaria outra' }), []);
    assert.deepEqual(await idsOf({ companyId: company, q: 'osé' }), []);
  });

  test('q: nothing that is typed breaks the statement', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 40 }), async (q) => {
        await listDocuments(db, { q }, { limit: 1 });
      }),
      { numRuns: 100 },
    );
    for (const q of ["a' | b", ':*', '!(', '\\', '%', '<->']) await listDocuments(db, { q }, { limit: 1 });
  });
});

describe('pages', () => {
  test('neither repeat nor skip while documents arrive, also when many share an instant', async () => {
    const company = randomUUID();
    const first = new Set<string>();
    for (let i = 0; i < 25; i += 1) {
      first.add(await newDocument(db, { company_id: company, captured_at: at(NOON + Math.floor(i / 10)) }));
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof listDocuments>> = await listDocuments(
        db,
        { companyId: company },
        { limit: 4, cursor },
      );
      seen.push(...page.rows.map((row) => row.id));
      cursor = page.nextCursor;
      await newDocument(db, { company_id: company, captured_at: at(NOON + DAY) });
    } while (cursor !== null);
    assert.deepEqual(new Set(seen), first);
    assert.equal(seen.length, first.size);
  });

  test('a last page that is exactly full has no next one', async () => {
    const company = randomUUID();
    for (let i = 0; i < 4; i += 1) await newDocument(db, { company_id: company });
    const page = await listDocuments(db, { companyId: company }, { limit: 4 });
    assert.equal(page.rows.length, 4);
    assert.equal(page.nextCursor, null);
  });
});

test('the events of a key, in the order in which they happened', async () => {
  const company = randomUUID();
  const event = (type: string, issued: number | null, more = {}) =>
    newDocument(db, {
      company_id: company,
      key: 'e',
      kind: 'procEventoNFe',
      event: { type },
      event_type: type,
      issued_at: issued === null ? null : at(issued),
      ...more,
    });
  await newDocument(db, { company_id: company, key: 'e' });
  const later = await event('110111', NOON + 2);
  const earlier = await event('210210', NOON + 1);
  const undated = await event('999999', null);
  await event('110111', NOON, { company_id: randomUUID() });
  await event('110111', NOON, { environment: 'production' });
  const rows = await listEventsOfKey(db, { companyId: company, environment: 'homologation', key: 'e' });
  assert.deepEqual(
    rows.map((row) => row.id),
    [earlier, later, undated],
  );
});
