import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { createSecureContext } from 'node:tls';
import forge from 'node-forge';
import { STRING_TYPES } from '../../src/simulator/authority/alt-names.js';
import { createAuthority, openAuthority } from '../../src/simulator/authority/authority.js';
import { PFX_FORMATS } from '../../src/simulator/authority/pfx.js';
import { identityOf } from '../../src/simulator/server/client-identity.js';
import { scratchFolder } from '../support/scratch.js';

const authority = createAuthority();
const COMPANY = '12ABC34501DE35';
const PERSON = '11144477735';

/** Opens a PFX with node-forge, as a program must that wants to read RC2. */
function openWithForge(pfx: Buffer, password: string): { certificates: string[]; keyPem: string } {
  const parsed = forge.pkcs12.pkcs12FromAsn1(forge.asn1.fromDer(pfx.toString('latin1')), password);
  const bags = (type: string | undefined) => parsed.getBags({ bagType: type ?? '' })[type ?? ''] ?? [];
  const key = bags(forge.pki.oids.pkcs8ShroudedKeyBag)[0]?.key;
  assert.ok(key, 'no key in the PFX');
  return {
    certificates: bags(forge.pki.oids.certBag).map(({ cert }) => (cert ? forge.pki.certificateToPem(cert) : '')),
    keyPem: forge.pki.privateKeyToPem(key as forge.pki.rsa.PrivateKey),
  };
}

function opensWithNode(pfx: Buffer, passphrase: string): boolean {
  try {
    createSecureContext({ pfx, passphrase });
    return true;
  } catch {
    return false;
  }
}

describe('PFX files', () => {
  for (const format of PFX_FORMATS) {
    test(`${format}: opens with its password only, and holds key, leaf and chain`, () => {
      const a1 = authority.issueA1({
        taxId: COMPANY,
        name: 'Ipê & Filhos',
        password: 'segredo1',
        format,
        shareKey: true,
      });
      assert.equal(opensWithNode(a1.pfx, 'segredo1'), format !== 'rc2', 'OpenSSL 3 opens all but RC2');
      assert.equal(opensWithNode(a1.pfx, 'errada'), false);
      assert.throws(() => openWithForge(a1.pfx, 'errada'));

      const { certificates, keyPem } = openWithForge(a1.pfx, 'segredo1');
      assert.equal(certificates.length, 3);
      const leaf = new X509Certificate(certificates[0] ?? '');
      assert.ok(leaf.checkPrivateKey(createPrivateKey(keyPem)), 'the key is the leaf’s');
      assert.equal(keyFingerprint(keyPem), keyFingerprint(a1.keyPem));
    });

    test(`${format}: a password with an accent`, () => {
      const { pfx } = authority.issueA1({ taxId: COMPANY, name: 'X', password: 'senhação', format, shareKey: true });
      // PBES2 takes UTF-8, the MAC UTF-16: node-forge passes one string to both and fails, Node does not.
      if (format === 'modern') assert.ok(opensWithNode(pfx, 'senhação'));
      else assert.equal(openWithForge(pfx, 'senhação').certificates.length, 3);
    });
  }

  test('root first: the leaf is not the first certificate of the file', () => {
    const { pfx } = authority.issueA1({
      taxId: COMPANY,
      name: 'X',
      password: 'p',
      order: 'root_first',
      shareKey: true,
    });
    const [first, , last] = openWithForge(pfx, 'p').certificates;
    assert.match(new X509Certificate(first ?? '').subject, /AC Raiz/);
    assert.match(new X509Certificate(last ?? '').subject, /12ABC34501DE35/);
  });
});

function keyFingerprint(pem: string): string {
  return createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' }).toString('hex');
}

describe('certificates', () => {
  for (const stringType of STRING_TYPES) {
    test(`tax ID written as ${stringType}: CNPJ with letters, and CPF inside its block`, () => {
      for (const taxId of [COMPANY, PERSON]) {
        const { chainPem } = authority.issueA1({ taxId, name: 'X', password: '', stringType, shareKey: true });
        assert.equal(identityOf(new X509Certificate(chainPem)).taxId, taxId);
      }
    });
  }

  test('the chain leads from the leaf over the intermediate to the root', () => {
    const { chainPem, caPem } = authority.issueA1({ taxId: COMPANY, name: 'X', password: '', shareKey: true });
    const [leafPem = '', intermediatePem = ''] = chainPem.split(/(?<=-----END CERTIFICATE-----\n)/);
    const [leaf, intermediate, root] = [leafPem, intermediatePem, caPem].map((pem) => new X509Certificate(pem)) as [
      X509Certificate,
      X509Certificate,
      X509Certificate,
    ];
    assert.ok(leaf.checkIssued(intermediate) && leaf.verify(intermediate.publicKey));
    assert.ok(intermediate.checkIssued(root) && intermediate.verify(root.publicKey));
    assert.ok(root.verify(root.publicKey));
    assert.equal(leaf.ca, false);
    assert.equal(intermediate.ca, true);
  });

  test('validity counts from the given instant', () => {
    const now = new Date('2026-06-15T12:00:00Z');
    const times = (validity: 'valid' | 'expired' | 'not_yet_valid') => {
      const { chainPem } = authority.issueA1({
        taxId: COMPANY,
        name: 'X',
        password: '',
        validity,
        now,
        shareKey: true,
      });
      const { notBefore, notAfter } = identityOf(new X509Certificate(chainPem));
      return [notBefore <= now.getTime(), now.getTime() <= notAfter];
    };
    assert.deepEqual(times('valid'), [true, true]);
    assert.deepEqual(times('expired'), [true, false]);
    assert.deepEqual(times('not_yet_valid'), [false, true]);
  });

  test('keys are shared only where that is asked for', () => {
    const issue = (shareKey: boolean) =>
      authority.issueA1({ taxId: COMPANY, name: 'X', password: '', shareKey }).keyPem;
    assert.equal(issue(true), issue(true));
    assert.notEqual(issue(true), issue(false));
  });
});

test('an authority kept in a folder is the same after a restart', () => {
  const folder = scratchFolder('authority');
  const first = openAuthority(folder);
  const second = openAuthority(folder);
  assert.equal(second.caPem, first.caPem);
  const { chainPem } = second.issueA1({ taxId: COMPANY, name: 'X', password: '', shareKey: true });
  const intermediate = new X509Certificate(first.material.intermediate.certificatePem);
  assert.ok(new X509Certificate(chainPem).verify(intermediate.publicKey));
});
