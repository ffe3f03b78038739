import { type KeyObject, X509Certificate } from 'node:crypto';
import { policyOids } from './asn1.js';
import { chainFrom } from './chain.js';
import { holderTaxId } from './holder.js';
import { openPkcs12 } from './pkcs12.js';
import { CertificateProblem } from './problem.js';

/** What is kept of an A1 file; the file and its password are thrown away. */
export interface OpenedCertificate {
  /** PKCS#8, PEM. Secret. */
  readonly keyPem: string;
  /** PEM: the holder's certificate, then its issuers upwards; no root. */
  readonly chainPem: string;
  /** Distinguished name on one line. */
  readonly subject: string;
  /** Of the holder: CNPJ (14 characters, letters legal) or CPF (11 digits). */
  readonly taxId: string;
  /** Validity, milliseconds since 1970 (UTC). */
  readonly notBefore: number;
  readonly notAfter: number;
  /** SHA-256 of the holder's certificate, lower-case hex. */
  readonly thumbprint: string;
}

/**
 * Opens an A1 file (PFX, PKCS#12; its Base64 text is accepted too) and finds the holder's key and certificate in it.
 * Dates and company are not looked at: {@link checkHolder} does that.
 *
 * @throws {CertificateProblem} password wrong, unreadable, no private key, hardware key, key mismatch, or names no tax ID
 */
export function openA1(file: Uint8Array, password: string): OpenedCertificate {
  const bytes = binaryOf(Buffer.from(file));
  refuseBareCertificate(bytes);
  const { keys, certificates } = openPkcs12(bytes, password);
  if (keys.length === 0) throw noKey(certificates);
  const { key, certificate } = pairOf(keys, certificates);
  const taxId = holderTaxId(certificate);
  if (taxId === null) {
    throw new CertificateProblem(
      'certificate_other_company',
      'The certificate names neither a CNPJ nor a CPF, so it belongs to no company. Send an e-CNPJ or e-CPF certificate of ICP-Brasil.',
    );
  }
  return {
    keyPem: key.export({ format: 'pem', type: 'pkcs8' }).toString(),
    chainPem: [certificate, ...chainFrom(certificate, certificates)].map(String).join(''),
    subject: certificate.subject.replaceAll('\n', ', '),
    taxId,
    notBefore: Date.parse(certificate.validFrom),
    notAfter: Date.parse(certificate.validTo),
    thumbprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
  };
}

/** DER begins with a SEQUENCE. Base64 of it is what many programs send in its place (case C85). */
function binaryOf(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1').trim();
  return /^M[A-Za-z0-9+/\s]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : bytes;
}

/** A .cer file, DER or PEM: what an export gives when the private key may not leave its token or the store. */
function refuseBareCertificate(bytes: Buffer): void {
  if (bytes.includes('PRIVATE KEY')) return;
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(bytes);
  } catch {
    return;
  }
  throw noKey([certificate]);
}

/**
 * A3 and A4 policies: made inside a token, card or HSM, which never gives the key away. They only explain a missing key; a certificate
 * that comes with its key is used whatever its policy says (ICP-Brasil is renaming its types).
 */
const HARDWARE_POLICY = /^2\.16\.76\.1\.2\.[34]\./;

function noKey(certificates: readonly X509Certificate[]): CertificateProblem {
  return certificates.some((certificate) => policyOids(certificate.raw).some((oid) => HARDWARE_POLICY.test(oid)))
    ? new CertificateProblem(
        'certificate_hardware_key',
        'This is an A3 certificate: its private key stays in the token or card and cannot be sent. A software (A1) certificate is needed.',
      )
    : new CertificateProblem(
        'certificate_no_private_key',
        'The file has a certificate but no private key. Export it again as PFX, together with its private key.',
      );
}

/** The pair that belongs together (never the first certificate, case C84); of several, the one that is valid longest. */
function pairOf(
  keys: readonly KeyObject[],
  certificates: readonly X509Certificate[],
): { key: KeyObject; certificate: X509Certificate } {
  const [best] = keys
    .flatMap((key) => certificates.filter((it) => it.checkPrivateKey(key)).map((certificate) => ({ key, certificate })))
    .sort((a, b) => Date.parse(b.certificate.validTo) - Date.parse(a.certificate.validTo));
  if (best) return best;
  throw new CertificateProblem(
    'certificate_key_mismatch',
    'No certificate in the file belongs to its private key. Export the certificate again from where it was installed.',
  );
}
