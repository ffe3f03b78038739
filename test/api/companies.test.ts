import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newCompanyFields, testApi } from './support.js';

const api = await testApi();

describe('companies', () => {
  test('are registered, with punctuation removed from the tax ID', async () => {
    const { taxId } = newCompanyFields();
    const written = `${taxId.slice(0, 2)}.${taxId.slice(2, 5)}.${taxId.slice(5, 8)}/${taxId.slice(8, 12)}-${taxId.slice(12)}`;
    const body = { taxId: written, name: 'Padaria', uf: 'RS', externalId: 'erp-1', tags: ['a', 'a', 'b'] };
    const { status, json, headers } = await api.ask('POST', '/v1/companies', { body });
    assert.equal(status, 201);
    assert.equal(headers.location, `/v1/companies/${json.id}`);
    const { id, createdAt, ...rest } = json;
    assert.deepEqual(rest, {
      taxId,
      taxIdKind: 'cnpj',
      root: taxId.slice(0, 8),
      name: 'Padaria',
      uf: 'RS',
      externalId: 'erp-1',
      tags: ['a', 'b'],
      deletingAt: null,
    });
    assert.deepEqual((await api.ask('GET', `/v1/companies/${id}`)).json, json);
    assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000);
  });

  test('may have letters in their CNPJ, or a CPF', async () => {
    for (const [taxId, kind, root] of [
      ['12ABC34501DE35', 'cnpj', '12ABC345'],
      ['123.456.789-09', 'cpf', '12345678909'],
    ]) {
      const { status, json } = await api.ask('POST', '/v1/companies', { body: { taxId, name: 'X', uf: 'SP' } });
      assert.equal(status, 201, JSON.stringify(json));
      assert.equal(json.taxIdKind, kind);
      assert.equal(json.root, root);
    }
  });

  test('are registered once', async () => {
    const body = newCompanyFields();
    await api.ask('POST', '/v1/companies', { body });
    const { status, json, headers } = await api.ask('POST', '/v1/companies', { body });
    assert.equal(status, 409);
    assert.match(String(headers['content-type']), /^application\/problem\+json/);
    assert.equal(json.code, 'company_exists');
    assert.equal(json.requestId, headers['x-request-id']);
    assert.ok(!JSON.stringify(json).includes(body.taxId));
  });

  test('change only what is given', async () => {
    const { id } = await api.newCompany({ externalId: 'before', tags: ['x'] });
    const { status, json } = await api.ask('PATCH', `/v1/companies/${id}`, {
      body: { name: 'Outro', externalId: null },
    });
    assert.equal(status, 200);
    assert.equal(json.name, 'Outro');
    assert.equal(json.externalId, null);
    assert.deepEqual(json.tags, ['x']);
  });

  test('are found by tax ID, root, external id and tag', async () => {
    const company = await api.newCompany({ externalId: 'find-me', tags: ['grupo-7'] });
    const written = company.taxId.replace(/(..)(...)(...)(....)(..)/, '$1.$2.$3/$4-$5');
    for (const filter of [`taxId=${written}`, `root=${company.root}`, 'externalId=find-me', 'tag=grupo-7']) {
      const { json } = await api.ask('GET', `/v1/companies?${filter}`);
      assert.deepEqual(
        json.data.map(({ id }: { id: string }) => id),
        [company.id],
        filter,
      );
    }
  });

  test('are listed in pages that neither skip nor repeat, while others are added', async () => {
    for (let i = 0; i < 5; i++) await api.newCompany({ tags: ['paged'] });
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const path: string = `/v1/companies?tag=paged&limit=2${cursor === null ? '' : `&cursor=${cursor}`}`;
      const { json } = await api.ask('GET', path);
      seen.push(...json.data.map(({ id }: { id: string }) => id));
      cursor = json.nextCursor;
      await api.newCompany({ tags: ['paged'] });
    } while (cursor !== null);
    assert.equal(seen.length, 5);
    assert.equal(new Set(seen).size, 5);
  });

  test('leave an audit trail without personal data', async () => {
    const company = await api.newCompany();
    await api.ask('PATCH', `/v1/companies/${company.id}`, { body: { name: 'Segredo Ltda' } });
    const { rows } = await api.db.query<{ actor: string; action: string; detail: unknown }>(
      'select actor, action, detail from audit where target = $1 order by id',
      [company.id],
    );
    assert.deepEqual(rows, [
      { actor: 'key:bootstrap', action: 'company.create', detail: {} },
      { actor: 'key:bootstrap', action: 'company.update', detail: { changed: ['name'] } },
    ]);
  });
});
