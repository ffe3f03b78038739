import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkHolder } from '../../src/certificates/check.js';
import { CertificateProblem } from '../../src/certificates/problem.js';

const NOT_BEFORE = Date.UTC(2026, 0, 1);
const NOT_AFTER = Date.UTC(2027, 0, 1);
const DURING = Date.UTC(2026, 5, 1);

function check(taxId: string, companyTaxId: string, now = DURING): string {
  try {
    checkHolder({ taxId, notBefore: NOT_BEFORE, notAfter: NOT_AFTER }, companyTaxId, now);
    return 'good';
  } catch (error) {
    assert.ok(error instanceof CertificateProblem);
    assert.ok(!error.message.includes(taxId), 'a full tax ID in a message');
    return error.code;
  }
}

test('a root’s certificate serves every branch', () => {
  assert.equal(check('98765432000198', '98765432000198'), 'good');
  assert.equal(check('98765432000198', '98765432000279'), 'good');
  assert.equal(check('98765432000279', '98765432000198'), 'good');
  assert.equal(check('98765432000198', '11222333000181'), 'certificate_other_company');
});

test('letters and leading zeros count (C18, C49)', () => {
  assert.equal(check('12ABC34501DE35', '12ABC34500AB10'), 'good');
  assert.equal(check('12ABC34501DE35', '12ABD34501DE35'), 'certificate_other_company');
  assert.equal(check('01234567000195', '01234567000276'), 'good');
});

test('a CPF must be equal, and never stands for a company', () => {
  assert.equal(check('52998224725', '52998224725'), 'good');
  assert.equal(check('52998224725', '11144477735'), 'certificate_other_company');
  assert.equal(check('52998224725', '52998224000191'), 'certificate_other_company');
  assert.equal(check('52998224000191', '52998224725'), 'certificate_other_company');
});

test('both ends of the validity are inside', () => {
  assert.equal(check('98765432000198', '98765432000198', NOT_BEFORE - 1), 'certificate_not_yet_valid');
  assert.equal(check('98765432000198', '98765432000198', NOT_BEFORE), 'good');
  assert.equal(check('98765432000198', '98765432000198', NOT_AFTER), 'good');
  assert.equal(check('98765432000198', '98765432000198', NOT_AFTER + 1), 'certificate_expired');
});

test('another company’s expired certificate is first of all another company’s', () => {
  assert.equal(check('11222333000181', '98765432000198', NOT_AFTER + 1), 'certificate_other_company');
});
