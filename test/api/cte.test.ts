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
