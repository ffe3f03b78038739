import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import {
  type CertificateRow,
  deleteCertificate,
  getCertificate,
  listExpiringCertificates,
  storeCertificate,
  usableCertificate,
} from '../../src/storage/certificates.js';
import {
  createCompany,
  findCompanyByTaxId,
  getCompany,
  listCompanies,
  patchCompany,
  taxIdEnding,
  taxIdRoot,
} from '../../src/storage/companies.js';
import { newCompany, openDatabase } from './support.js';

const { db } = await openDatabase();
const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 30, 12);

describe('companies', () => {
  test('a CNPJ with letters keeps them; its root is its first 8 characters, that of a CPF the whole', async () => {
    const company = await newCompany(db, { taxId: '12ABC34501DE35' });
    assert.equal(company.root, '12ABC345');
    assert.equal(taxIdRoot('12345678909'), '12345678909');
    assert.equal(taxIdEnding('12ABC34501DE35'), 'DE35');
    assert.deepEqual(await getCompany(db, company.id), company);
    assert.deepEqual(await findCompanyByTaxId(db, '12ABC34501DE35'), company);
    assert.equal(await findCompanyByTaxId(db, '12ABC34501DE36'), null);
    assert.ok(Math.abs(company.createdAt - Date.now()) < 60_000);
  });

  test('the same tax ID twice is an answer, also at the same moment and inside a transaction that goes on', async () => {
    const taxId = '98765432000198';
    const make = () => createCompany(db, { id: randomUUID(), taxId, name: 'x', uf: 'SP' });
    const answers = await Promise.all([make(), make(), make()]);
    assert.equal(answers.filter(({ ok }) => ok).length, 1);
    await db.transaction(async (tx) => {
      assert.deepEqual(await createCompany(tx, { id: randomUUID(), taxId, name: 'x', uf: 'SP' }), {
        ok: false,
        problem: 'company_exists',
      });
      assert.ok(await findCompanyByTaxId(tx, taxId));
    });
  });

  test('a patch changes what it names, and null forgets an external id', async () => {
    const { id } = await newCompany(db, { tags: ['a'] });
    let company = await patchCompany(db, id, { externalId: 'erp-7', tags: ['b', 'c'] });
    assert.deepEqual([company?.externalId, company?.tags, company?.uf], ['erp-7', ['b', 'c'], 'SP']);
    company = await patchCompany(db, id, { name: 'Novo', uf: 'AC' });
    assert.deepEqual(
      [company?.name, company?.uf, company?.externalId, company?.tags],
      ['Novo', 'AC', 'erp-7', ['b', 'c']],
    );
    company = await patchCompany(db, id, { externalId: null });
    assert.equal(company?.externalId, null);
    assert.equal(await patchCompany(db, randomUUID(), { name: 'x' }), null);
  });

  test('every filter, and pages that neither repeat nor skip while companies are added', async () => {
    await db.query('delete from companies');
    const made: string[] = [];
    for (let i = 0; i < 9; i += 1) {
      const { id } = await newCompany(db, {
        taxId: `5555555${i % 3}00${i}1${i}0`,
        tags: i % 2 ? ['odd', 'all'] : ['all'],
      });
      made.push(id);
    }
    await patchCompany(db, made[4] ?? '', { externalId: 'erp-4' });
    // Several at one instant: the id decides.
    await db.query("update companies set created_at = '2026-11-30' where external_id is null");
    const ids = async (filter: Parameters<typeof listCompanies>[1]) =>
      (await listCompanies(db, filter, { limit: 50 })).rows.map(({ id }) => id);
    assert.deepEqual(await ids({ taxId: '55555551004140' }), [made[4]]);
    assert.deepEqual((await ids({ root: '55555552' })).sort(), [made[2], made[5], made[8]].sort());
    assert.deepEqual(await ids({ externalId: 'erp-4' }), [made[4]]);
    assert.equal((await ids({ tag: 'odd' })).length, 4);
    assert.equal((await ids({ tag: 'all', root: '55555550' })).length, 3);
    assert.deepEqual(await ids({ visible: [made[4] ?? ''] }), [made[4]]);
    assert.deepEqual(await ids({ visible: [] }), []);

    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof listCompanies>> = await listCompanies(db, {}, { limit: 2, cursor });
      seen.push(...page.rows.map(({ id }) => id));
      cursor = page.nextCursor;
      await newCompany(db);
    } while (cursor !== null);
    assert.deepEqual(seen.sort(), made.sort());
  });
});

describe('certificates', () => {
  const certificate = (companyId: string, root: string, from: number, to: number): CertificateRow => ({
    id: randomUUID(),
    companyId,
    root,
    taxId: `${root}000100`,
    subject: 'CN=Teste',
    thumbprint: 'ab'.repeat(32),
    notBefore: NOW + from * DAY,
    notAfter: NOW + to * DAY,
    chain: 'PEM',
    keyId: 'k1',
    wrappedKey: Buffer.from([1, 2]),
    sealed: Buffer.from([0, 255]),
    createdAt: NOW,
  });
  const store = (row: CertificateRow) => db.transaction((tx) => storeCertificate(tx, row));

  test('storing replaces: the old private key is gone', async () => {
    const { id, root } = await newCompany(db, { taxId: '11111111000101' });
    await store(certificate(id, root, -10, 300));
    const next = certificate(id, root, -1, 200);
    await store(next);
    assert.deepEqual(await getCertificate(db, id), next);
    assert.equal((await db.query('select from certificates where company_id = $1', [id])).rowCount, 1);
    await Promise.all([1, 2, 3].map(() => store(certificate(id, root, -1, 100))));
    assert.equal((await db.query('select from certificates where company_id = $1', [id])).rowCount, 1);
    assert.equal(await deleteCertificate(db, id), true);
    assert.equal(await deleteCertificate(db, id), false);
    assert.equal(await getCertificate(db, id), null);
  });

  test("a company's own comes first, then its root's that is valid longest; letters in a root are no trouble", async () => {
    const root = '22ABC222';
    const companies = [];
    for (let i = 1; i <= 4; i += 1) companies.push(await newCompany(db, { taxId: `${root}000${i}0${i}` }));
    const [a, b, c, branch] = companies;
    assert.ok(a && b && c && branch);
    const usable = () => usableCertificate(db, branch, NOW);
    assert.deepEqual(await usable(), { ok: false, problem: 'missing', until: null });
    await store(certificate(a.id, root, -300, -1));
    assert.deepEqual(await usable(), { ok: false, problem: 'expired', until: null });
    await store(certificate(b.id, root, 5, 300));
    assert.deepEqual(await usable(), { ok: false, problem: 'not_yet_valid', until: NOW + 5 * DAY });
    const ofA = certificate(a.id, root, -1, 100);
    const ofC = certificate(c.id, root, -1, 200);
    await store(ofA);
    await store(ofC);
    assert.deepEqual(await usable(), { ok: true, certificate: ofC });
    const own = certificate(branch.id, root, -1, 50);
    await store(own);
    assert.deepEqual(await usable(), { ok: true, certificate: own });
    await store(certificate(branch.id, root, -100, -1));
    assert.deepEqual(await usable(), { ok: true, certificate: ofC }, "an expired own one gives way to the root's");
  });

  test('is valid from its first instant and no longer at its last', async () => {
    const company = await newCompany(db, { taxId: '33333333000101' });
    await store(certificate(company.id, company.root, 0, 1));
    const problemAt = async (now: number) => {
      const answer = await usableCertificate(db, company, now);
      return answer.ok ? 'none' : answer.problem;
    };
    assert.equal(await problemAt(NOW - 1), 'not_yet_valid');
    assert.equal(await problemAt(NOW), 'none');
    assert.equal(await problemAt(NOW + DAY - 1), 'none');
    assert.equal(await problemAt(NOW + DAY), 'expired');
  });

  test('those that end soon are listed, the first to end first, page by page', async () => {
    await db.query('delete from certificates');
    const ends = [9, 3, 60, 3, 29];
    for (const [i, end] of ends.entries()) {
      const company = await newCompany(db, { taxId: `4444444${i}000101` });
      await store(certificate(company.id, company.root, -1, end));
    }
    const seen: number[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof listExpiringCertificates>> = await listExpiringCertificates(
        db,
        NOW + 30 * DAY,
        { limit: 1, cursor },
      );
      seen.push(...page.rows.map(({ notAfter }) => (notAfter - NOW) / DAY));
      cursor = page.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(seen, [3, 3, 9, 29]);
  });
});
