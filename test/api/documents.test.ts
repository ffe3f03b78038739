import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { getDocument } from '../../src/storage/documents.js';
import { monthOfUse } from '../../src/storage/usage.js';
import { documentView } from '../../src/webhooks/document-view.js';
import { newDocument } from '../storage/documents-support.js';
import { captureDocument, storeEvents } from './fixtures.js';
import { testApi } from './support.js';

const api = await testApi();
const KEY = '35261199999999000191550010000012341000012349';

describe('documents', () => {
  test('are shown exactly as webhooks show them', async () => {
    const { id: companyId } = await api.newCompany();
    const metadata = {
      number: '1234',
      total: '1234.56',
      issuedAt: '2026-11-02T10:15:00-03:00',
      issuer: { taxId: '99999999000191', name: 'Açúcar & Cia' },
      recipient: { foreign: true, name: 'Abroad' },
      authorizedThirdParties: ['12345678909'],
      somethingLater: { nested: [1, 'x'] },
    };
    const event = { type: '110111', description: 'Cancelamento', sequence: 1, laterField: true };
    const id = await newDocument(api.db, {
      company_id: companyId,
      key: KEY,
      metadata: JSON.stringify(metadata),
      event: JSON.stringify(event),
      warnings: ['schema: differs'],
      nsu: 149,
      suppressed: 'cutoff',
    });
    const row = await getDocument(api.db, id);
    assert.ok(row);
    const { status, json } = await api.ask('GET', `/v1/documents/${id}`);
    assert.equal(status, 200);
    assert.deepEqual(json, JSON.parse(JSON.stringify(documentView(row))));
    assert.equal(json.metadata.somethingLater.nested[1], 'x');
  });

  test('of kinds that this version does not know are shown all the same', async () => {
    const { id: companyId } = await api.newCompany();
    const id = await newDocument(api.db, { company_id: companyId, kind: 'procLater', state: 'later', nsu: null });
    const { status, json } = await api.ask('GET', `/v1/documents/${id}`);
    assert.equal(status, 200);
    assert.deepEqual([json.kind, json.state, 'nsu' in json], ['procLater', 'later', false]);
  });

  test('are filtered by everything that the contract names', async () => {
    const { id: company_id } = await api.newCompany({ taxId: '12345678909' });
    const wanted = await newDocument(api.db, {
      company_id,
      key: KEY,
      nsu: 77_000_001,
      issuer_tax_id: '11222333000181',
      recipient_tax_id: '12345678909',
      issued_at: '2026-11-02T10:15:00-03:00',
      authorized_at: '2026-11-02T10:16:00-03:00',
      captured_at: '2026-11-03T00:00:00Z',
      metadata: JSON.stringify({ number: '1234', issuer: { name: 'Açúcar União' } }),
    });
    await newDocument(api.db, {
      company_id,
      kind: 'resNFe',
      direction: 'issued',
      state: 'denied',
      full_xml: 'awaited',
    });
    const ids = async (query: string) =>
      (await api.ask('GET', `/v1/documents?companyId=${company_id}&${query}`)).json.data.map(
        (one: { id: string }) => one.id,
      );
    for (const query of [
      'documentType=nfe&kind=procNFe',
      'direction=received',
      `key=${KEY}`,
      'nsu=77000001',
      'issuerTaxId=11.222.333/0001-81',
      'recipientTaxId=123.456.789-09',
      'issuedFrom=2026-11-02T13:15:00Z&issuedTo=2026-11-02T13:15:01Z',
      'capturedFrom=2026-11-03T00:00:00Z&capturedTo=2026-11-03T00:00:01Z',
      'state=authorized',
      'fullXml=present',
      'manifestation=none&kind=procNFe',
      'deadlineBefore=2027-03-01T00:00:00Z&kind=procNFe',
      'q=acucar',
      'environment=homologation&kind=procNFe',
    ]) {
      assert.deepEqual(await ids(query), [wanted], query);
    }
    const [shown] = (await api.ask('GET', `/v1/documents?companyId=${company_id}&key=${KEY}`)).json.data;
    assert.deepEqual(shown.manifestationDeadlines, {
      awareness: '2026-11-12T13:16:00.000Z',
      conclusive: '2027-01-31T13:16:00.000Z',
    });
    for (const query of [
      'documentType=cte',
      'deadlineBefore=2027-01-31T13:16:00Z',
      'manifestation=210200',
      'issuedTo=2026-11-02T13:15:00Z',
      'q=nobody',
    ]) {
      assert.deepEqual(await ids(query), [], query);
    }
  });

  test('are listed in pages without holes, also those captured in the same millisecond', async () => {
    const { id: company_id } = await api.newCompany();
    const all = await Promise.all(
      Array.from({ length: 7 }, () => newDocument(api.db, { company_id, captured_at: '2026-11-04T00:00:00Z' })),
    );
    const seen: string[] = [];
    let cursor = '';
    do {
      const { json } = await api.ask('GET', `/v1/documents?companyId=${company_id}&limit=3${cursor}`);
      seen.push(...json.data.map((one: { id: string }) => one.id));
      cursor = json.nextCursor === null ? '' : `&cursor=${json.nextCursor}`;
    } while (cursor !== '');
    assert.deepEqual(seen.toSorted(), all.toSorted());
  });

  test("give their key's events", async () => {
    const { id: company_id } = await api.newCompany();
    const note = await newDocument(api.db, { company_id, key: KEY });
    const cancelled = await newDocument(api.db, {
      company_id,
      key: KEY,
      kind: 'procEventoNFe',
      event: JSON.stringify({ type: '110111' }),
    });
    for (const id of [note, cancelled]) {
      const { json } = await api.ask('GET', `/v1/documents/${id}/events`);
      assert.deepEqual(
        json.data.map((one: { id: string }) => one.id),
        [cancelled],
      );
    }
    const keyless = await newDocument(api.db, { company_id });
    assert.deepEqual((await api.ask('GET', `/v1/documents/${keyless}/events`)).json.data, []);
  });
});

describe('XML and archives', () => {
  test('are byte for byte what the government gave', async () => {
    const { id: companyId } = await api.newCompany();
    const captured = await captureDocument(api, companyId, { key: KEY });
    const xml = await api.ask('GET', `/v1/documents/${captured.id}/xml`);
    assert.equal(xml.status, 200);
    assert.deepEqual(xml.bytes, captured.xml);
    assert.equal(xml.headers['content-type'], 'application/xml');
    assert.equal(xml.headers['content-disposition'], `attachment; filename="${KEY}-procNFe.xml"`);
    assert.equal(xml.headers['x-content-type-options'], 'nosniff');

    const again = await api.ask('GET', `/v1/documents/${captured.id}/xml`, {
      headers: { 'if-none-match': String(xml.headers.etag) },
    });
    assert.equal(again.status, 304);
    assert.equal(again.bytes.length, 0);

    const archive = await api.ask('GET', `/v1/archives/${captured.archiveId}`);
    assert.deepEqual(archive.bytes, captured.answer);
    assert.equal(archive.headers['content-type'], 'application/soap+xml; charset=utf-8');
    assert.match(String(archive.headers['content-disposition']), /^attachment/);
    const known = { 'if-none-match': String(archive.headers.etag) };
    assert.equal((await api.ask('GET', `/v1/archives/${captured.archiveId}`, { headers: known })).status, 304);
    const part = await api.ask('GET', `/v1/archives/${captured.archiveId}`, { headers: { range: 'bytes=5-9' } });
    assert.deepEqual([part.status, part.bytes], [206, captured.answer.subarray(5, 10)]);
  });

  test('are refused when they are no longer those bytes', async () => {
    const { id: companyId } = await api.newCompany();
    const captured = await captureDocument(api, companyId);
    await api.deps.objectStore.put(
      captured.objectKey,
      Buffer.from(captured.answer.toString('latin1').replace('H4sI', 'H4sJ')),
    );
    for (const path of [`/v1/documents/${captured.id}/xml`, `/v1/archives/${captured.archiveId}`]) {
      const { status, json } = await api.ask('GET', path);
      assert.equal(status, 500);
      assert.equal(json.code, 'content_damaged');
    }
    await api.deps.objectStore.delete(captured.objectKey);
    for (const path of [`/v1/documents/${captured.id}/xml`, `/v1/archives/${captured.archiveId}`]) {
      const { json, text } = await api.ask('GET', path);
      assert.equal(json.code, 'content_damaged');
      assert.ok(!text.includes(captured.objectKey));
    }
    assert.equal((await api.ask('GET', `/v1/archives/${randomUUID()}`)).status, 404);
  });
});

describe('the feed of events', () => {
  test('gives the bodies of webhooks in order, and skips nothing', async () => {
    const { id } = await api.newCompany();
    await storeEvents(api, id, 5);
    const path = `/v1/companies/${id}/events`;
    const first = await api.ask('GET', `${path}?limit=3`);
    assert.deepEqual(
      first.json.data.map((event: { sequence: number }) => event.sequence),
      [1, 2, 3],
    );
    assert.equal(first.json.nextCursor, '3');
    for (const rest of ['after=3', 'cursor=3', 'after=0&cursor=3']) {
      const { json } = await api.ask('GET', `${path}?limit=3&${rest}`);
      assert.deepEqual(
        json.data.map((event: { sequence: number }) => event.sequence),
        [4, 5],
      );
      assert.equal(json.nextCursor, null);
    }
    const { rows } = await api.db.query<{ body: string }>(
      'select body from events where company_id = $1 order by sequence',
      [id],
    );
    assert.deepEqual(
      (await api.ask('GET', path)).json.data,
      rows.map(({ body }) => JSON.parse(body)),
    );
  });

  test('shows by a jump of the sequence that older events are no longer kept', async () => {
    const { id } = await api.newCompany();
    await storeEvents(api, id, 2);
    await api.db.query("update events set body = '' where company_id = $1 and sequence = 1", [id]);
    const { json } = await api.ask('GET', `/v1/companies/${id}/events`);
    assert.deepEqual(
      json.data.map((event: { sequence: number }) => event.sequence),
      [2],
    );
  });
});

describe('usage and alerts', () => {
  test('are shown per company, month and code', async () => {
    const { id: company_id } = await api.newCompany();
    for (const month of ['2026-11-01', '2026-11-01', '2026-10-01']) {
      await api.db.query("insert into usage_records values ($1, $2, 'nfe', 'procNFe', $3)", [
        randomUUID(),
        company_id,
        month,
      ]);
    }
    const usage = await api.ask('GET', '/v1/usage?month=2026-11');
    assert.deepEqual(usage.json, {
      month: '2026-11',
      data: [{ companyId: company_id, documentType: 'nfe', documents: 2, kinds: { procNFe: 2 } }],
      nextCursor: null,
    });
    assert.deepEqual((await api.ask('GET', `/v1/usage?month=2026-11&companyId=${randomUUID()}`)).json.data, []);
    assert.equal((await api.ask('GET', '/v1/usage')).json.month, monthOfUse(Date.now()));

    await api.db.query(
      `insert into alerts (id, code, company_id, document_type, environment, subject, detail, opened_at, closed_at)
       values (gen_random_uuid(), 'cursor_ahead', $1, 'nfe', 'production', '', 'NSU above the maximum', now(), null),
              (gen_random_uuid(), 'service_outage', null, null, null, 'nfe-distribution', 'no answer', now(), now())`,
      [company_id],
    );
    const open = await api.ask('GET', '/v1/alerts?open=true');
    assert.equal(open.json.data.length, 1);
    assert.equal(open.json.data[0].code, 'cursor_ahead');
    assert.equal(open.json.data[0].subject, null);
    assert.match(open.json.data[0].whatToDo, /an administrator lowers the cursor/);
    const outage = await api.ask('GET', '/v1/alerts?open=false&code=service_outage');
    assert.equal(outage.json.data[0].subject, 'nfe-distribution');
  });
});
