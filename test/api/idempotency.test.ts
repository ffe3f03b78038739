import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Answer, newCompanyFields, testApi } from './support.js';

const api = await testApi();

function post(path: string, key: string, body: unknown, apiKey?: string): Promise<Answer> {
  return api.ask('POST', path, {
    body,
    headers: { 'idempotency-key': key },
    ...(apiKey === undefined ? {} : { key: apiKey }),
  });
}

const companies = async () =>
  Number((await api.db.query<{ n: string }>('select count(*) n from companies')).rows[0]?.n);

describe('Idempotency-Key', () => {
  test('gives a repeat the answer of the first', async () => {
    const body = newCompanyFields();
    const first = await post('/v1/companies', 'k-1', body);
    const again = await post('/v1/companies', 'k-1', body);
    assert.equal(first.status, 201);
    assert.equal(again.status, 201);
    assert.deepEqual(again.json, first.json);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.equal(first.headers['idempotent-replayed'], undefined);
    assert.notEqual(again.headers['x-request-id'], first.headers['x-request-id']);
  });

  test('does not mind the order of fields', async () => {
    const { taxId, name, uf } = newCompanyFields();
    const first = await post('/v1/companies', 'k-order', { taxId, name, uf });
    assert.deepEqual((await post('/v1/companies', 'k-order', { uf, name, taxId })).json, first.json);
  });

  test('is bound to one body', async () => {
    await post('/v1/companies', 'k-2', newCompanyFields());
    const { status, json } = await post('/v1/companies', 'k-2', newCompanyFields());
    assert.equal(status, 422);
    assert.equal(json.code, 'idempotency_key_reused');
  });

  test('is bound to path and API key', async () => {
    const other = await api.newKey(['admin']);
    const body = { name: 'x', scopes: ['read'] };
    const ids = await Promise.all([
      post('/v1/api-keys', 'k-3', body).then(({ json }) => json.id),
      post('/v1/api-keys', 'k-3', body, other).then(({ json }) => json.id),
      post('/v1/companies', 'k-3', newCompanyFields()).then(({ json }) => json.id),
    ]);
    assert.equal(new Set(ids).size, 3);
    assert.ok(ids.every(Boolean));
  });

  test('lets one of many at the same time do the work', async () => {
    const body = newCompanyFields();
    const before = await companies();
    const answers = await Promise.all(Array.from({ length: 12 }, () => post('/v1/companies', 'k-race', body)));
    assert.equal(await companies(), before + 1);
    const made = answers.filter(({ status }) => status === 201);
    assert.ok(made.length >= 1);
    assert.equal(new Set(made.map(({ json }) => json.id)).size, 1);
    for (const { status, json, headers } of answers.filter((one) => one.status !== 201)) {
      assert.equal(status, 409);
      assert.equal(json.code, 'idempotency_in_flight');
      assert.equal(headers['retry-after'], '1');
    }
    assert.equal((await post('/v1/companies', 'k-race', body)).status, 201);
  });

  test('of a request that failed may be used again', async () => {
    const taken = newCompanyFields();
    await api.newCompany(taken);
    assert.equal((await post('/v1/companies', 'k-4', taken)).status, 409);
    assert.equal((await post('/v1/companies', 'k-4', { taxId: 'x' })).status, 422);
    assert.equal((await post('/v1/companies', 'k-4', newCompanyFields())).status, 201);
  });

  test('of a process that died in between is free again after a while', async () => {
    const body = newCompanyFields();
    const first = await post('/v1/companies', 'k-5', body);
    const scope = "scope = 'key:bootstrap POST /v1/companies' and key = 'k-5'";
    await api.db.query(`update idempotency set status = null, answer = null where ${scope}`);
    assert.equal((await post('/v1/companies', 'k-5', body)).json.code, 'idempotency_in_flight');
    await api.db.query(`update idempotency set created_at = now() - interval '1 hour' where ${scope}`);
    await api.db.query('delete from companies where id = $1', [first.json.id]);
    assert.equal((await post('/v1/companies', 'k-5', body)).status, 201);
  });

  test('works on a POST without a body', async () => {
    const { json } = await api.ask('POST', '/v1/webhook-endpoints', { body: { url: 'http://127.0.0.1:9/' } });
    const path = `/v1/webhook-endpoints/${json.id}/rotate-secret`;
    const first = await post(path, 'k-6', undefined);
    assert.match(first.json.secret, /^whsec_/);
    assert.equal((await post(path, 'k-6', undefined)).json.secret, first.json.secret);
    assert.notEqual((await post(path, 'k-7', undefined)).json.secret, first.json.secret);
  });

  test('that is none is refused', async () => {
    for (const key of ['with blank', 'x'.repeat(256), 'não']) {
      const { status, json } = await post('/v1/companies', key, newCompanyFields());
      assert.equal(status, 422, key);
      assert.equal(json.errors[0].field, 'Idempotency-Key');
    }
  });

  test('keeps neither requests nor secrets in the clear', async () => {
    const { json } = await post('/v1/api-keys', 'k-8', { name: 'nome-muito-secreto', scopes: ['read'] });
    const { rows } = await api.db.query<{ answer: Buffer; row: string }>(
      'select answer, i::text as row from idempotency i',
    );
    const stored = rows.map(({ answer, row }) => `${row}${answer?.toString('latin1')}`).join('');
    assert.ok(stored.length > 0);
    for (const secret of [json.key.slice(4), 'nome-muito-secreto']) assert.ok(!stored.includes(secret));
  });
});
