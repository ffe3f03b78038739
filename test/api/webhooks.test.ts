import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { disableEndpoint } from '../../src/storage/endpoints.js';
import { newDocument } from '../storage/documents-support.js';
import { receiver } from '../webhooks/support.js';
import { storeEvents } from './fixtures.js';
import { testApi } from './support.js';

const api = await testApi();

/** Limited to a company of its own, unless told otherwise: no test's events reach another's endpoint. */
async function newEndpoint(fields: Record<string, unknown> = {}) {
  const companyIds = [(await api.newCompany()).id];
  const body = { url: 'http://127.0.0.1:9/hook', companyIds, ...fields };
  const { status, json, text } = await api.ask('POST', '/v1/webhook-endpoints', { body });
  assert.equal(status, 201, text);
  return json;
}

describe('webhook endpoints', () => {
  test('show their secret once', async () => {
    const { id } = await api.newCompany();
    const { secret, ...shown } = await newEndpoint({
      companyIds: [id, id],
      events: ['capture_alert'],
      documentTypes: ['nfe'],
      description: 'ERP',
    });
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.deepEqual(shown.companyIds, [id]);
    assert.equal(shown.status, 'enabled');
    assert.deepEqual((await api.ask('GET', `/v1/webhook-endpoints/${shown.id}`)).json, shown);
    const stored = JSON.stringify((await api.db.query('select * from endpoints')).rows) + api.log.join('');
    assert.ok(!stored.includes(secret.slice(6)));
  });

  test('are changed field by field, and deleted', async () => {
    const { id } = await newEndpoint({ description: 'before', events: ['capture_alert'] });
    const path = `/v1/webhook-endpoints/${id}`;
    const { json } = await api.ask('PATCH', path, { body: { url: 'http://127.0.0.1:9/other', events: null } });
    assert.deepEqual([json.url, json.events, json.description], ['http://127.0.0.1:9/other', null, 'before']);
    assert.equal((await api.ask('DELETE', path)).status, 204);
    for (const method of ['GET', 'DELETE'] as const) assert.equal((await api.ask(method, path)).status, 404);
    assert.equal((await api.ask('PATCH', path, { body: { description: 'x' } })).status, 404);
  });

  test('to private addresses or without TLS need the configuration', async () => {
    const strict = await testApi({ allowPrivateWebhooks: false });
    for (const url of ['http://erp.example.com/', 'https://127.0.0.1/', 'https://[::1]/', 'https://10.0.0.1/x']) {
      const { status, json } = await strict.ask('POST', '/v1/webhook-endpoints', { body: { url } });
      assert.equal(status, 422, url);
      assert.equal(json.errors[0].field, 'url');
    }
    const fine = await strict.ask('POST', '/v1/webhook-endpoints', { body: { url: 'https://erp.example.com/hook' } });
    assert.equal(fine.status, 201);
  });

  test('are tested by one signed event that is stored nowhere', async () => {
    const customer = await receiver();
    const { id, secret } = await newEndpoint({ url: customer.url });
    const { status, json } = await api.ask('POST', `/v1/webhook-endpoints/${id}/test`);
    assert.equal(status, 200);
    assert.equal(json.delivered, true);
    assert.equal(json.statusCode, 204);
    const [got] = customer.received;
    assert.ok(got);
    new Webhook(secret).verify(got.body, got.headers);
    assert.deepEqual(got.event.data, { endpointId: id });

    const silent = await newEndpoint();
    const failed = await api.ask('POST', `/v1/webhook-endpoints/${silent.id}/test`);
    assert.equal(failed.status, 200);
    assert.deepEqual([failed.json.delivered, failed.json.statusCode], [false, null]);
    assert.match(failed.json.error, /^connection_refused: /);
    assert.deepEqual((await api.db.query('select * from deliveries')).rows, []);
  });

  test('sign with both secrets after a rotation', async () => {
    const customer = await receiver();
    const { id, secret: old } = await newEndpoint({ url: customer.url });
    const rotated = await api.ask('POST', `/v1/webhook-endpoints/${id}/rotate-secret`);
    assert.equal(rotated.status, 200);
    assert.notEqual(rotated.json.secret, old);
    const left = Date.parse(rotated.json.previousSecretUntil) - Date.now();
    assert.ok(left > 23.9 * 3_600_000 && left < 24.1 * 3_600_000);
    await api.ask('POST', `/v1/webhook-endpoints/${id}/test`);
    const [got] = customer.received;
    assert.ok(got);
    for (const secret of [old, rotated.json.secret]) new Webhook(secret).verify(got.body, got.headers);
  });
});

describe('deliveries', () => {
  test('are listed, shown with their attempts, and sent again one by one', async () => {
    const { id: companyId } = await api.newCompany();
    const endpoint = await newEndpoint({ companyIds: [companyId] });
    await storeEvents(api, companyId, 3);
    const path = `/v1/webhook-deliveries?endpointId=${endpoint.id}`;
    const first = await api.ask('GET', `${path}&limit=2`);
    const second = await api.ask('GET', `${path}&limit=2&cursor=${first.json.nextCursor}`);
    assert.equal(new Set([...first.json.data, ...second.json.data].map(({ id }) => id)).size, 3);

    const [one] = first.json.data;
    await api.db.query(
      `insert into delivery_attempts (delivery_id, at, status_code, error, duration_ms, response)
       values ($1, '2026-11-30T12:00:00Z', 500, 'status: answered 500', 12, 'oops')`,
      [one.id],
    );
    await api.db.query("update deliveries set status = 'exhausted', attempts = 1 where id = $1", [one.id]);
    const shown = await api.ask('GET', `/v1/webhook-deliveries/${one.id}`);
    assert.equal(shown.json.status, 'exhausted');
    assert.deepEqual(shown.json.attemptLog, [
      {
        at: '2026-11-30T12:00:00.000Z',
        statusCode: 500,
        error: 'status: answered 500',
        durationMs: 12,
        response: 'oops',
      },
    ]);

    const again = await api.ask('POST', `/v1/webhook-deliveries/${one.id}/resend`);
    assert.equal(again.status, 202);
    assert.deepEqual(again.json, { count: 1, warnings: [] });
    assert.equal(api.temporal.said.at(-1), `deliver ${endpoint.id}`);
    const after = await api.ask('GET', `/v1/webhook-deliveries/${one.id}`);
    assert.deepEqual([after.json.status, after.json.eventId], ['pending', one.eventId]);
  });

  test('are sent again by access key, and by period', async () => {
    const { id: companyId } = await api.newCompany();
    const endpoint = await newEndpoint({ companyIds: [companyId] });
    await storeEvents(api, companyId, 2);
    const { rows } = await api.db.query<{ id: string }>('select document_id as id from events where company_id = $1', [
      companyId,
    ]);
    const key = '35261199999999000191550010000099991000099999';
    await newDocument(api.db, { id: rows[0]?.id, company_id: companyId, key });

    const byKey = await api.ask('POST', '/v1/webhook-deliveries/resend', { body: { key } });
    assert.equal(byKey.status, 202);
    assert.equal(byKey.json.count, 1);
    assert.equal(api.temporal.said.at(-1), `deliver ${endpoint.id}`);
    const period = { companyId, from: '2026-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z' };
    const resend = (body: object) => api.ask('POST', '/v1/webhook-deliveries/resend', { body });
    assert.equal((await resend(period)).json.count, 2);
    assert.equal((await resend({ ...period, documentType: 'cte' })).json.count, 0);
    assert.equal((await resend({ key: key.replace(/9$/, '8') })).json.count, 0);
  });

  test('of a deleted endpoint cannot be sent again', async () => {
    const { id: companyId } = await api.newCompany();
    const endpoint = await newEndpoint({ companyIds: [companyId] });
    await storeEvents(api, companyId, 1);
    const [one] = (await api.ask('GET', `/v1/webhook-deliveries?endpointId=${endpoint.id}`)).json.data;
    await api.ask('DELETE', `/v1/webhook-endpoints/${endpoint.id}`);
    const { status, json } = await api.ask('POST', `/v1/webhook-deliveries/${one.id}/resend`);
    assert.equal(status, 409);
    assert.equal(json.code, 'endpoint_deleted');
  });

  test('that were held go out as `enable` decides', async () => {
    for (const [replay, left] of [
      [undefined, 2],
      [{ replay: 'all' }, 2],
      [{ replay: 'none' }, 0],
      [{ replay: { since: '2099-01-01T00:00:00Z' } }, 0],
    ] as const) {
      const { id: companyId } = await api.newCompany();
      const { id } = await newEndpoint({ companyIds: [companyId] });
      await disableEndpoint(api.db, id, 'answered 410', Date.now());
      await storeEvents(api, companyId, 2);
      const held = await api.ask('GET', `/v1/webhook-deliveries?endpointId=${id}&status=held`);
      assert.equal(held.json.data.length, 2);

      const { status, json } = await api.ask('POST', `/v1/webhook-endpoints/${id}/enable`, { body: replay });
      assert.equal(status, 200);
      assert.deepEqual([json.status, json.disabledReason, json.warnings], ['enabled', null, []]);
      assert.equal(api.temporal.said.at(-1), `deliver ${id}`);
      const pending = await api.ask('GET', `/v1/webhook-deliveries?endpointId=${id}&status=pending`);
      assert.equal(pending.json.data.length, left);
    }
  });

  test('wait in the database while Temporal does not answer', async () => {
    const { id: companyId } = await api.newCompany();
    await newEndpoint({ companyIds: [companyId] });
    await storeEvents(api, companyId, 1);
    api.temporal.reachable = false;
    try {
      const body = { companyId, from: '2026-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z' };
      const { status, json } = await api.ask('POST', '/v1/webhook-deliveries/resend', { body });
      assert.equal(status, 202);
      assert.equal(json.count, 1);
      assert.equal(json.warnings[0].code, 'temporal_unreachable');
    } finally {
      api.temporal.reachable = true;
    }
  });
});
