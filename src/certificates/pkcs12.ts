import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import forge from 'node-forge';
import { type Asn1, childrenOf, isUniversal, oidOf, parseDer, toDer } from './asn1.js';
import { CertificateProblem } from './problem.js';

/** What a PFX holds. */
export interface Pkcs12Contents {
  /** Private keys that Node can use, in file order. */
  readonly keys: readonly KeyObject[];
  /** Certificates in file order, which says nothing about which is whose (case C84). */
  readonly certificates: readonly X509Certificate[];
}

/** A file may ask for this many rounds of key derivation; real exports use 1 to 100,000. More would hold up the process. */
const MAX_ITERATIONS = 1_000_000;

/**
 * Opens a PKCS#12 container with its password: RC2-40 and 3DES (which OpenSSL 3 refuses), and PBES2.
 *
 * @throws {CertificateProblem} `certificate_password_wrong` or `certificate_unreadable`
 */
export function openPkcs12(bytes: Buffer, password: string): Pkcs12Contents {
  const container = parseContainer(bytes);
  for (const attempt of attempts(container, password)) {
    const opened = tryOpen(attempt.container, attempt.password);
    if (opened) return contentsOf(opened);
  }
  throw whyNot(bytes, container, password);
}

interface Attempt {
  readonly container: Asn1;
  readonly password: string | undefined;
}

/**
 * The ways in which programs turn a password into bytes. node-forge hands one string to all its algorithms, but PBES2 wants UTF-8 where
 * the MAC and the older ciphers want UTF-16. So with a non-ASCII password and PBES2 the file opens as UTF-8 with its MAC left out; then
 * decryption itself is the proof. OpenSSL before 1.1 took each byte of UTF-8 for a character. An empty password is two zero bytes to some
 * programs and nothing to others.
 */
function* attempts(container: Asn1, password: string): Generator<Attempt> {
  yield { container, password };
  if (password === '') yield { container, password: undefined };
  const utf8 = forge.util.encodeUtf8(password);
  if (utf8 !== password) {
    yield { container: withoutMac(container), password: utf8 };
    yield { container, password: utf8 };
  }
}

function tryOpen(container: Asn1, password: string | undefined): forge.pkcs12.Pkcs12Pfx | null {
  try {
    return forge.pkcs12.pkcs12FromAsn1(container, false, password);
  } catch {
    return null;
  }
}

function parseContainer(bytes: Buffer): Asn1 {
  let container: Asn1;
  try {
    container = parseDer(bytes);
  } catch {
    throw notAPfx();
  }
  // PFX ::= SEQUENCE { version INTEGER, authSafe ContentInfo, macData OPTIONAL }; a ContentInfo begins with an OID of PKCS#7.
  const authSafe = childrenOf(container)[1];
  if (!oidOf(childrenOf(authSafe)[0])?.startsWith('1.2.840.113549.1.7.')) throw notAPfx();
  if (mostIterations(container) > MAX_ITERATIONS) {
    throw new CertificateProblem(
      'certificate_unreadable',
      `The file asks for more than ${MAX_ITERATIONS} rounds of key derivation. Export the certificate again with the usual settings.`,
    );
  }
  return container;
}

function notAPfx(): CertificateProblem {
  return new CertificateProblem(
    'certificate_unreadable',
    'This is no PFX (PKCS#12) file, or it is damaged. Send the bytes of the .pfx or .p12 file as exported, not its text.',
  );
}

/** Every derivation writes its salt (OCTET STRING) and iterations (INTEGER) side by side; contents lie in OCTET STRINGs of their own. */
function mostIterations(node: Asn1): number {
  if (typeof node.value === 'string') {
    if (!isUniversal(node, forge.asn1.Type.OCTETSTRING) || !node.value.startsWith('\x30')) return 0;
    try {
      return mostIterations(parseDer(Buffer.from(node.value, 'latin1')));
    } catch {
      return 0;
    }
  }
  return childrenOf(node).reduce((most, child, index, all) => {
    const next = all[index + 1];
    const isSalt = isUniversal(child, forge.asn1.Type.OCTETSTRING) && isUniversal(next, forge.asn1.Type.INTEGER);
    const iterations =
      isSalt && typeof next?.value === 'string' ? Number(`0x${Buffer.from(next.value, 'latin1').toString('hex')}`) : 0;
    return Math.max(most, iterations, mostIterations(child));
  }, 0);
}

function withoutMac(container: Asn1): Asn1 {
  return { ...container, value: childrenOf(container).slice(0, 2) };
}

function contentsOf(pfx: forge.pkcs12.Pkcs12Pfx): Pkcs12Contents {
  const bags = pfx.safeContents.flatMap((content) => content.safeBags);
  const { pkcs8ShroudedKeyBag, keyBag, certBag } = forge.pki.oids;
  return {
    keys: bags.filter((bag) => bag.type === pkcs8ShroudedKeyBag || bag.type === keyBag).flatMap(keyOf),
    certificates: bags.filter((bag) => bag.type === certBag).flatMap(certificateOf),
  };
}

/** node-forge reads RSA only and leaves other keys and certificates as ASN.1; Node reads them all. */
function keyOf(bag: forge.pkcs12.Bag): KeyObject | [] {
  const der = bag.key ? forge.pki.wrapRsaPrivateKey(forge.pki.privateKeyToAsn1(bag.key)) : bag.asn1;
  try {
    return createPrivateKey({ key: toDer(der), format: 'der', type: 'pkcs8' });
  } catch {
    return [];
  }
}

function certificateOf(bag: forge.pkcs12.Bag): X509Certificate | [] {
  try {
    return new X509Certificate(toDer(bag.cert ? forge.pki.certificateToAsn1(bag.cert) : bag.asn1));
  } catch {
    return [];
  }
}

/** Wrong password, or a kind of file that we cannot read: OpenSSL gives the second opinion, since it tells the two apart. */
function whyNot(bytes: Buffer, container: Asn1, password: string): CertificateProblem {
  const wrongPassword = new CertificateProblem(
    'certificate_password_wrong',
    'The password does not open this file. Check capitals, accents and blanks at the ends.',
  );
  // Without a MAC nothing but the decryption tells whether the password is right.
  if (childrenOf(container).length < 3) return wrongPassword;
  try {
    createSecureContext({ pfx: bytes, passphrase: password });
  } catch (error) {
    if (error instanceof Error && /mac verify failure/i.test(error.message)) return wrongPassword;
  }
  return new CertificateProblem(
    'certificate_unreadable',
    'The file is a PFX, but damaged or encrypted in an unusual way. Export it again with AES-256 or 3DES encryption.',
  );
}
