import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { parseKeyring } from '../../src/certificates/keyring.js';
import { cteKey, cteLetterXml, procCte, sampleCte } from '../pdf/cte-sample.js';
import { procNfe, sampleKey, sampleNote } from '../pdf/nfe-sample.js';
import { correctionLetterXml } from '../pdf/other-cases.js';
import { newDocument } from '../storage/documents-support.js';
import { captureDocument, tellOf } from './fixtures.js';
import type { Answer, AskOptions } from './support.js';
import { testApi } from './support.js';

const MASTER_KEY = randomBytes(32).toString('base64');
let now = Date.UTC(2026, 11, 2, 12);
const clock = { now: async () => now };
const api = await testApi({ keyring: parseKeyring(MASTER_KEY), clock });
const { id: companyId } = await api.newCompany();
const KEY = sampleKey();
const note = await captureDocument(api, companyId, { key: KEY }, procNfe(sampleNote({ items: 3 })));
const MINUTE = 60_000;

const download = (file: string, headers: Record<string, string> = {}, options: AskOptions = {}) =>
  api.ask('GET', `/v1/documents/${note.id}/${file}`, { headers, ...options });
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('downloads', () => {
  test('the XML: byte for byte, with a name, a type and a strong ETag', async () => {
    const { status, bytes, headers } = await download('xml');
    assert.equal(status, 200);
    assert.deepEqual(bytes, note.xml);
    assert.equal(headers['content-type'], 'application/xml');
    assert.equal(headers['content-length'], String(note.xml.length));
    assert.equal(headers['content-disposition'], `attachment; filename="${KEY}-procNFe.xml"`);
    assert.equal(headers.etag, `"${sha256(note.xml)}"`);
    assert.equal(headers['accept-ranges'], 'bytes');
    assert.equal(headers['cache-control'], 'private, no-store');
  });

  test('the PDF, the same each time', async () => {
    const { status, bytes, headers } = await download('pdf');
    assert.equal(status, 200);
    assert.equal(bytes.subarray(0, 5).toString(), '%PDF-');
    assert.equal(headers['content-type'], 'application/pdf');
    assert.equal(headers['content-disposition'], `inline; filename="${KEY}-procNFe.pdf"`);
    assert.equal(headers.etag, `"${sha256(bytes)}"`);
    assert.deepEqual((await download('pdf')).bytes, bytes);
  });

  test('the DACTE of a CT-e, and its correction letter', async () => {
    const cte = sampleCte();
    const event = { document_type: 'cte', kind: 'procEventoCTe', event_type: '110110', event_sequence: 1 };
    for (const [fields, xml, name] of [
      [{ document_type: 'cte', kind: 'procCTe' }, procCte(cte), 'procCTe'],
      [{ ...event, event: '{"type":"110110"}' }, cteLetterXml(), 'procEventoCTe-110110-1'],
    ] as const) {
      const { id } = await captureDocument(api, companyId, { key: cteKey(), ...fields }, xml);
      const { links } = (await api.ask('GET', `/v1/documents/${id}`)).json;
      const { status, bytes, headers } = await api.ask('GET', links.pdf);
      assert.deepEqual([status, bytes.subarray(0, 5).toString()], [200, '%PDF-']);
      assert.equal(headers['content-disposition'], `inline; filename="${cteKey()}-${name}.pdf"`);
      assert.equal((await api.db.query('select from pdfs where document_id = $1', [id])).rowCount, 0);
    }
  });

  for (const file of ['xml', 'pdf']) {
    test(`${file}: parts of it`, async () => {
      const { bytes: whole, headers } = await download(file);
      const etag = String(headers.etag);
      const size = whole.length;
      const part = async (range: string, more: Record<string, string> = {}): Promise<Answer> =>
        download(file, { range, ...more });
      for (const [range, first, last] of [
        ['bytes=0-0', 0, 0],
        ['bytes=10-99', 10, 99],
        ['bytes=100-', 100, size - 1],
        ['bytes=-7', size - 7, size - 1],
        [`bytes=-${size * 2}`, 0, size - 1],
        [`bytes=5-${size * 2}`, 5, size - 1],
        [`Bytes=${size - 1}-`, size - 1, size - 1],
      ] as const) {
        const { status, bytes, headers: got } = await part(range);
        assert.equal(status, 206, range);
        assert.deepEqual(bytes, whole.subarray(first, last + 1), range);
        assert.equal(got['content-range'], `bytes ${first}-${last}/${size}`);
        assert.equal(got['content-length'], String(last - first + 1));
        assert.equal(got.etag, etag);
      }
      for (const range of [`bytes=${size}-`, 'bytes=-0', `bytes=${size + 5}-${size + 9}`]) {
        const { status, json, headers: got } = await part(range);
        assert.deepEqual([status, json.code], [416, 'range_not_satisfiable'], range);
        assert.equal(got['content-range'], `bytes */${size}`);
        assert.ok(!('etag' in got) && !('content-disposition' in got));
      }
      // Several ranges, other units, nonsense: the whole.
      for (const range of ['bytes=0-1,5-6', 'items=0-1', 'bytes=9-3', 'bytes=', 'bytes=-', 'bytes=x-1', '0-1']) {
        const { status, bytes } = await part(range);
        assert.deepEqual([status, bytes.length], [200, size], range);
      }
      assert.equal((await part('bytes=0-1', { 'if-range': etag })).status, 206);
      for (const other of [`W/${etag}`, '"other"', 'Wed, 02 Dec 2026 00:00:00 GMT']) {
        assert.equal((await part('bytes=0-1', { 'if-range': other })).status, 200, other);
      }
    });

    test(`${file}: not again for whoever has it, and headers alone`, async () => {
      const { bytes: whole, headers } = await download(file);
      const etag = String(headers.etag);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const { status, bytes, headers: got } = await download(file, { 'if-none-match': known, range: 'bytes=0-1' });
        assert.deepEqual([status, bytes.length, got.etag], [304, 0, etag], known);
      }
      assert.equal((await download(file, { 'if-none-match': '"other"' })).status, 200);
      const url = `/v1/documents/${note.id}/${file}`;
      const authorization = `Bearer ${api.deps.bootstrapKey}`;
      const head = await api.app.inject({ method: 'HEAD', url, headers: { authorization, range: 'bytes=0-1' } });
      assert.deepEqual([head.statusCode, head.rawPayload.length], [200, 0]);
      assert.equal(head.headers['content-length'], String(whole.length));
      assert.equal(head.headers.etag, etag);
      assert.equal((await api.app.inject({ method: 'HEAD', url })).statusCode, 401);
    });
  }

  test('names: events say which; what a broken document says becomes no path and no header', async () => {
    const named = async (fields: Record<string, unknown>) => {
      const { id } = await captureDocument(api, companyId, fields);
      const { headers } = await api.ask('GET', `/v1/documents/${id}/xml`);
      return String(headers['content-disposition']).replace(id, '{id}');
    };
    const event = { kind: 'procEventoNFe', event_type: '110111', event_sequence: 1, event: '{"type":"110111"}' };
    assert.equal(await named({ key: KEY, ...event }), `attachment; filename="${KEY}-procEventoNFe-110111-1.xml"`);
    assert.equal(await named({ key: null }), 'attachment; filename="{id}-procNFe.xml"');
    assert.equal(
      await named({ key: '../"a\r\nb: é', kind: 'unknown' }),
      'attachment; filename="____a__b___-unknown.xml"',
    );
  });

  test('only by who may see the document', async () => {
    const { id: other } = await api.newCompany();
    const key = await api.newKey(['read'], [other]);
    for (const [method, path] of [
      ['GET', 'xml'],
      ['GET', 'pdf'],
      ['POST', 'links'],
    ] as const) {
      const url = `/v1/documents/${note.id}/${path}`;
      assert.equal((await api.ask(method, url, { key })).json.code, 'not_found', path);
      assert.equal((await api.ask(method, url, { key: null })).status, 401, path);
      assert.equal((await api.ask(method, `/v1/documents/${randomUUID()}/${path}`)).status, 404, path);
    }
  });
});

describe('a PDF that there is not', () => {
  const pdfOf = async (fields: Record<string, unknown>, xml?: string) => {
    const { id } = await captureDocument(api, companyId, { key: KEY, ...fields }, xml);
    return api.ask('GET', `/v1/documents/${id}/pdf`);
  };

  test('of a summary: how to get the full XML', async () => {
    const summary = { kind: 'resNFe' };
    for (const [full_xml, way] of [
      ['awaited', /210210.*reprocess/],
      ['overdue', /210210/],
      ['present', /kind=procNFe/],
      ['not_applicable', /cancelled or denied/],
    ] as const) {
      const { status, json } = await pdfOf({ ...summary, full_xml });
      assert.deepEqual([status, json.code], [409, 'summary_only']);
      assert.match(json.detail, way);
    }
  });

  test('of events and of what is unknown', async () => {
    const event = (type: string) => ({ kind: 'procEventoNFe', event_type: type, event: JSON.stringify({ type }) });
    for (const fields of [event('110111'), { kind: 'resEvento' }, { kind: 'unknown' }, { kind: 'CNC' }]) {
      const { status, json } = await pdfOf(fields);
      assert.deepEqual([status, json.code], [409, 'no_pdf']);
    }
    // Of a model that has no DANFE, or a letter that is none: only the XML tells.
    const { status, json } = await pdfOf(event('110110'), correctionLetterXml({ type: '110111' }));
    assert.deepEqual([status, json.code], [409, 'no_pdf']);
  });

  test('of a document that cannot be printed: why, and nothing of its content', async () => {
    const { status, json, text } = await pdfOf({}, '<nfeProc><segredo>Fulano');
    assert.deepEqual([status, json.code], [422, 'pdf_not_possible']);
    assert.ok(!text.includes('Fulano') && !text.includes('segredo'), text);
  });

  test('of a document whose archive is damaged', async () => {
    const { status, json } = await pdfOf({ xml_sha256: '0'.repeat(64) });
    assert.deepEqual([status, json.code], [500, 'content_damaged']);
  });

  test('of one that is not listed there is a PDF as there is an XML', async () => {
    const { id } = await captureDocument(
      api,
      companyId,
      { key: KEY, suppressed: 'issued_not_captured: x' },
      procNfe(sampleNote({ items: 2 })),
    );
    for (const file of ['xml', 'pdf']) assert.equal((await api.ask('GET', `/v1/documents/${id}/${file}`)).status, 200);
  });
});

describe('links', () => {
  const make = async (id = note.id, options: AskOptions = {}) => {
    const { status, json, text } = await api.ask('POST', `/v1/documents/${id}/links`, options);
    assert.equal(status, 200, text);
    return json as { xml: string; pdf: string | null; expiresAt: string };
  };
  const follow = (link: string | null, headers: Record<string, string> = {}) => {
    const { pathname, search } = new URL(link ?? '');
    return api.ask('GET', pathname + search, { key: null, headers });
  };

  test('open one file of one document for a quarter of an hour, without a key', async () => {
    const links = await make();
    assert.equal(links.expiresAt, new Date(now + 15 * MINUTE).toISOString());
    assert.ok(links.xml.startsWith('http://localhost:80/links/'), links.xml);
    const xml = await follow(links.xml);
    assert.deepEqual([xml.status, xml.bytes], [200, note.xml]);
    assert.equal(xml.headers['cache-control'], 'private, no-store');
    assert.equal(xml.headers['referrer-policy'], 'no-referrer');
    const pdf = await follow(links.pdf);
    assert.deepEqual(pdf.bytes, (await download('pdf')).bytes);
    assert.equal(pdf.headers['content-disposition'], `inline; filename="${KEY}-procNFe.pdf"`);
    assert.equal((await follow(links.pdf, { range: 'bytes=0-4' })).text, '%PDF-');
    assert.equal((await follow(`${links.xml}&utm_source=mail`)).status, 200);
    const { pathname, search } = new URL(links.xml);
    const head = await api.app.inject({ method: 'HEAD', url: pathname + search });
    assert.deepEqual([head.statusCode, head.headers['content-length']], [200, String(note.xml.length)]);

    now += 15 * MINUTE - 1;
    assert.equal((await follow(links.xml)).status, 200);
    now += 1;
    const { status, json } = await follow(links.xml);
    assert.deepEqual([status, json.code], [403, 'link_expired']);
    assert.match(json.detail, /valid until 2026-/);
  });

  test('open nothing once anything about them is changed', async () => {
    const { xml, pdf } = await make();
    const other = await captureDocument(api, companyId, { key: KEY });
    const url = new URL(xml);
    const signature = url.searchParams.get('signature') ?? '';
    const expires = url.searchParams.get('expires') ?? '';
    const changed = [
      xml.replace('/xml?', '/pdf?'),
      String(pdf).replace('/pdf?', '/xml?'),
      xml.replace(note.id, other.id),
      xml.replace(expires, String(Number(expires) + 60)),
      xml.replace(expires, `0${expires}`),
      xml.replace(/&signature=.*/, ''),
      xml.replace(/expires=\d+&/, ''),
      `${xml}&expires=${expires}`,
      `${xml}&signature=${signature}`,
      xml.slice(0, -1),
      `${xml}A`,
      `${xml}=`,
      xml.replace(signature, ''),
      // Every character counts, the spare bits of the last one too.
      ...Array.from(signature, (character, at) =>
        xml.replace(signature, signature.slice(0, at) + (character === 'B' ? 'C' : 'B') + signature.slice(at + 1)),
      ),
    ];
    for (const link of changed) {
      const { status, json } = await follow(link);
      assert.deepEqual([status, json.code], [403, 'link_invalid'], link);
    }
    assert.equal((await follow(xml)).status, 200);
    const strange = await api.ask('GET', `${url.pathname.replace('xml', 'exe')}${url.search}`, { key: null });
    assert.equal(strange.status, 404);
  });

  test('go on opening while the master key is being rotated, and not with a key of another installation', async () => {
    const { xml } = await make();
    const { pathname, search } = new URL(xml);
    const next = randomBytes(32).toString('base64');
    const through = async (masterKey: string) => {
      const { database, objectStore } = api.deps;
      const another = await testApi({ keyring: parseKeyring(masterKey), clock, database, objectStore });
      return (await another.ask('GET', pathname + search, { key: null })).status;
    };
    assert.equal(await through(`${next},${MASTER_KEY}`), 200);
    assert.equal(await through(next), 403);
  });

  test('lead to the host that was asked, and to nothing that is no host', async () => {
    assert.ok((await make(note.id, { headers: { host: '[::1]:3000' } })).xml.startsWith('http://[::1]:3000/links/'));
    for (const host of [
      'a b',
      'a"><script>',
      'a/b?c',
      'user@erp.example',
      'erp.example:port',
      'erp.example:99999',
      '[x',
    ]) {
      const { status, json } = await api.ask('POST', `/v1/documents/${note.id}/links`, { headers: { host } });
      assert.deepEqual([status, json.code], [400, 'malformed_request'], host);
      assert.match(json.detail, /Host header/, host);
    }
  });

  test('have no PDF where there is none', async () => {
    const id = await newDocument(api.db, { company_id: companyId, kind: 'resNFe', key: KEY });
    const links = await make(id);
    assert.equal(links.pdf, null);
  });

  test('of a document that was deleted meanwhile say so', async () => {
    const { id } = await captureDocument(api, companyId, { key: KEY });
    const { xml } = await make(id);
    await api.db.query('delete from documents where id = $1', [id]);
    const { status, json } = await follow(xml);
    assert.deepEqual([status, json.code], [404, 'not_found']);
  });

  test('lead to where customers reach the API', async () => {
    const { database, objectStore } = api.deps;
    const proxied = await testApi({ publicUrl: 'https://docs.example.com/malote', database, objectStore, clock });
    const { json } = await proxied.ask('POST', `/v1/documents/${note.id}/links`);
    assert.ok(json.xml.startsWith(`https://docs.example.com/malote/links/${note.id}/xml?expires=`), json.xml);
    const direct = await api.ask('POST', `/v1/documents/${note.id}/links`, {
      headers: { host: 'malote.internal:8080' },
    });
    assert.ok(direct.json.pdf.startsWith('http://malote.internal:8080/links/'), direct.json.pdf);
  });

  test('stand in no log, whatever becomes of them', async () => {
    const { xml, pdf } = await make();
    api.log.length = 0;
    await follow(xml);
    await follow(pdf);
    await follow(`${xml}x`);
    await follow(`${xml}&%`);
    assert.equal(api.log.length, 4);
    const log = api.log.join('');
    assert.match(log, /\/links\/:id\/:file/);
    for (const secret of [xml, String(pdf)].map((link) => new URL(link).searchParams.get('signature') ?? '?')) {
      assert.ok(!log.includes(secret) && !log.includes(KEY) && !log.includes(note.id), log);
    }
  });
});

describe('a consumer of webhooks', () => {
  test('gets from the event to the bytes', async () => {
    await tellOf(api, note.id);
    const [body] = (await api.ask('GET', `/v1/companies/${companyId}/events`)).json.data;
    const { links } = body.data;
    const xml = await api.ask('GET', links.xml);
    assert.equal(sha256(xml.bytes), body.data.xmlSha256);
    const pdf = await api.ask('GET', links.pdf);
    assert.equal(pdf.headers['content-type'], 'application/pdf');
    // For a person's browser, over a real connection.
    const address = await api.app.listen({ port: 0, host: '127.0.0.1' });
    const authorization = `Bearer ${await api.newKey(['read'], [companyId])}`;
    const made = await fetch(`${address}${links.self}/links`, { method: 'POST', headers: { authorization } });
    const signed = (await made.json()) as { xml: string; pdf: string };
    assert.ok(signed.pdf.startsWith(`${address}/links/`), signed.pdf);
    for (const [link, bytes] of [
      [signed.xml, xml.bytes],
      [signed.pdf, pdf.bytes],
    ] as const) {
      const answer = await fetch(link);
      assert.equal(answer.status, 200);
      assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes);
    }
  });
});
