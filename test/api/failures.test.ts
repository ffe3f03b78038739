import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { ERROR_CATALOGUE } from '../../src/api/error-catalogue.js';
import type { Database } from '../../src/storage/database.js';
import { DatabaseError } from '../../src/storage/database-error.js';
import { type ObjectStore, ObjectStoreUnavailable } from '../../src/storage/object-store/index.js';
import { captureDocument } from './fixtures.js';
import { newCompanyFields, testApi } from './support.js';

const SECRET = 'row holds 12345678000195';

/** A database whose every statement fails with this error. */
function failing(error: Error): Database {
  return {
    query: () => Promise.reject(error),
    transaction: () => Promise.reject(error),
    stats: () => ({ total: 0, idle: 0, waiting: 0 }),
    close: async () => {},
  };
}

describe('a failure of ours', () => {
  for (const [what, error, status, code] of [
    ['a lost database', new DatabaseError(SECRET, 'ECONNREFUSED'), 503, 'temporarily_unavailable'],
    ['a database that stops', new DatabaseError(SECRET, '57P01'), 503, 'temporarily_unavailable'],
    ['a bug in a statement', new DatabaseError(SECRET, '42601'), 500, 'internal_error'],
    ['any other bug', new TypeError(SECRET), 500, 'internal_error'],
  ] as const) {
    test(`${what}: ${status} that tells nothing`, async () => {
      const api = await testApi({ database: failing(error), clock: { now: async () => Date.now() } });
      const answer = await api.ask('GET', '/v1/companies');
      assert.equal(answer.status, status);
      assert.equal(answer.json.code, code);
      assert.equal(answer.headers['retry-after'], status === 503 ? '5' : undefined);
      assert.ok(!/row holds|PostgreSQL|at .*\.(ts|js)|12345678000195/.test(answer.text), answer.text);
      const line = api.log.find((one) => one.includes(answer.json.requestId) && one.includes('"error"'));
      assert.ok(line, 'the log names the request');
      assert.ok(!line.includes('12345678000195'));
    });
  }

  test('an object store that does not answer: 503', async () => {
    const api = await testApi();
    const { id } = await api.newCompany();
    const captured = await captureDocument(api, id);
    const store: Partial<ObjectStore> = {
      getRange: () => Promise.reject(new ObjectStoreUnavailable('SlowDown', 'read')),
    };
    const broken = await testApi({ database: api.db, objectStore: store as ObjectStore });
    const { status, json } = await broken.ask('GET', `/v1/documents/${captured.id}/xml`);
    assert.equal(status, 503);
    assert.equal(json.code, 'temporarily_unavailable');
  });

  test('lets an Idempotency-Key be used again', async () => {
    const api = await testApi();
    const failOnce = { left: 1 };
    const flaky: Database = {
      ...api.db,
      transaction: (work, options) =>
        failOnce.left-- > 0
          ? Promise.reject(new DatabaseError('gone', 'ECONNRESET'))
          : api.db.transaction(work, options),
    };
    const second = await testApi({ database: flaky });
    const options = { body: newCompanyFields(), headers: { 'idempotency-key': 'once' } };
    assert.equal((await second.ask('POST', '/v1/companies', options)).status, 503);
    assert.equal((await second.ask('POST', '/v1/companies', options)).status, 201);
  });
});

describe('X-Request-Id', async () => {
  const api = await testApi();
  test("is the caller's own when it is harmless, else a new one", async () => {
    for (const [given, kept] of [
      ['order-42.a_B', true],
      ['x'.repeat(64), true],
      ['x'.repeat(65), false],
      ['a b', false],
      ['{"a":1}', false],
    ] as const) {
      const { headers } = await api.ask('GET', '/healthz', { key: null, headers: { 'x-request-id': given } });
      if (kept) assert.equal(headers['x-request-id'], given);
      else assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/);
    }
  });

  test('stands in the log, with the route and without the path', async () => {
    const { taxId } = newCompanyFields();
    await api.ask('GET', `/v1/companies?taxId=${taxId}`, { headers: { 'x-request-id': 'trace-me' } });
    const line = JSON.parse(api.log.find((one) => one.includes('trace-me')) ?? '{}');
    assert.deepEqual(
      [line.requestId, line.method, line.route, line.status, line.actor],
      ['trace-me', 'GET', '/v1/companies', 200, 'key:bootstrap'],
    );
    assert.ok(!JSON.stringify(line).includes(taxId));
  });
});

describe('the error catalogue', () => {
  const sources = readdirSync(new URL('../../src/api/', import.meta.url))
    .filter((file) => file.endsWith('.ts') && file !== 'error-catalogue.ts')
    .map((file) => readFileSync(new URL(`../../src/api/${file}`, import.meta.url), 'utf8'))
    .join('\n');
  const manual = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');

  for (const [code, { status, title, action }] of Object.entries(ERROR_CATALOGUE)) {
    test(`${code} is used, and explained in docs/errors.md`, () => {
      assert.ok(sources.includes(`'${code}'`), 'no code of the API uses it');
      assert.ok(manual.includes(`| \`${code}\` | ${status} | ${title} | ${action} |`), 'docs/errors.md says otherwise');
    });
  }

  test('is all that docs/errors.md explains', () => {
    const explained = [...manual.matchAll(/^\| `(\w+)` \| \d/gm)].map(([, code]) => code);
    assert.deepEqual(explained.toSorted(), Object.keys(ERROR_CATALOGUE).toSorted());
  });
});
