import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PASSWORD, pfxFor, testApi } from './support.js';

const api = await testApi();
const DAY = 86_400_000;

async function remove(company: { id: string; taxId: string }, body?: unknown, key?: string) {
  const path = `/v1/companies/${company.id}?confirm=${company.taxId.slice(-4)}`;
  return api.ask('DELETE', path, { ...(body === undefined ? {} : { body }), ...(key === undefined ? {} : { key }) });
}

describe('DELETE /v1/companies/{id}', () => {
  test('stops the captures, has seven days of grace, and shows how far it is', async () => {
    const company = await api.companyWithCertificate();
    await api.ask('PUT', `/v1/companies/${company.id}/captures/nfe`, { body: {} });
    api.temporal.said.length = 0;
    const { status, json } = await remove(company);
    assert.equal(status, 202, JSON.stringify(json));
    assert.equal(json.status, 'waiting');
    assert.equal(Date.parse(json.dueAt) - Date.parse(json.requestedAt), 7 * DAY);
    assert.deepEqual(api.temporal.said, [`stop nfe homologation ${company.id}`, `erase ${company.id}`]);
    const { warnings, ...deletion } = json;
    assert.deepEqual(warnings, []);
    assert.deepEqual((await api.ask('GET', `/v1/companies/${company.id}/deletion`)).json, deletion);
    assert.notEqual((await api.ask('GET', `/v1/companies/${company.id}`)).json.deletingAt, null);
    assert.equal((await api.ask('GET', `/v1/companies/${company.id}/captures/nfe`)).json.phase, 'stopped');

    for (const [method, path, body] of [
      ['PUT', 'captures/nfe', {}],
      ['PUT', 'certificate', { pfx: pfxFor(company.taxId).toString('base64'), password: PASSWORD }],
    ] as const) {
      const refused = await api.ask(method, `/v1/companies/${company.id}/${path}`, { body });
      assert.deepEqual([refused.status, refused.json.code], [409, 'company_being_deleted'], path);
    }
  });

  test('is taken back by a restore, until it has begun', async () => {
    const company = await api.newCompany();
    const path = `/v1/companies/${company.id}`;
    assert.equal((await api.ask('POST', `${path}/restore`)).status, 404);
    await remove(company);
    assert.equal((await api.ask('POST', `${path}/restore`)).status, 204);
    assert.equal((await api.ask('GET', path)).json.deletingAt, null);
    assert.equal((await api.ask('GET', `${path}/deletion`)).status, 404);

    await remove(company);
    const hurried = await remove(company, { immediately: true });
    assert.ok(Date.parse(hurried.json.dueAt) <= Date.now() + 60_000);
    await api.db.query("update erasures set status = 'erasing' where company_id = $1", [company.id]);
    const late = await api.ask('POST', `${path}/restore`);
    assert.deepEqual([late.status, late.json.code], [409, 'deletion_begun']);
  });

  test('wants the right ending of the tax ID, the scope admin, and a company that is there', async () => {
    const company = await api.newCompany();
    const wrong = await api.ask('DELETE', `/v1/companies/${company.id}?confirm=0000`);
    assert.deepEqual([wrong.status, wrong.json.errors[0].field], [422, 'confirm']);
    assert.ok(!JSON.stringify(wrong.json).includes(company.taxId));
    assert.equal((await api.ask('DELETE', `/v1/companies/${company.id}`)).status, 422);
    const manager = await api.newKey(['manage']);
    assert.equal((await remove(company, undefined, manager)).status, 403);
    const foreign = await api.newKey(['admin'], [(await api.newCompany()).id]);
    assert.equal((await remove(company, undefined, foreign)).status, 404);
    assert.equal((await remove({ ...company, id: crypto.randomUUID() })).status, 404);
    assert.equal((await api.ask('GET', `/v1/companies/${company.id}`)).json.deletingAt, null);
  });

  test('without Temporal it is written down, and says so; what is deleted stays visible and may be asked for again', async () => {
    const company = await api.newCompany();
    api.temporal.reachable = false;
    const { status, json } = await remove(company, { immediately: true });
    api.temporal.reachable = true;
    assert.equal(status, 202);
    assert.equal(json.warnings[0].code, 'temporal_unreachable');
    await api.db.query('delete from companies where id = $1', [company.id]);
    await api.db.query("update erasures set status = 'done', finished_at = now() where company_id = $1", [company.id]);
    assert.equal((await api.ask('GET', `/v1/companies/${company.id}/deletion`)).json.status, 'done');
    assert.equal((await remove(company)).json.status, 'done');
  });
});
