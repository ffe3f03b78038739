import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openAlert } from '../../src/storage/alerts.js';
import { recordUsage } from '../../src/storage/usage.js';
import { storeEvents } from '../api/fixtures.js';
import { BOOTSTRAP_KEY, newCompanyFields, testApi } from '../api/support.js';
import { commandLine, folder } from './support.js';

const api = await testApi();
const apiUrl = await api.app.listen({ host: '127.0.0.1', port: 0 });
const { run, json } = commandLine({ MALOTE_API_URL: apiUrl, MALOTE_API_KEY: BOOTSTRAP_KEY });

describe('alert list', () => {
  test('open ones with what to do, once for each kind; closed ones apart', async () => {
    assert.match((await run('alert', 'list')).err, /No alert is open/);
    const company = await api.newCompany();
    const ofCompany = { companyId: company.id, documentType: 'nfe', environment: 'homologation', subject: '' } as const;
    await openAlert(api.db, { code: 'capture_attention', ...ofCompany }, 'Ten calls failed', Date.now(), 'critical');
    await openAlert(api.db, { code: 'other_consumer', ...ofCompany }, 'Another program asks', Date.now());
    const listed = await run('alert', 'list', '--company', company.taxId);
    assert.equal(listed.code, 0, listed.err);
    assert.match(listed.out, /^SEVERITY +CODE +COMPANY +TYPE +OPENED +WHAT\n/);
    assert.match(listed.out, /critical +capture_attention +Empresa de Teste \d+ +nfe +\d{4}-.* Ten calls failed\n/);
    assert.match(listed.err, /^capture_attention: find the reason.*$/m);
    await api.db.query(`update alerts set closed_at = now() where code = 'capture_attention'`);
    const codes = async (...words: string[]) =>
      (await json('alert', 'list', ...words)).map(({ code }: { code: string }) => code);
    assert.deepEqual(await codes(), ['other_consumer']);
    assert.deepEqual(await codes('--closed'), ['capture_attention']);
    assert.deepEqual(await codes('--all', '--code', 'capture_attention'), ['capture_attention']);
    assert.equal((await run('alert', 'list', '--all', '--closed')).code, 2);
  });
});

test('usage by company and type; a company that was deleted keeps its id', async () => {
  const company = await api.newCompany();
  const gone = randomUUID();
  const record = (companyId: string) =>
    ({ documentId: randomUUID(), companyId, documentType: 'nfe', kind: 'procNFe' }) as const;
  await recordUsage(api.db, [record(company.id), record(company.id), record(gone)], Date.UTC(2026, 10, 15));
  const shown = await run('usage', '--month', '2026-11');
  assert.equal(shown.code, 0, shown.err);
  assert.match(shown.out, /Empresa de Teste \d+ +nfe +2 +procNFe 2\n/);
  assert.match(shown.out, new RegExp(`${gone} +nfe +1 +procNFe 1\n`));
  const [row, ...others] = await json('usage', '--month', '2026-11', '--company', company.taxId);
  assert.deepEqual([row.documents, others], [2, []]);
  const wrong = await run('usage', '--month', '2026-13');
  assert.deepEqual([wrong.code, /Expected a month such as/.test(wrong.err)], [2, true]);
});

test('api-key add, list, revoke', async () => {
  const company = await api.newCompany();
  const added = await run('api-key', 'add', 'accounting', '--scope', 'read', '--company', company.taxId);
  assert.equal(added.code, 0, added.err);
  const key = /key, shown only now +(mlt_\S+)/.exec(added.out)?.[1] ?? '';
  const as = commandLine({ MALOTE_API_URL: apiUrl, MALOTE_API_KEY: key });
  assert.deepEqual(
    (await as.json('company', 'list')).map(({ id }: { id: string }) => id),
    [company.id],
  );
  const refused = await as.run('api-key', 'list');
  assert.deepEqual([refused.code, /use a key with that scope/.test(refused.err)], [1, true]);
  const [listed] = await json('api-key', 'list');
  assert.deepEqual([listed.name, listed.scopes, listed.companyIds], ['accounting', ['read'], [company.id]]);
  assert.ok(!('key' in listed));
  const itself = await run('api-key', 'revoke', key);
  assert.deepEqual([itself.code, itself.err.includes(key)], [2, false]);
  assert.deepEqual(await json('api-key', 'revoke', listed.id), [{ id: listed.id, revoked: true }]);
  assert.equal((await as.run('company', 'list')).code, 1);
  assert.equal((await run('api-key', 'add', 'x', '--scope', 'root')).code, 2);
  assert.equal((await run('api-key', 'add', 'x')).code, 2);
});

describe('companies', () => {
  test('update changes what is given; events shows what webhooks would tell', async () => {
    const { id, taxId } = await api.newCompany({ tags: ['old'], externalId: 'erp-1' });
    const [changed] = await json('company', 'update', taxId, '--name', 'Novo', '--tag', 'a', '--tag', 'b');
    assert.deepEqual([changed.name, changed.tags, changed.externalId], ['Novo', ['a', 'b'], 'erp-1']);
    const [bare] = await json('company', 'update', id, '--no-tag', '--no-external-id');
    assert.deepEqual([bare.name, bare.tags, bare.externalId], ['Novo', [], null]);
    const nothing = await run('company', 'update', id);
    assert.deepEqual([nothing.code, /nothing to change/.test(nothing.err)], [2, true]);
    assert.equal((await run('company', 'update', id, '--uf', 'xx')).code, 2);

    await storeEvents(api, id, 3);
    assert.match((await run('company', 'events', id)).out, /^SEQUENCE +CREATED +TYPE +ACTION +ID\n +1 /);
    const after = await json('company', 'events', id, '--after', '1', '--limit', '1');
    assert.deepEqual(
      after.map(({ sequence }: { sequence: number }) => sequence),
      [2],
    );
  });

  test('import takes a table as spreadsheets save it, and may be repeated', async () => {
    const [one, two] = [newCompanyFields(), newCompanyFields()];
    const file = join(folder, 'companies.csv');
    const rows = `${one.taxId};"Um; ""Dois""";sp;e-1;a|b\r\n;;;;\r\n123;X;SP;;\r\n${two.taxId};Três;RJ;;`;
    writeFileSync(file, `\uFEFFtaxId;name;uf;externalId;tags\r\n${rows}`);
    const first = await run('company', 'import', file);
    assert.equal(first.code, 1, 'a script must notice');
    assert.match(first.out, /^2 added, 0 there already, 1 refused\nLINE +TAX ID +WHY\n +4 +123 +taxId: Tax ID has 3/);
    const [found] = await json('company', 'list', '--tax-id', one.taxId);
    assert.deepEqual([found.name, found.uf, found.externalId, found.tags], ['Um; "Dois"', 'SP', 'e-1', ['a', 'b']]);
    const again = await run('company', 'import', file, '--json');
    const results = again.out.split('\n').filter(Boolean);
    assert.deepEqual(
      results.map((line) => JSON.parse(line)).map(({ line, result }) => [line, result]),
      [
        [2, 'already_there'],
        [4, 'refused'],
        [5, 'already_there'],
      ],
    );
  });

  for (const [what, text, message] of [
    ['a column that there is not', 'taxId,name,uf,cnpj\n', /there is no column "cnpj"/],
    ['a missing column', 'taxId,name\n', /the column "uf" is missing/],
    ['a short line', 'taxId,name,uf\n1,X\n', /line 2: 2 values under 3 titles/],
    ['another encoding', Buffer.from('taxId,name,uf\n1,Pão,SP\n', 'latin1'), /is not UTF-8/],
  ] as const) {
    test(`import refuses ${what} before anything is registered`, async () => {
      const file = join(folder, 'wrong.csv');
      writeFileSync(file, text);
      const { code, out, err } = await run('company', 'import', file);
      assert.deepEqual([code, out], [2, '']);
      assert.match(err, message);
    });
  }
});
