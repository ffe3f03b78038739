import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { BOOTSTRAP_KEY, testApi } from '../api/support.js';
import { cteKey } from '../documents/cte-samples.js';
import { nfseKey } from '../documents/nfse-samples.js';
import { key } from '../documents/samples.js';
import { folder, malote } from './support.js';

const api = await testApi();
const apiUrl = await api.app.listen({ host: '127.0.0.1', port: 0 });
const env = { MALOTE_API_URL: apiUrl, MALOTE_API_KEY: BOOTSTRAP_KEY };
const company = await api.companyWithCertificate();
await api.ask('PUT', `/v1/companies/${company.id}/captures/nfe`, { body: {} });

const run = (...args: string[]) => malote(['manifest', ...args], { env });

describe('malote manifest', () => {
  test('request, list, show', async () => {
    const made = await run('request', company.taxId, key(1), key(2), '--type', '210200');
    assert.equal(made.code, 0, made.err);
    assert.match(made.out, new RegExp(`${key(1)} +210200 +pending +–`));
    const again = await run('request', company.taxId, key(1), '--type', '210200', '--json');
    const { manifestation } = JSON.parse(again.out);
    const list = await run('list', '--company', company.taxId, '--status', 'pending', '--json');
    const rows = list.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(rows.map((row) => row.key).sort(), [key(1), key(2)].sort());
    assert.ok(rows.some(({ id }) => id === manifestation.id));
    const shown = await run('show', manifestation.id);
    assert.match(shown.out, /event +210200 Confirmacao da Operacao, number 1/);
    assert.match(shown.out, /status +pending/);
  });

  test('a reason, and fields from a file', async () => {
    const reason = await run(
      'request',
      company.taxId,
      key(3),
      '--type',
      '210240',
      '--justification',
      'Mercadoria recusada',
    );
    assert.equal(reason.code, 0, reason.err);
    const file = join(folder, 'fields.json');
    writeFileSync(file, JSON.stringify({ indAceitacao: '1' }));
    assert.equal((await run('request', company.taxId, key(3), '--type', '211128', '--fields', file)).code, 0);
    writeFileSync(file, '{');
    const broken = await run('request', company.taxId, key(3), '--type', '211128', '--fields', file);
    assert.equal(broken.code, 2);
    assert.match(broken.err, /fields\.json cannot be read as JSON/);
  });

  test('a disagreement with a CT-e', async () => {
    await api.ask('PUT', `/v1/companies/${company.id}/captures/cte`, { body: {} });
    const obs = 'Frete cobrado acima do combinado';
    const made = await run('request', company.taxId, cteKey(1), '--type', '610110', '--justification', obs);
    assert.equal(made.code, 0, made.err);
    assert.match(made.out, new RegExp(`${cteKey(1)} +610110 +pending`));
  });

  test('a statement about an NFS-e, once it is confirmed', async () => {
    await api.ask('PUT', `/v1/companies/${company.id}/captures/nfse`, { body: {} });
    const ask = ['request', company.taxId, nfseKey(1), '--type', '203206', '--reason-code', '3'];
    const hasty = await run(...ask);
    assert.equal(hasty.code, 1);
    assert.match(hasty.err, /confirm must be true/);
    const made = await run(...ask, '--confirm', '--json');
    assert.equal(made.code, 0, made.err);
    const shown = await run('show', JSON.parse(made.out).manifestation.id);
    assert.match(shown.out, /reason +3/);
  });

  test('says of each key why it was not taken, and fails', async () => {
    const answer = await run('request', company.taxId, key(4), '123', '--type', '210240');
    assert.equal(answer.code, 1);
    assert.match(answer.err, /123: key Access key has 3 characters: expected 44; justification is missing/);
    assert.match(answer.err, /2 of 2 requests were not taken/);
  });

  test('help names the types', async () => {
    const { out } = await run('request', '--help');
    assert.match(out, /210210 {2}Ciencia da Operacao/);
    assert.match(out, /212120 {2}Manifestação sobre Pedido/);
    assert.match(out, /610110 {2}Prestacao do Servico em Desacordo/);
  });
});
