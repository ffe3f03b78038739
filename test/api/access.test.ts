import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { key as accessKey } from '../documents/samples.js';
import { procNfe, sampleNote } from '../pdf/nfe-sample.js';
import { newDocument } from '../storage/documents-support.js';
import { captureDocument, storeEvents } from './fixtures.js';
import { BOOTSTRAP_KEY, newCompanyFields, PASSWORD, pfxFor, testApi } from './support.js';

const api = await testApi();

interface Operation {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `{id}` and the like. */
  readonly path: string;
  readonly scope: 'read' | 'manage' | 'admin';
}

type Described = { readonly operationId: string; readonly 'x-scope': Operation['scope'] };
const { paths } = (await api.ask('GET', '/openapi.json', { key: null })).json;
const operations: Operation[] = Object.entries(paths as Record<string, Record<string, Described>>)
  .filter(([path]) => path.startsWith('/v1/'))
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      operationId: operation.operationId,
      method: method.toUpperCase() as Operation['method'],
      path,
      scope: operation['x-scope'],
    })),
  );

/** What is done to a resource: the path before it is the resource. */
const ACTION =
  /\/(links|resume|pause|rotate-secret|test|enable|resend|request|file|files|deletion|restore|reprocess|cursor|manifestations(\/batch)?|captures\/nfse\/release-history|nfse\/[^/]+\/capture|gaps\/[^/]+\/recover)$/;

const unknown = (path: string) => path.replace('{documentType}', 'nfe').replaceAll(/\{\w+\}/g, randomUUID());

describe('every route', () => {
  test('is here', () => {
    assert.ok(operations.length >= 35, `${operations.length} operations`);
  });

  for (const { operationId, method, path, scope } of operations) {
    test(`${operationId}: no key, no answer`, async () => {
      for (const [headers, key] of [
        [{}, null],
        [{ authorization: 'Basic dXNlcjpwYXNz' }, null],
        [{ authorization: 'Bearer' }, null],
        [{ authorization: `Bearer ${BOOTSTRAP_KEY} x` }, null],
        [{}, `mlt_${'x'.repeat(43)}`],
        [{}, `${BOOTSTRAP_KEY}x`],
        [{}, BOOTSTRAP_KEY.slice(0, -1)],
      ] as const) {
        const { status, headers: answered, json } = await api.ask(method, unknown(path), { key, headers });
        assert.equal(status, 401);
        assert.equal(json.code, 'unauthorized');
        assert.match(String(answered['www-authenticate']), /^Bearer/);
        assert.ok(answered['x-request-id']);
      }
    });

    test(`${operationId}: asks for the scope ${scope}`, async () => {
      assert.equal(scope, expectedScope(method, path));
      const lower = { read: null, manage: await keyOf('read'), admin: await keyOf('manage') }[scope];
      if (lower !== null) {
        const { status, json } = await api.ask(method, unknown(path), { key: lower });
        assert.equal(status, 403);
        assert.equal(json.code, 'scope_missing');
        assert.match(json.detail, new RegExp(scope));
      }
      const enough = await api.ask(method, unknown(path), { key: await keyOf(scope) });
      assert.ok(![401, 403].includes(enough.status), `${enough.status}`);
    });
  }
});

function expectedScope(method: string, path: string): string {
  if (path.startsWith('/v1/api-keys') || path.endsWith('/cursor')) return 'admin';
  // What cannot be undone, and its undoing.
  if (/^\/v1\/companies\/\{companyId\}(\/restore)?$/.test(path) && ['DELETE', 'POST'].includes(method)) return 'admin';
  // Neither a link nor an export changes anything.
  return method === 'GET' || path.endsWith('/links') || path.startsWith('/v1/exports') ? 'read' : 'manage';
}

const keys = new Map<string, Promise<string>>();
function keyOf(scope: Operation['scope']): Promise<string> {
  const key = keys.get(scope) ?? api.newKey([scope]);
  keys.set(scope, key);
  return key;
}

describe('a key limited to one company', async () => {
  const [mine, theirs] = [await api.companyWithCertificate(), await api.companyWithCertificate()];
  const key = await api.newKey(['admin'], [mine.id]);
  for (const { id } of [mine, theirs]) {
    await api.ask('PUT', `/v1/companies/${id}/captures/nfe`, { body: {} });
    await api.ask('POST', '/v1/webhook-endpoints', { body: { url: 'http://127.0.0.1:9/hook', companyIds: [id] } });
  }
  await api.ask('POST', '/v1/webhook-endpoints', { body: { url: 'http://127.0.0.1:9/all' } });
  const theirDocument = await captureDocument(api, theirs.id, {}, procNfe(sampleNote()));
  await captureDocument(api, mine.id);
  await storeEvents(api, theirs.id, 1);
  await storeEvents(api, mine.id, 1);
  const [theirEndpoint] = (await api.ask('GET', `/v1/webhook-endpoints?companyId=${theirs.id}`)).json.data;
  const [theirDelivery] = (await api.ask('GET', `/v1/webhook-deliveries?companyId=${theirs.id}`)).json.data;
  const [someKey] = (await api.ask('GET', '/v1/api-keys')).json.data;
  const { json: theirManifestation } = await api.ask('POST', `/v1/companies/${theirs.id}/manifestations`, {
    body: { key: accessKey(7), type: '210210' },
  });

  const { json: theirReprocess } = await api.ask('POST', `/v1/companies/${theirs.id}/captures/nfe/reprocess`, {
    body: { nsu: '900' },
  });

  const { json: theirExport } = await api.ask('POST', '/v1/exports', {
    body: { companyId: theirs.id, documentType: 'nfe', from: '2026-11-01', to: '2026-11-30' },
  });
  const theirImport = { id: randomUUID() };
  await api.db.query(
    `insert into imports (id, company_id, environment, notify, object_key, size, sha256, format, created_at, updated_at)
     values ($1, $2, 'homologation', false, 'k', 1, '', 'xml', now(), now())`,
    [theirImport.id, theirs.id],
  );

  /** A resource of the other company for each `{id}`, by the beginning of the path; and a body that would be accepted. */
  const theirId: Record<string, string> = {
    '/v1/documents/': theirDocument.id,
    '/v1/archives/': theirDocument.archiveId,
    '/v1/webhook-endpoints/': theirEndpoint.id,
    '/v1/webhook-deliveries/': theirDelivery.id,
    '/v1/api-keys/': someKey.id,
    '/v1/manifestations/': theirManifestation.id,
    '/v1/reprocess-requests/': theirReprocess.id,
    '/v1/exports/': theirExport.id,
    '/v1/imports/': theirImport.id,
  };
  const bodies: Record<string, unknown> = {
    updateCompany: { name: 'Nova' },
    storeCertificate: { pfx: pfxFor(theirs.taxId).toString('base64'), password: PASSWORD },
    startCapture: {},
    updateWebhookEndpoint: { description: 'x' },
    setCursor: { nsu: '1', reason: 'because' },
    requestManifestation: { key: accessKey(7), type: '210210' },
    requestManifestations: { items: [{ key: accessKey(7), type: '210210' }] },
    reprocess: { nsu: '1' },
  };

  for (const { operationId, method, path } of operations.filter(({ path }) => /\{(companyId|id)\}/.test(path))) {
    test(`${operationId}: another company's answers as if it did not exist`, async () => {
      const prefix = Object.keys(theirId).find((start) => path.startsWith(start));
      const id = path.includes('{companyId}') ? theirs.id : theirId[prefix ?? ''];
      assert.ok(id, `no foreign resource for ${path}: add one to theirId`);
      const at = (value: string) =>
        path
          .replace(/\{(companyId|id)\}/, value)
          .replace('{documentType}', 'nfe')
          .replace('{id}', randomUUID());
      const body = bodies[operationId];
      const query = operationId === 'deleteCompany' ? '?confirm=0000' : '';
      const foreign = await api.ask(method, at(id) + query, { key, body });
      const absent = await api.ask(method, at(randomUUID()) + query, { key, body });
      if (path.startsWith('/v1/api-keys')) {
        assert.equal(foreign.json.code, 'key_limited');
        return;
      }
      assert.equal(foreign.status, 404, foreign.text);
      const { requestId: _, ...shown } = foreign.json;
      const { requestId: __, ...shownOfNothing } = absent.json;
      assert.deepEqual(shown, shownOfNothing);
      // The bootstrap key proves that only the limit stands in the way.
      const resource = at(id).replace(ACTION, '');
      const allowed = await api.ask('GET', resource);
      assert.equal(allowed.status, 200, allowed.text);
    });
  }

  test('lists show its own alone', async () => {
    for (const [path, own] of [
      ['/v1/companies', 1],
      ['/v1/captures', 1],
      ['/v1/documents', 1],
      ['/v1/webhook-endpoints', 1],
      ['/v1/webhook-deliveries', 2],
    ] as const) {
      const { json } = await api.ask('GET', path, { key });
      assert.equal(json.data.length, own, path);
      assert.ok(!JSON.stringify(json).includes(theirs.id), path);
      const filtered = await api.ask('GET', `${path}?companyId=${theirs.id}`, { key });
      assert.ok(filtered.status === 422 || filtered.json.data.length === 0, path);
    }
    for (const path of ['/v1/usage', '/v1/alerts']) {
      assert.deepEqual((await api.ask('GET', path, { key })).json.data, [], path);
    }
  });

  test('cannot act on what concerns all companies, nor widen itself', async () => {
    for (const [method, path, body] of [
      ['POST', '/v1/companies', newCompanyFields()],
      ['POST', '/v1/api-keys', { name: 'wider', scopes: ['admin'] }],
      ['GET', '/v1/api-keys', undefined],
      ['DELETE', `/v1/api-keys/${someKey.id}`, undefined],
    ] as const) {
      const { status, json } = await api.ask(method, path, { key, body });
      assert.equal(status, 403, path);
      assert.equal(json.code, 'key_limited');
    }
    const url = 'http://127.0.0.1:9/hook';
    for (const companyIds of [undefined, null, [theirs.id], [mine.id, theirs.id]]) {
      const { status, json } = await api.ask('POST', '/v1/webhook-endpoints', { key, body: { url, companyIds } });
      assert.equal(status, 422);
      assert.match(json.errors[0].field, /^companyIds/);
    }
    const [own] = (await api.ask('GET', '/v1/webhook-endpoints', { key })).json.data;
    const widened = await api.ask('PATCH', `/v1/webhook-endpoints/${own.id}`, { key, body: { companyIds: null } });
    assert.equal(widened.status, 422);
  });

  test('sends again only what is its own', async () => {
    const body = { companyId: theirs.id, from: '2020-01-01T00:00:00Z', to: '2090-01-01T00:00:00Z' };
    const period = await api.ask('POST', '/v1/webhook-deliveries/resend', { key, body });
    assert.equal(period.status, 404);

    // Both companies hold the document, as issuer and recipient do.
    const accessKey = '35261199999999000191550010000012341000012349';
    for (const { id } of [mine, theirs]) {
      const { rows } = await api.db.query<{ id: string }>(
        'select document_id as id from events where company_id = $1 and document_id is not null limit 1',
        [id],
      );
      await newDocument(api.db, { id: rows[0]?.id, company_id: id, key: accessKey });
    }
    const byKey = (asked: string) =>
      api.ask('POST', '/v1/webhook-deliveries/resend', { key: asked, body: { key: accessKey } });
    assert.equal((await byKey(key)).json.count, 2);
    assert.equal((await byKey(BOOTSTRAP_KEY)).json.count, 4);
  });
});

describe('API keys', () => {
  test('work until they are revoked, and are never shown again', async () => {
    const made = await api.ask('POST', '/v1/api-keys', { body: { name: 'erp', scopes: ['read'] } });
    assert.equal(made.status, 201);
    assert.match(made.json.key, /^mlt_[A-Za-z0-9_-]{43}$/);
    const { key, ...shown } = made.json;
    assert.equal((await api.ask('GET', '/v1/companies', { key })).status, 200);

    const listed = (await api.ask('GET', '/v1/api-keys?limit=200')).json.data.find(
      ({ id }: { id: string }) => id === shown.id,
    );
    assert.deepEqual({ ...listed, lastUsedAt: null }, shown);
    assert.ok(listed.lastUsedAt);

    assert.equal((await api.ask('DELETE', `/v1/api-keys/${shown.id}`)).status, 204);
    assert.equal((await api.ask('GET', '/v1/companies', { key })).status, 401);
    assert.equal((await api.ask('DELETE', `/v1/api-keys/${shown.id}`)).status, 404);
  });

  test('are kept as a hash only', async () => {
    const { json } = await api.ask('POST', '/v1/api-keys', { body: { name: 'hashed', scopes: ['manage'] } });
    const { rows } = await api.db.query('select * from api_keys where id = $1', [json.id]);
    assert.ok(!JSON.stringify(rows).includes(json.key.slice(4)));
    assert.ok(!api.log.join('').includes(json.key.slice(4)));
  });

  test('take further scopes from the greater one', async () => {
    const admin = await api.newKey(['admin']);
    assert.equal((await api.ask('GET', '/v1/companies', { key: admin })).status, 200);
    assert.equal((await api.ask('POST', '/v1/companies', { key: admin, body: newCompanyFields() })).status, 201);
  });
});
