import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { testApi } from './support.js';

const api = await testApi();
const { json: document } = await api.ask('GET', '/openapi.json', { key: null });

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: string[];
  readonly security?: unknown[];
  readonly parameters?: { in: string; name: string; required?: boolean; schema: object }[];
  readonly requestBody?: object;
  readonly responses: Record<string, { description?: string; content?: Record<string, unknown> }>;
}
const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

describe('/openapi.json', () => {
  test('is OpenAPI 3.1', () => {
    assert.equal(document.openapi, '3.1.0');
    assert.equal(document.components.securitySchemes.apiKey.scheme, 'bearer');
  });

  test('lists every route of the contract', () => {
    const listed = operations.map(({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`);
    const capture = '/v1/companies/{}/captures/{}';
    const contract = [
      `DELETE ${capture}`,
      'DELETE /v1/api-keys/{}',
      'DELETE /v1/companies/{}',
      'GET /v1/companies/{}/deletion',
      'POST /v1/companies/{}/restore',
      'DELETE /v1/companies/{}/certificate',
      'DELETE /v1/webhook-endpoints/{}',
      'GET /',
      'GET /healthz',
      'GET /metrics',
      'GET /openapi.json',
      'GET /readyz',
      'GET /v1/alerts',
      'GET /v1/api-keys',
      'GET /v1/archives/{}',
      'GET /v1/archives/{}/request',
      'GET /v1/captures',
      'GET /v1/companies',
      'GET /v1/companies/{}',
      'GET /v1/companies/{}/captures',
      `GET ${capture}`,
      `GET ${capture}/gaps`,
      `GET ${capture}/queries`,
      'GET /v1/companies/{}/certificate',
      'GET /v1/companies/{}/events',
      'GET /v1/documents',
      'GET /v1/documents/{}',
      'GET /v1/documents/{}/events',
      'GET /v1/documents/{}/xml',
      'GET /v1/documents/{}/pdf',
      'POST /v1/documents/{}/links',
      'GET /links/{}/{}',
      'GET /v1/usage',
      'GET /v1/webhook-deliveries',
      'GET /v1/webhook-deliveries/{}',
      'GET /v1/webhook-endpoints',
      'GET /v1/webhook-endpoints/{}',
      'PATCH /v1/companies/{}',
      'PATCH /v1/webhook-endpoints/{}',
      'POST /v1/api-keys',
      'POST /v1/companies',
      `POST ${capture}/pause`,
      `POST ${capture}/resume`,
      'POST /v1/webhook-deliveries/resend',
      'POST /v1/webhook-deliveries/{}/resend',
      'POST /v1/webhook-endpoints',
      'POST /v1/webhook-endpoints/{}/enable',
      'POST /v1/webhook-endpoints/{}/rotate-secret',
      'POST /v1/webhook-endpoints/{}/test',
      `PUT ${capture}`,
      'PUT /v1/companies/{}/certificate',
      'GET /v1/manifestations',
      'GET /v1/manifestations/{}',
      'POST /v1/companies/{}/manifestations',
      'POST /v1/companies/{}/manifestations/batch',
      'POST /v1/companies/{}/captures/nfse/release-history',
      `POST ${capture}/reprocess`,
      'GET /v1/reprocess-requests/{}',
      `PUT ${capture}/cursor`,
      `POST ${capture}/gaps/{}/recover`,
      'POST /v1/exports',
      'GET /v1/exports',
      'GET /v1/exports/{}',
      'DELETE /v1/exports/{}',
      'GET /v1/exports/{}/file',
      'GET /links/exports/{}',
      'POST /v1/imports',
      'GET /v1/imports',
      'GET /v1/imports/{}',
      'GET /v1/imports/{}/files',
    ];
    assert.deepEqual(
      contract.filter((route) => !listed.includes(route)),
      [],
      'missing',
    );
    assert.equal(new Set(listed).size, listed.length, 'each once');
  });

  test('is complete for every operation', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    assert.equal(new Set(ids).size, operations.length);
    const tags = new Set(document.tags.map(({ name }: { name: string }) => name));
    for (const { path, method, operation } of operations) {
      const name = `${method} ${path}`;
      assert.ok(operation.summary, name);
      assert.ok(operation.tags?.length === 1 && tags.has(operation.tags[0]), name);
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
      const described = (operation.parameters ?? []).filter((one) => one.in === 'path').map((one) => one.name);
      assert.deepEqual(described.toSorted(), inPath.toSorted(), name);
      for (const { description } of Object.values(operation.responses)) assert.ok(description, name);
      const headers = (operation.parameters ?? []).filter((one) => one.in === 'header').map((one) => one.name);
      assert.deepEqual(headers, method === 'post' ? ['Idempotency-Key'] : [], name);
      if (!path.startsWith('/v1/')) continue;
      assert.ok(operation.security?.length === 1, name);
      for (const status of ['401', '403', '404', '422', '500', '503']) {
        assert.ok(operation.responses[status]?.content?.['application/problem+json'], `${name} ${status}`);
      }
      assert.ok(
        Object.keys(operation.responses).some((status) => status.startsWith('2')),
        name,
      );
    }
  });

  test('refers only to schemas that are there', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
    assert.ok(references.length > 20);
    for (const [, name] of references) assert.ok(document.components.schemas[name ?? ''], name);
    assert.deepEqual(
      Object.keys(document.components.schemas).toSorted(),
      [...new Set(references.map(([, name]) => name))].toSorted(),
    );
  });

  test('has the parts that clients rely on', () => {
    const body = document.paths['/v1/companies'].post.requestBody.content['application/json'].schema;
    assert.deepEqual(body.required, ['taxId', 'name', 'uf']);
    assert.equal(body.additionalProperties, false);
    const list = document.paths['/v1/documents'].get;
    const parameters = list.parameters.map((one: { name: string }) => one.name);
    for (const filter of ['key', 'nsu', 'q', 'manifestation', 'deadlineBefore', 'limit', 'cursor']) {
      assert.ok(parameters.includes(filter), filter);
    }
    assert.equal(
      list.responses['200'].content['application/json'].schema.properties.data.items.$ref,
      '#/components/schemas/Document',
    );
  });
});

describe('for machines', () => {
  test('/docs shows the description', async () => {
    const page = await api.ask('GET', '/docs/', { key: null });
    assert.equal(page.status, 200);
    assert.match(page.text, /swagger-ui/);
    const inner = await api.ask('GET', '/docs/json', { key: null });
    assert.equal(inner.json.openapi, '3.1.0');
  });

  test('/healthz lives without anything else', async () => {
    assert.deepEqual((await api.ask('GET', '/healthz', { key: null })).json, { alive: true });
  });

  test('/readyz names the part that does not answer', async () => {
    const ready = await api.ask('GET', '/readyz', { key: null });
    assert.equal(ready.status, 200);
    assert.deepEqual(ready.json, {
      ready: true,
      stopping: false,
      checks: { database: true, temporal: true, objectStore: true },
    });
    api.temporal.reachable = false;
    const without = await api.ask('GET', '/readyz', { key: null });
    api.temporal.reachable = true;
    assert.equal(without.status, 503);
    assert.deepEqual(without.json.checks, { database: true, temporal: false, objectStore: true });
  });

  test('/readyz does not wait for a part that hangs', async () => {
    const hanging = await testApi({
      temporal: Object.assign(api.temporal, { check: () => delay(600_000, undefined, { ref: false }) }),
    });
    const started = performance.now();
    const { status, json } = await hanging.ask('GET', '/readyz', { key: null });
    assert.equal(status, 503);
    assert.equal(json.checks.temporal, false);
    assert.ok(performance.now() - started < 120_000);
  });

  test('/readyz flips first when the process stops', async () => {
    let stopping = false;
    const stoppable = await testApi({ isStopping: () => stopping });
    assert.equal((await stoppable.ask('GET', '/readyz', { key: null })).status, 200);
    stopping = true;
    const { status, json } = await stoppable.ask('GET', '/readyz', { key: null });
    assert.deepEqual([status, json.stopping], [503, true]);
    assert.equal((await stoppable.ask('GET', '/v1/companies')).status, 200);
  });

  test('/metrics counts requests by route, and names no company', async () => {
    const { id } = await api.newCompany();
    await api.ask('GET', `/v1/companies/${id}`);
    const { text, headers } = await api.ask('GET', '/metrics', { key: null });
    assert.match(String(headers['content-type']), /^text\/plain/);
    assert.match(
      text,
      /malote_http_request_seconds_count\{method="GET",route="\/v1\/companies\/:companyId",status="200"\} 1/,
    );
    assert.ok(!text.includes(id));
  });
});
