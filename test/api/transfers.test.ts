import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { getExport } from '../../src/storage/exports.js';
import { getImport, openImport, recordFiles } from '../../src/storage/imports.js';
import { finishedExport } from './fixtures.js';
import { testApi } from './support.js';

const api = await testApi();
const company = await api.companyWithCertificate();
await api.ask('PUT', `/v1/companies/${company.id}/captures/nfe`, { body: { environment: 'homologation' } });
const other = await api.newCompany();
const stranger = await api.newKey(['read', 'manage'], [other.id]);

const order = { companyId: company.id, documentType: 'nfe', from: '2026-11-01', to: '2026-11-30' };
const start = async (more: object = {}) => (await api.ask('POST', '/v1/exports', { body: { ...order, ...more } })).json;

const finish = (id: string, content: Buffer) => finishedExport(api, id, content);

describe('exports', () => {
  test('one is written down and its workflow is told; days are Brasília’s and included', async () => {
    const answer = await api.ask('POST', '/v1/exports', { body: order });
    assert.equal(answer.status, 202, answer.text);
    const { id, from, to, status, environment, progress, file, warnings, workflowId } = answer.json;
    assert.deepEqual([from, to], ['2026-11-01T03:00:00.000Z', '2026-12-01T03:00:00.000Z']);
    assert.deepEqual(
      [status, environment, progress, file, warnings],
      ['pending', 'homologation', { documents: 0, total: null }, null, []],
    );
    assert.equal(workflowId, `export/${id}`);
    assert.equal(api.temporal.said.at(-1), `export ${id}`);
    const instants = await start({ from: '2026-11-01T00:00:00-03:00', to: '2026-12-01T00:00:00-03:00', pdf: true });
    assert.deepEqual([instants.from, instants.to, instants.pdf], [from, to, true]);
  });

  test('input faults are named; what a key does not see is not there', async () => {
    const cases: [object, string | undefined][] = [
      [{ from: '2026-13-01' }, 'from'],
      [{ to: 'yesterday' }, 'to'],
      [{ to: '2026-10-31' }, 'to'],
      [{ from: '0001-01-01' }, 'from'],
      [{ to: '9999-12-31' }, 'to'],
      [{ to: '9999-12-31T23:59:59-03:00' }, 'to'],
      [{ documentType: 'mdfe' }, 'documentType'],
      [{ format: 'tar' }, 'format'],
    ];
    for (const [more, field] of cases) {
      const { status, json } = await api.ask('POST', '/v1/exports', { body: { ...order, ...more } });
      assert.deepEqual([status, json.errors?.[0].field], [422, field], JSON.stringify(json));
    }
    assert.equal(
      (await api.ask('POST', '/v1/exports', { body: { ...order, documentType: 'cte' } })).json.code,
      'capture_missing',
    );
    const { id } = await start();
    for (const [method, path] of [
      ['GET', `/v1/exports/${id}`],
      ['DELETE', `/v1/exports/${id}`],
      ['GET', `/v1/exports/${id}/file`],
    ] as const) {
      assert.equal((await api.ask(method, path, { key: stranger })).status, 404);
    }
    assert.equal((await api.ask('POST', '/v1/exports', { body: order, key: stranger })).status, 404);
    assert.deepEqual((await api.ask('GET', '/v1/exports', { key: stranger })).json.data, []);
  });

  test('without Temporal it is stored all the same', async () => {
    api.temporal.reachable = false;
    const made = await start();
    api.temporal.reachable = true;
    assert.equal(made.warnings[0].code, 'temporal_unreachable');
    assert.equal((await getExport(api.db, made.id))?.status, 'pending');
  });

  test('the file of one that is done: by key, by link, in ranges; gone when it is cancelled', async () => {
    const content = Buffer.from('PK not quite, but long enough for ranges');
    const { id } = await start();
    assert.equal((await api.ask('GET', `/v1/exports/${id}/file`)).json.code, 'export_has_no_file');
    await finish(id, content);
    const { json: done } = await api.ask('GET', `/v1/exports/${id}`);
    assert.deepEqual(
      [done.status, done.progress, done.counts.xmlFiles, done.file.size],
      ['done', { documents: 3, total: 3 }, 3, content.length],
    );
    const link = new URL(done.file.url);
    for (const [path, key] of [
      [`/v1/exports/${id}/file`, undefined],
      [link.pathname + link.search, null],
    ] as const) {
      const options = key === null ? { key } : {};
      const whole = await api.ask('GET', path, options);
      assert.equal(whole.status, 200, whole.text);
      assert.ok(whole.bytes.equals(content));
      assert.equal(whole.headers['content-type'], 'application/zip');
      assert.equal(whole.headers['content-length'], String(content.length));
      assert.equal(whole.headers['content-disposition'], `attachment; filename="nfe-${id}.zip"`);
      assert.equal(whole.headers.etag, `"${done.file.sha256}"`);
      const part = await api.ask('GET', path, { ...options, headers: { range: 'bytes=3-5' } });
      assert.deepEqual(
        [part.status, part.text, part.headers['content-range']],
        [206, 'not', `bytes 3-5/${content.length}`],
      );
      assert.equal((await api.ask('GET', path, { ...options, headers: { range: 'bytes=999-' } })).status, 416);
      const known = await api.ask('GET', path, { ...options, headers: { 'if-none-match': `"${done.file.sha256}"` } });
      assert.equal(known.status, 304);
      const headers = key === null ? {} : { authorization: `Bearer ${api.deps.bootstrapKey}` };
      const head = await api.app.inject({ method: 'HEAD', url: path, headers });
      assert.deepEqual(
        [head.statusCode, head.headers['content-length'], head.headers.etag, head.body],
        [200, String(content.length), whole.headers.etag, ''],
      );
    }
    const another = (await start()).id;
    assert.equal(
      (await api.ask('GET', `/links/exports/${another}${link.search}`, { key: null })).json.code,
      'link_invalid',
    );
    const expired = link.search.replace(/expires=\d+/, 'expires=1');
    assert.equal((await api.ask('GET', link.pathname + expired, { key: null })).json.code, 'link_invalid');

    const cancelled = await api.ask('DELETE', `/v1/exports/${id}`);
    assert.deepEqual([cancelled.status, cancelled.json.status, cancelled.json.file], [202, 'cancelled', null]);
    assert.equal(api.temporal.said.at(-1), `cancel export ${id}`);
    assert.equal((await api.ask('GET', `/v1/exports/${id}/file`)).status, 409);
    assert.equal(await api.deps.objectStore.head(`${company.id}/exports/${id}/file.zip`), null);
    assert.equal(
      (await api.ask('DELETE', `/v1/exports/${id}`)).json.status,
      'cancelled',
      'a second time changes nothing',
    );
  });

  test('are listed, newest first', async () => {
    const { json } = await api.ask('GET', `/v1/exports?companyId=${company.id}&status=cancelled`);
    assert.equal(json.data.length, 1);
    const first = await api.ask('GET', '/v1/exports?limit=2');
    const second = await api.ask('GET', `/v1/exports?limit=2&cursor=${first.json.nextCursor}`);
    const ids = [...first.json.data, ...second.json.data].map(({ id }: { id: string }) => id);
    assert.equal(new Set(ids).size, 4);
  });
});

describe('imports', () => {
  const upload = (
    body: string | Buffer,
    more: { query?: string; type?: string; key?: string; idempotency?: string } = {},
  ) =>
    api.ask('POST', `/v1/imports?companyId=${company.id}${more.query ?? ''}`, {
      body,
      headers: {
        'content-type': more.type ?? 'application/zip',
        ...(more.idempotency && { 'idempotency-key': more.idempotency }),
      },
      ...(more.key && { key: more.key }),
    });

  test('the upload goes to the object store, its workflow is told', async () => {
    const body = Buffer.from('PK\x03\x04 whatever');
    const answer = await upload(body, { query: '&notify=true&fileName=novembro.zip' });
    assert.equal(answer.status, 202, answer.text);
    const { id, status, size, sha256, notify, fileName, environment, progress } = answer.json;
    assert.deepEqual(
      [status, size, notify, fileName, environment, progress],
      ['pending', body.length, true, 'novembro.zip', 'homologation', { files: 0, total: null }],
    );
    assert.equal(sha256, createHash('sha256').update(body).digest('hex'));
    assert.equal(api.temporal.said.at(-1), `import ${id}`);
    const row = await getImport(api.db, id);
    assert.equal(row?.format, 'zip');
    assert.ok((await api.deps.objectStore.get(row.objectKey)).equals(body));
    const xml = await upload('<nfeProc/>', { type: 'text/xml' });
    assert.equal((await getImport(api.db, xml.json.id))?.format, 'xml');
  });

  test('nothing, another type, a stranger and a reader are refused', async () => {
    assert.deepEqual((await upload('')).status, 422);
    for (const type of ['application/json', 'application/pdf', 'multipart/form-data; boundary=x']) {
      const { status, json } = await upload('{}', { type });
      assert.equal(status, 415, type);
      assert.match(json.detail, /application\/zip/, type);
    }
    assert.equal((await upload('PK', { key: stranger })).status, 404);
    assert.equal((await upload('PK', { key: await api.newKey(['read']) })).status, 403);
    const elsewhere = await api.ask('POST', '/v1/companies', {
      body: '<a/>',
      headers: { 'content-type': 'application/xml' },
    });
    assert.equal(elsewhere.json.code, 'unsupported_media_type');
    assert.match(elsewhere.json.detail, /application\/json$/);
  });

  test('the same key twice is one import', async () => {
    const first = await upload('PK\x03\x04 one', { idempotency: 'k1' });
    const again = await upload('PK\x03\x04 one', { idempotency: 'k1' });
    assert.equal(first.status, 202);
    assert.deepEqual([again.status, again.json.id], [202, first.json.id]);
    const other = await upload('PK\x03\x04 two', { idempotency: 'k1' });
    assert.equal(other.json.code, 'idempotency_key_reused', 'of the same length, and yet another import');
  });

  test('tells what became of each file', async () => {
    const { id } = (await upload('PK\x03\x04 files')).json;
    await openImport(api.db, id, 3, Date.now());
    const documentId = randomUUID();
    const results = [
      { entry: 0, name: 'a.xml', result: 'imported', reason: null, documentId },
      { entry: 1, name: 'b.xml', result: 'unreadable', reason: 'damaged', documentId: null },
      { entry: 2, name: 'c.xml', result: 'waiting', reason: null, documentId: null },
    ] as const;
    await api.db.transaction((tx) => recordFiles(tx, id, results, 3, Date.now()));
    const { json } = await api.ask('GET', `/v1/imports/${id}`);
    assert.deepEqual(
      [json.status, json.progress, json.counts.imported, json.counts.unreadable],
      ['running', { files: 2, total: 3 }, 1, 1],
    );
    const page = await api.ask('GET', `/v1/imports/${id}/files?limit=1`);
    assert.deepEqual(page.json.data, [{ name: 'a.xml', result: 'imported', reason: null, documentId }]);
    const next = await api.ask('GET', `/v1/imports/${id}/files?limit=1&cursor=${page.json.nextCursor}`);
    assert.deepEqual([next.json.data[0].name, next.json.nextCursor], ['b.xml', null]);
    assert.equal((await api.ask('GET', `/v1/imports/${id}/files?result=unreadable`)).json.data.length, 1);
    assert.equal((await api.ask('GET', `/v1/imports/${id}`, { key: stranger })).status, 404);
    assert.ok((await api.ask('GET', '/v1/imports')).json.data.length >= 3);
  });
});
