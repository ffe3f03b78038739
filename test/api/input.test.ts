import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newCompanyFields, testApi } from './support.js';

const api = await testApi();
const company = await api.companyWithCertificate();
await api.ask('PUT', `/v1/companies/${company.id}/captures/nfe`, { body: {} });
const endpoint = (await api.ask('POST', '/v1/webhook-endpoints', { body: { url: 'http://127.0.0.1:9/' } })).json;

const capture = `/v1/companies/${company.id}/captures/nfe`;
const valid = newCompanyFields();
const many = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`);

/** Path, body, and the fields that must be named. */
const WRONG_BODIES: [
  what: string,
  method: 'POST' | 'PUT' | 'PATCH',
  path: string,
  body: unknown,
  ...fields: string[],
][] = [
  ['no body', 'POST', '/v1/companies', undefined, 'body'],
  ['null', 'POST', '/v1/companies', null, 'body'],
  ['a list', 'POST', '/v1/companies', [], 'body'],
  ['nothing in it', 'POST', '/v1/companies', {}, 'taxId', 'name', 'uf'],
  ['unknown field', 'POST', '/v1/companies', { ...valid, cnpj: '1', nome: 'x' }, 'cnpj', 'nome'],
  ['tax ID as number', 'POST', '/v1/companies', { ...valid, taxId: 12345678000195 }, 'taxId'],
  ['wrong check digits', 'POST', '/v1/companies', { ...valid, taxId: '12345678000100' }, 'taxId'],
  ['one digit repeated', 'POST', '/v1/companies', { ...valid, taxId: '11111111111' }, 'taxId'],
  ['tax ID too short', 'POST', '/v1/companies', { ...valid, taxId: '123' }, 'taxId'],
  ['tax ID in lower case', 'POST', '/v1/companies', { ...valid, taxId: '12abc34501de35' }, 'taxId'],
  ['empty name', 'POST', '/v1/companies', { ...valid, name: '  ' }, 'name'],
  ['long name', 'POST', '/v1/companies', { ...valid, name: 'x'.repeat(201) }, 'name'],
  ['NUL in the name', 'POST', '/v1/companies', { ...valid, name: 'a\u0000b' }, 'name'],
  ['UF as number', 'POST', '/v1/companies', { ...valid, uf: 35 }, 'uf'],
  ['UF in lower case', 'POST', '/v1/companies', { ...valid, uf: 'sp' }, 'uf'],
  ['no such UF', 'POST', '/v1/companies', { ...valid, uf: 'XX' }, 'uf'],
  ['tags as text', 'POST', '/v1/companies', { ...valid, tags: 'a' }, 'tags'],
  ['an empty tag', 'POST', '/v1/companies', { ...valid, tags: ['a', ''] }, 'tags.1'],
  ['too many tags', 'POST', '/v1/companies', { ...valid, tags: many(51) }, 'tags'],
  ['nothing to change', 'PATCH', `/v1/companies/${company.id}`, {}, 'body'],
  ['a tax ID to change', 'PATCH', `/v1/companies/${company.id}`, { taxId: valid.taxId }, 'taxId'],
  ['name taken away', 'PATCH', `/v1/companies/${company.id}`, { name: null }, 'name'],

  ['no certificate', 'PUT', `/v1/companies/${company.id}/certificate`, {}, 'pfx', 'password'],
  ['no base64', 'PUT', `/v1/companies/${company.id}/certificate`, { pfx: '<pfx>', password: '' }, 'pfx'],
  [
    'too large a file',
    'PUT',
    `/v1/companies/${company.id}/certificate`,
    { pfx: Buffer.alloc(65_537).toString('base64'), password: '' },
    'pfx',
  ],

  ['environment', 'PUT', capture, { environment: 'test' }, 'environment'],
  ['option of another type', 'PUT', capture, { cutoffDate: '2026-01-01' }, 'cutoffDate'],
  ['handler without activity', 'PUT', capture, { handler: { taskQueue: 'q' } }, 'handler.activity'],
  ['unknown in the handler', 'PUT', capture, { handler: { taskQueue: 'q', activity: 'a', queue: 1 } }, 'handler.queue'],
  ['NSU as number', 'PUT', capture, { startNsu: 34000 }, 'startNsu'],
  ['NSU of 16 digits', 'PUT', capture, { startNsu: '1234567890123456' }, 'startNsu'],
  ['NSU with letters', 'PUT', capture, { startNsu: '12a' }, 'startNsu'],
  ['NSU empty', 'PUT', capture, { startNsu: '' }, 'startNsu'],
  ['instant without offset', 'PUT', capture, { notBefore: '2026-11-30T10:00:00' }, 'notBefore'],
  ['a day that is none', 'PUT', capture, { notBefore: '2026-02-30T10:00:00Z' }, 'notBefore'],
  ['interval of 0', 'PUT', capture, { minIntervalMinutes: 0 }, 'minIntervalMinutes'],
  ['interval in text', 'PUT', capture, { minIntervalMinutes: '60' }, 'minIntervalMinutes'],
  ['interval beyond reason', 'PUT', capture, { minIntervalMinutes: 100_000 }, 'minIntervalMinutes'],
  ['no URL', 'PUT', capture, { webhookUrl: 'erp' }, 'webhookUrl'],
  ['pause until nonsense', 'POST', `${capture}/pause`, { until: 'tomorrow' }, 'until'],
  ['pause until the past', 'POST', `${capture}/pause`, { until: '2020-01-01T00:00:00Z' }, 'until'],
  ['unknown in a pause', 'POST', `${capture}/pause`, { til: '2099-01-01T00:00:00Z' }, 'til'],
  ['a body where none is', 'POST', `${capture}/resume`, { force: true }, 'force'],

  ['no URL', 'POST', '/v1/webhook-endpoints', {}, 'url'],
  ['user in the URL', 'POST', '/v1/webhook-endpoints', { url: 'https://u:p@erp.example.com' }, 'url'],
  ['ftp', 'POST', '/v1/webhook-endpoints', { url: 'ftp://erp.example.com' }, 'url'],
  ['unknown event', 'POST', '/v1/webhook-endpoints', { url: endpoint.url, events: ['invoice'] }, 'events.0'],
  ['no events', 'POST', '/v1/webhook-endpoints', { url: endpoint.url, events: [] }, 'events'],
  ['no company', 'POST', '/v1/webhook-endpoints', { url: endpoint.url, companyIds: [] }, 'companyIds'],
  ['company that is none', 'POST', '/v1/webhook-endpoints', { url: endpoint.url, companyIds: ['x'] }, 'companyIds.0'],
  [
    'unknown company',
    'POST',
    '/v1/webhook-endpoints',
    { url: endpoint.url, companyIds: [company.id, '00000000-0000-4000-8000-000000000000'] },
    'companyIds.1',
  ],
  ['no such replay', 'POST', `/v1/webhook-endpoints/${endpoint.id}/enable`, { replay: 'some' }, 'replay'],
  ['since nonsense', 'POST', `/v1/webhook-endpoints/${endpoint.id}/enable`, { replay: { since: 'x' } }, 'replay.since'],
  ['nothing to resend', 'POST', '/v1/webhook-deliveries/resend', {}, 'body'],
  ['no access key', 'POST', '/v1/webhook-deliveries/resend', { key: '123' }, 'key'],
  [
    'a period that ends before it begins',
    'POST',
    '/v1/webhook-deliveries/resend',
    { companyId: company.id, from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' },
    'to',
  ],
  ['no scopes', 'POST', '/v1/api-keys', { name: 'k', scopes: [] }, 'scopes'],
  ['unknown scope', 'POST', '/v1/api-keys', { name: 'k', scopes: ['root'] }, 'scopes.0'],
];

const WRONG_QUERIES: [path: string, ...fields: string[]][] = [
  ['/v1/companies?limit=0', 'limit'],
  ['/v1/companies?limit=201', 'limit'],
  ['/v1/companies?limit=ten', 'limit'],
  ['/v1/companies?limit=', 'limit'],
  ['/v1/companies?limit=1.5', 'limit'],
  ['/v1/companies?limit=5&limit=6', 'limit'],
  ['/v1/companies?taxid=1', 'taxid'],
  ['/v1/companies?taxId=12345678000100', 'taxId'],
  ['/v1/companies?root=1', 'root'],
  ['/v1/companies?tag=', 'tag'],
  ['/v1/companies?tag=%00', 'tag'],
  ['/v1/companies?cursor=xyz', 'cursor'],
  [
    `/v1/companies?cursor=${Buffer.from('[-1e15,"00000000-0000-4000-8000-000000000000"]').toString('base64url')}`,
    'cursor',
  ],
  [`/v1/companies?cursor=${Buffer.from('["a","b","c"]').toString('base64url')}`, 'cursor'],
  ['/v1/captures?phase=idle', 'phase'],
  ['/v1/captures?uf=35', 'uf'],
  ['/v1/captures?enabled=yes', 'enabled'],
  [`${capture}?environment=test`, 'environment'],
  [`${capture}/queries?cursor=abc`, 'cursor'],
  [`${capture}/gaps?status=open`, 'status'],
  [`${capture}/gaps?cursor=${Buffer.from('["1","2"]').toString('base64url')}`, 'cursor'],
  ['/v1/documents?documentType=nf', 'documentType'],
  ['/v1/documents?kind=nfe', 'kind'],
  ['/v1/documents?direction=in', 'direction'],
  ['/v1/documents?key=123', 'key'],
  ['/v1/documents?nsu=1e3', 'nsu'],
  ['/v1/documents?issuedFrom=2026-11-01', 'issuedFrom'],
  ['/v1/documents?state=ok', 'state'],
  ['/v1/documents?fullXml=yes', 'fullXml'],
  ['/v1/documents?manifestation=21', 'manifestation'],
  ['/v1/documents?companyId=1', 'companyId'],
  ['/v1/documents?capturedFrm=2026-11-01T00:00:00Z', 'capturedFrm'],
  [`/v1/companies/${company.id}/events?after=-1`, 'after'],
  [`/v1/companies/${company.id}/events?after=x`, 'after'],
  [`/v1/companies/${company.id}/events?limit=1000`, 'limit'],
  ['/v1/webhook-endpoints?status=on', 'status'],
  ['/v1/webhook-deliveries?status=done', 'status'],
  ['/v1/webhook-deliveries?documentId=1', 'documentId'],
  ['/v1/usage?month=2026-13', 'month'],
  ['/v1/usage?month=november', 'month'],
  ['/v1/usage?month=0000-01', 'month'],
  ['/v1/alerts?open=1', 'open'],
  ['/v1/alerts?code=boom', 'code'],
];

function assertNames(answer: Awaited<ReturnType<typeof api.ask>>, fields: readonly string[]): void {
  assert.equal(answer.status, 422, answer.text);
  assert.match(String(answer.headers['content-type']), /^application\/problem\+json/);
  assert.equal(answer.json.code, 'invalid_input');
  assert.deepEqual(
    answer.json.errors.map(({ field }: { field: string }) => field),
    fields,
  );
  for (const { message } of answer.json.errors) assert.ok(message.length > 10, message);
}

describe('a body that is not valid is refused, each fault with its field', () => {
  for (const [what, method, path, body, ...fields] of WRONG_BODIES) {
    test(`${method} ${path.replaceAll(company.id, '{id}').replaceAll(endpoint.id, '{id}')}: ${what}`, async () => {
      assertNames(
        await api.ask(method, path, {
          ...(body === undefined
            ? {}
            : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
        }),
        fields,
      );
    });
  }
});

describe('a query that is not valid is refused, each fault with its field', () => {
  for (const [path, ...fields] of WRONG_QUERIES) {
    test(path.replaceAll(company.id, '{id}'), async () => assertNames(await api.ask('GET', path), fields));
  }
});

describe('what is no request of this API', () => {
  const json = { 'content-type': 'application/json' };
  for (const [what, status, code, body, headers] of [
    ['broken JSON', 400, 'malformed_request', '{"taxId":', json],
    ['a prototype', 400, 'malformed_request', '{"__proto__": {"admin": true}}', json],
    ['a form', 415, 'unsupported_media_type', 'taxId=1', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['text', 415, 'unsupported_media_type', 'hello', { 'content-type': 'text/plain' }],
    ['XML', 415, 'unsupported_media_type', '<a/>', { 'content-type': 'application/xml' }],
    ['a body without end', 413, 'body_too_large', JSON.stringify({ name: 'x'.repeat(200_000) }), json],
    ['a wrong length', 400, 'malformed_request', '{}', { ...json, 'content-length': '50' }],
  ] as const) {
    test(`${what}: ${status}`, async () => {
      const answer = await api.ask('POST', '/v1/companies', { body, headers });
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.json.code, code);
      assert.ok(answer.headers['x-request-id']);
    });
  }

  test('an id that is none: 404, like any other that does not exist', async () => {
    for (const path of ['/v1/companies/1', '/v1/documents/x', `/v1/companies/${company.id}/captures/nfce`]) {
      const { status, json } = await api.ask('GET', path);
      assert.equal(status, 404, path);
      assert.equal(json.code, 'not_found');
    }
  });

  test('another path or method: 404 route_not_found', async () => {
    for (const [method, path] of [
      ['GET', '/v1/nothing'],
      ['DELETE', '/v1/companies'],
      ['POST', '/'],
      ['GET', `/v1/documents/${company.id}/paper`],
    ] as const) {
      const { status, json, headers } = await api.ask(method, path);
      assert.equal(status, 404);
      assert.equal(json.code, 'route_not_found');
      assert.equal(json.requestId, headers['x-request-id']);
    }
  });

  test('a path that cannot be decoded: 400', async () => {
    const { status, json, headers } = await api.ask('GET', '/v1/companies/%E0%A4%A');
    assert.equal(status, 400, JSON.stringify(json));
    assert.equal(json.code, 'malformed_request');
    assert.ok(headers['x-request-id']);
  });
});

test('no tax ID of a refused request reaches the log', () => {
  const lines = api.log.join('');
  assert.ok(lines.length > 1000);
  for (const secret of ['12345678000100', valid.taxId, company.taxId, '12abc34501de35']) {
    assert.ok(!lines.includes(secret), secret);
  }
});
