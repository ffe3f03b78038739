import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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
