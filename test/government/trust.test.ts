import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { ICP_BRASIL_ROOTS } from '../../src/government/icp-brasil-roots.js';
import { governmentRoots, InvalidCaFile } from '../../src/government/trust.js';

describe('the bundled roots', () => {
  for (const root of ICP_BRASIL_ROOTS) {
    test(`${root.name}: self-signed authority, named and fingerprinted as it is`, () => {
      const certificate = new X509Certificate(root.pem);
      assert.equal(createHash('sha256').update(certificate.raw).digest('hex'), root.sha256);
      assert.ok(certificate.subject.includes(`CN=${root.name}`));
      assert.ok(certificate.subject.includes('O=ICP-Brasil'));
      assert.equal(certificate.issuer, certificate.subject);
      assert.ok(certificate.verify(certificate.publicKey), 'its own signature');
      assert.ok(certificate.ca);
      assert.ok(Date.parse(certificate.validFrom) < Date.UTC(2020, 0, 1));
      assert.ok(Date.parse(certificate.validTo) > Date.UTC(2029, 0, 1));
    });
  }

  test('are distinct', () => {
    assert.equal(new Set(ICP_BRASIL_ROOTS.map((root) => root.sha256)).size, ICP_BRASIL_ROOTS.length);
  });
});

describe('MALOTE_GOVERNMENT_CA_FILE', () => {
  const bundled = governmentRoots(null);
  const [first = '', second = ''] = bundled;

  test('adds its certificates, whatever stands between them', () => {
    const added = governmentRoots(`# root v13\n${first}\r\nsome text\n${second}`).slice(bundled.length);
    assert.deepEqual(added, [first.trim(), second.trim()]);
  });

  test('without a certificate, or with a broken one, is refused', () => {
    assert.throws(() => governmentRoots(''), InvalidCaFile);
    assert.throws(() => governmentRoots('not a certificate'), /no certificate in PEM form/);
    const broken = first.replace(/[A-Za-z]{40}/, 'A'.repeat(40)).replace('MII', 'AAA');
    assert.throws(() => governmentRoots(`${second}\n${broken}`), /Certificate 2 of MALOTE_GOVERNMENT_CA_FILE/);
  });
});
