import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openSecret } from '../../src/certificates/seal.js';
import { cnpjCheckDigits } from '../../src/documents/tax-id.js';
import type { CertificateAcceptance } from '../../src/model/certificate-acceptance.js';
import { getCertificate } from '../../src/storage/certificates.js';
import { PASSWORD, pfxFor, testApi } from './support.js';

const api = await testApi();
const pathOf = (id: string) => `/v1/companies/${id}/certificate`;
const base64 = (file: Buffer) => file.toString('base64');

describe('a certificate', () => {
  test('is opened, checked, sealed and shown without its key', async () => {
    const company = await api.newCompany();
    const file = pfxFor(company.taxId);
    const { status, json, text } = await api.ask('PUT', pathOf(company.id), {
      body: { pfx: base64(file), password: PASSWORD },
    });
    assert.equal(status, 200);
    const { accepted, acceptedReason, ...shown } = json;
    assert.deepEqual([accepted, acceptedReason], [null, 'the government was not asked']);
    assert.deepEqual(Object.keys(shown), ['subject', 'taxId', 'notBefore', 'notAfter', 'thumbprint']);
    assert.equal(json.taxId, company.taxId);
    assert.equal(json.notAfter, '2049-12-31T23:59:59.000Z');
    assert.match(json.thumbprint, /^[0-9a-f]{64}$/);
    assert.deepEqual((await api.ask('GET', pathOf(company.id))).json, shown);

    const row = await getCertificate(api.db, company.id);
    assert.ok(row);
    const key = openSecret(api.deps.keyring, row, { purpose: 'certificate-key', owner: row.id }).toString();
    assert.match(key, /^-----BEGIN PRIVATE KEY-----/);
    const stored = JSON.stringify((await api.db.query('select * from certificates')).rows) + text + api.log.join('');
    for (const secret of [key.slice(60, 120), PASSWORD, base64(file).slice(100, 160)])
      assert.ok(!stored.includes(secret));
  });

  test('is shown to the government: what it says is in the answer, and keeps nothing from being stored', async () => {
    const asked: string[] = [];
    const verdicts: CertificateAcceptance[] = [
      { accepted: true, reason: 'let in' },
      { accepted: false, reason: 'refused' },
      { accepted: null, reason: 'HTTP 503' },
    ];
    const checking = await testApi({
      checkCertificate: async ({ keyPem, chainPem, thumbprint }, environment) => {
        assert.match(keyPem, /^-----BEGIN PRIVATE KEY-----/);
        assert.match(chainPem, /^-----BEGIN CERTIFICATE-----/);
        asked.push(`${environment} ${thumbprint.length}`);
        return verdicts[asked.length - 1] ?? { accepted: null, reason: 'more than expected' };
      },
    });
    const company = await checking.newCompany();
    for (const verdict of verdicts) {
      const body = { pfx: base64(pfxFor(company.taxId)), password: PASSWORD };
      const { status, json } = await checking.ask('PUT', pathOf(company.id), { body });
      assert.equal(status, 200);
      assert.deepEqual([json.accepted, json.acceptedReason], [verdict.accepted, verdict.reason]);
      assert.equal((await checking.ask('GET', pathOf(company.id))).json.thumbprint, json.thumbprint);
      if (asked.length === 1) await checking.ask('PUT', `/v1/companies/${company.id}/captures/nfe`, { body: {} });
    }
    assert.deepEqual(asked, ['production 64', 'homologation 64', 'homologation 64']);
  });

  test('replaces the one before, and can be forgotten', async () => {
    const company = await api.companyWithCertificate();
    const first = (await api.ask('GET', pathOf(company.id))).json.thumbprint;
    const body = { pfx: base64(pfxFor(company.taxId)), password: PASSWORD };
    const second = (await api.ask('PUT', pathOf(company.id), { body })).json.thumbprint;
    assert.notEqual(second, first);
    const { rows } = await api.db.query('select thumbprint from certificates where company_id = $1', [company.id]);
    assert.deepEqual(rows, [{ thumbprint: second }]);

    assert.equal((await api.ask('DELETE', pathOf(company.id))).status, 204);
    assert.equal((await api.ask('GET', pathOf(company.id))).status, 404);
    assert.equal((await api.ask('DELETE', pathOf(company.id))).status, 404);
  });

  test('of the head office serves a branch, and wakes the captures of all', async () => {
    const head = await api.companyWithCertificate();
    const taxIdOf = (branch: string) => `${head.root}${branch}${cnpjCheckDigits(head.root + branch)}`;
    const branch = await api.newCompany({ taxId: taxIdOf('0002') });
    const stopped = await api.newCompany({ taxId: taxIdOf('0003') });
    for (const { id } of [head, branch, stopped])
      await api.ask('PUT', `/v1/companies/${id}/captures/nfe`, { body: {} });
    await api.ask('DELETE', `/v1/companies/${stopped.id}/captures/nfe`);
    const before = api.temporal.said.length;
    const body = { pfx: base64(pfxFor(head.taxId)), password: PASSWORD };
    assert.equal((await api.ask('PUT', pathOf(branch.id), { body })).status, 200);
    assert.deepEqual(
      api.temporal.said.slice(before).sort(),
      [head, branch].map(({ id }) => `wake nfe homologation ${id}`).sort(),
    );
  });

  describe('that cannot be used says why', () => {
    test('and nothing of what was sent', async () => {
      const company = await api.newCompany();
      const other = await api.newCompany();
      const good = pfxFor(company.taxId);
      for (const [code, file, password] of [
        ['certificate_password_wrong', good, 'wrong-password-here'],
        ['certificate_unreadable', good.subarray(0, 200), PASSWORD],
        ['certificate_unreadable', Buffer.from('no file at all'), PASSWORD],
        ['certificate_other_company', pfxFor(other.taxId), PASSWORD],
        ['certificate_expired', pfxFor(company.taxId, { notAfter: '20250101000000Z' }), PASSWORD],
        ['certificate_not_yet_valid', pfxFor(company.taxId, { notBefore: '20480101000000Z' }), PASSWORD],
      ] as const) {
        const body = { pfx: base64(Buffer.from(file)), password };
        const { status, json, text } = await api.ask('PUT', pathOf(company.id), { body });
        assert.equal(status, 422, code);
        assert.equal(json.code, code);
        for (const secret of [password, company.taxId, other.taxId]) assert.ok(!text.includes(secret));
      }
      assert.equal((await api.ask('GET', pathOf(company.id))).status, 404);
      const lines = api.log.join('');
      for (const secret of ['wrong-password-here', PASSWORD, company.taxId]) assert.ok(!lines.includes(secret));
    });
  });
});
