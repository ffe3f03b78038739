import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nfseKey } from '../documents/nfse-samples.js';
import { captureDocument } from './fixtures.js';
import { testApi } from './support.js';

const api = await testApi();
const path = (id: string) => `/v1/companies/${id}/captures/nfse`;

describe('an NFS-e capture', () => {
  test('is started, shown, paused and stopped like any other', async () => {
    const { id } = await api.companyWithCertificate();
    const { status, json } = await api.ask('PUT', path(id), {
      body: { captureIssued: true, cutoffDate: '2026-01-01' },
    });
    assert.equal(status, 200);
    assert.deepEqual(
      [json.documentType, json.phase, json.workflowId],
      ['nfse', 'querying', `capture/nfse/homologation/${id}`],
    );
    assert.deepEqual([json.options.captureIssued, json.options.cutoffDate], [true, '2026-01-01']);
    for (const rest of ['', '/queries', '/gaps']) assert.equal((await api.ask('GET', path(id) + rest)).status, 200);
    assert.equal((await api.ask('POST', `${path(id)}/pause`)).status, 202);
    assert.equal((await api.ask('DELETE', path(id))).status, 202);
  });

  test('takes its own options only, in their form', async () => {
    const { id } = await api.companyWithCertificate();
    for (const [documentType, body] of [
      ['nfse', { cutoffDate: '01/01/2026' }],
      ['nfse', { cutoffDate: '2026-02-30' }],
      ['nfse', { captureIssued: 'yes' }],
      ['nfse', { eventTypes: [] }],
      ['nfe', { captureIssued: true }],
      ['cte', { cutoffDate: '2026-01-01' }],
    ] as const) {
      const { status, json } = await api.ask('PUT', `/v1/companies/${id}/captures/${documentType}`, { body });
      assert.deepEqual([status, json.errors[0].field], [422, Object.keys(body)[0]], JSON.stringify(body));
    }
    assert.equal((await api.ask('PUT', path(id), { body: { cutoffDate: null } })).status, 200);
  });
});

test('what was kept back is in no list until its history is released', async () => {
  const { id } = await api.companyWithCertificate();
  assert.equal((await api.ask('POST', `${path(id)}/release-history`)).status, 404);
  await api.ask('PUT', path(id), { body: {} });
  const document = await captureDocument(api, id);
  const set = (suppressed: string) =>
    api.db.query("update documents set document_type = 'nfse', suppressed = $2 where id = $1", [
      document.id,
      suppressed,
    ]);
  const listed = async () => (await api.ask('GET', `/v1/documents?companyId=${id}`)).json.data.length;
  await set('issued_not_captured: …');
  assert.deepEqual([await listed(), (await api.ask('POST', `${path(id)}/release-history`)).json], [0, { count: 0 }]);
  await set('before_cutoff: …');
  assert.equal(await listed(), 0);
  const released = await api.ask('POST', `${path(id)}/release-history`);
  assert.deepEqual([released.status, released.json], [202, { count: 1 }]);
  assert.deepEqual((await api.ask('POST', `${path(id)}/release-history`)).json, { count: 0 }, 'once');
  await set('role_not_selected: …');
  assert.equal(await listed(), 1);
});

describe('capture on demand', () => {
  const KEY = nfseKey(10);

  test('the document in the answer; the question is said to Temporal', async () => {
    const { id } = await api.companyWithCertificate();
    const route = (key: string) => `/v1/companies/${id}/nfse/${key}/capture`;
    assert.equal((await api.ask('POST', route(KEY))).status, 404, 'no capture was started');
    await api.ask('PUT', path(id), { body: {} });
    const document = await captureDocument(api, id);
    api.temporal.onDemand = { kind: 'document', documentId: document.id };
    const { status, json } = await api.ask('POST', route(KEY));
    assert.deepEqual([status, json.id, json.companyId], [200, document.id, id]);
    assert.equal(api.temporal.said.at(-1), `on demand nfse homologation ${id}`);

    const wrong = `${KEY.slice(0, 49)}${(Number(KEY.slice(49)) + 1) % 10}`;
    for (const key of [wrong, '1'.repeat(44), 'x']) {
      const refused = await api.ask('POST', route(key));
      assert.deepEqual([refused.status, refused.json.errors[0].field], [422, 'key'], key);
    }
    await api.ask('DELETE', path(id));
    assert.equal((await api.ask('POST', route(KEY))).json.code, 'capture_stopped');
  });

  test('every other ending has its answer', async () => {
    const { id } = await api.companyWithCertificate();
    await api.ask('PUT', path(id), { body: {} });
    for (const [result, status, code] of [
      [{ kind: 'none', statusCode: 'E2240' }, 404, 'not_found'],
      [{ kind: 'failed', outcome: 'unreadable', statusCode: 'HTTP 502' }, 503, 'temporarily_unavailable'],
      [{ kind: 'refused', refusal: { reason: 'blocked', until: Date.now() + 60_000 } }, 503, 'temporarily_unavailable'],
      [{ kind: 'refused', refusal: { reason: 'disabled' } }, 409, 'capture_stopped'],
      [
        { kind: 'refused', refusal: { reason: 'certificate', problem: 'expired', until: null } },
        422,
        'certificate_expired',
      ],
    ] as const) {
      api.temporal.onDemand = result;
      const answer = await api.ask('POST', `/v1/companies/${id}/nfse/${KEY}/capture`);
      assert.deepEqual([answer.status, answer.json.code], [status, code]);
      if (status === 503) assert.ok(Number(answer.headers['retry-after']) >= 1);
    }
    api.temporal.reachable = false;
    const answer = await api.ask('POST', `/v1/companies/${id}/nfse/${KEY}/capture`);
    api.temporal.reachable = true;
    assert.equal(answer.json.code, 'temporarily_unavailable');
  });
});
