import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { captureDocument } from './fixtures.js';
import { testApi } from './support.js';

const api = await testApi();

describe('the request that an archived answer belongs to', () => {
  test('is given as it was sent, where it is kept', async () => {
    const { id: companyId } = await api.newCompany();
    const { archiveId, objectKey } = await captureDocument(api, companyId);
    const path = `/v1/archives/${archiveId}/request`;
    const none = await api.ask('GET', path);
    assert.equal(none.status, 404);
    assert.equal(none.json.code, 'not_found');

    const request = Buffer.from('<soap12:Envelope/>');
    await api.deps.objectStore.put(`${objectKey}.request`, request);
    await api.db.query('update archives set request_key = $2 where id = $1', [archiveId, `${objectKey}.request`]);
    const { status, bytes, headers } = await api.ask('GET', path);
    assert.equal(status, 200);
    assert.deepEqual(bytes, request);
    assert.match(String(headers['content-type']), /^application\/soap\+xml/);
    assert.match(String(headers['content-disposition']), /^attachment/);
    assert.equal((await api.ask('GET', `/v1/archives/${randomUUID()}/request`)).status, 404);
  });
});

describe('a CT-e capture', () => {
  const path = (id: string) => `/v1/companies/${id}/captures/cte`;

  test('is started, shown, paused and stopped like any other', async () => {
    const { id } = await api.companyWithCertificate();
    const { status, json } = await api.ask('PUT', path(id), { body: {} });
    assert.equal(status, 200);
    assert.deepEqual(
      [json.documentType, json.phase, json.workflowId],
      ['cte', 'querying', `capture/cte/homologation/${id}`],
    );
    assert.equal(api.temporal.said.at(-1), `start cte homologation ${id}`);
    assert.equal((await api.ask('GET', path(id))).status, 200);
    for (const rest of ['/queries', '/gaps']) assert.equal((await api.ask('GET', path(id) + rest)).status, 200);
    assert.equal((await api.ask('POST', `${path(id)}/pause`)).status, 202);
    assert.equal((await api.ask('DELETE', path(id))).status, 202);
    assert.equal((await api.ask('GET', '/v1/captures?documentType=cte')).json.data.length > 0, true);
  });

  test('runs beside NF-e’s, in an environment of its own', async () => {
    const { id } = await api.companyWithCertificate();
    assert.equal((await api.ask('PUT', `/v1/companies/${id}/captures/nfe`, { body: {} })).status, 200);
    assert.equal((await api.ask('PUT', path(id), { body: { environment: 'production' } })).status, 200);
    const { json } = await api.ask('GET', `/v1/companies/${id}/captures`);
    assert.deepEqual(
      json.data.map((capture: { documentType: string; environment: string }) => [
        capture.documentType,
        capture.environment,
      ]),
      [
        ['cte', 'production'],
        ['nfe', 'homologation'],
      ],
    );
  });

  test('takes filters, shows them, and lets go of them', async () => {
    const { id } = await api.companyWithCertificate();
    const filters = { eventTypes: ['110111', '610110'], interestedParties: ['taker', 'receiver'] };
    assert.deepEqual((await api.ask('PUT', path(id), { body: filters })).json.options, filters);
    assert.deepEqual((await api.ask('PUT', path(id), { body: { eventTypes: [] } })).json.options, {
      ...filters,
      eventTypes: [],
    });
    const none = await api.ask('PUT', path(id), { body: { eventTypes: null, interestedParties: null } });
    assert.deepEqual(none.json.options, {});
  });

  const faults: [string, object, string, RegExp][] = [
    ['a type that has no six digits', { eventTypes: ['1101'] }, 'eventTypes.0', /six digits/],
    ['a role that nobody has', { interestedParties: ['carrier'] }, 'interestedParties.0', /taker, sender/],
    ['no role at all', { interestedParties: [] }, 'interestedParties', /at least one/],
    ['an option of NF-e', { autoAwareness: { enabled: true } }, 'autoAwareness', /option of nfe/],
  ];
  for (const [name, body, field, message] of faults) {
    test(`refuses ${name}`, async () => {
      const { id } = await api.companyWithCertificate();
      const { status, json } = await api.ask('PUT', path(id), { body });
      assert.equal(status, 422);
      assert.equal(json.code, 'invalid_input');
      assert.equal(json.errors[0].field, field);
      assert.match(json.errors[0].message, message);
    });
  }

  test('and NF-e refuses its options', async () => {
    const { id } = await api.companyWithCertificate();
    const body = { eventTypes: ['110111'], interestedParties: ['taker'] };
    const { status, json } = await api.ask('PUT', `/v1/companies/${id}/captures/nfe`, { body });
    assert.equal(status, 422);
    assert.deepEqual(
      json.errors.map(({ field }: { field: string }) => field),
      ['eventTypes', 'interestedParties'],
    );
    const nothing = { eventTypes: null, interestedParties: null };
    assert.equal((await api.ask('PUT', `/v1/companies/${id}/captures/nfe`, { body: nothing })).status, 200);
  });
});
