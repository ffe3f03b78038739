import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import forge from 'node-forge';
import { bytes } from './der.js';

/** An RSA key pair, PEM (PKCS#8 and SPKI). */
export interface KeyPair {
  readonly privatePem: string;
  readonly publicPem: string;
}

/** Somebody who signs certificates: its certificate and key. */
export interface Signer {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** A certificate to be issued. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly publicPem: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** Null: signs itself with this key. */
  readonly signer: Signer | { readonly selfKeyPem: string };
  readonly usage: 'authority' | 'client' | 'server';
  /** DER of the alternative names. */
  readonly altNames?: Buffer;
}

/** node-forge makes keys in JavaScript, seconds each; OpenSSL takes a tenth of one. */
export function newKeyPair(bits = 2048): KeyPair {
  const pair = generateKeyPairSync('rsa', {
    modulusLength: bits,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { privatePem: pair.privateKey, publicPem: pair.publicKey };
}

/** Makes and signs an X.509 v3 certificate (RSA, SHA-256) and returns it as PEM. */
export function makeCertificate(request: CertificateRequest): string {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forgePublicKey(request.publicPem);
  certificate.serialNumber = `01${randomBytes(15).toString('hex')}`;
  certificate.validity.notBefore = request.notBefore;
  certificate.validity.notAfter = request.notAfter;

  const subject = distinguishedName(request.commonName);
  certificate.setSubject(subject);
  const signerKeyPem = 'selfKeyPem' in request.signer ? request.signer.selfKeyPem : request.signer.keyPem;
  if ('selfKeyPem' in request.signer) {
    certificate.setIssuer(subject);
  } else {
    const signer = forge.pki.certificateFromPem(request.signer.certificatePem);
    certificate.setIssuer(signer.subject.attributes);
  }
  certificate.setExtensions(extensions(request, createPublicKey(createPrivateKey(signerKeyPem))));

  // Signed by node:crypto: node-forge would need 30 ms for each.
  certificate.md = forge.md.sha256.create();
  certificate.signatureOid = forge.pki.oids.sha256WithRSAEncryption ?? '';
  certificate.siginfo.algorithmOid = certificate.signatureOid;
  certificate.tbsCertificate = tbsOf(certificate);
  const toBeSigned = Buffer.from(forge.asn1.toDer(certificate.tbsCertificate).getBytes(), 'latin1');
  certificate.signature = bytes(sign('sha256', toBeSigned, signerKeyPem));
  return forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
}

function extensions(request: CertificateRequest, signerKey: ReturnType<typeof createPublicKey>): object[] {
  const authority = request.usage === 'authority';
  const list: object[] = [
    { name: 'basicConstraints', critical: true, cA: authority },
    authority
      ? { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true }
      : { name: 'keyUsage', critical: true, digitalSignature: true, nonRepudiation: true, keyEncipherment: true },
    { name: 'subjectKeyIdentifier' },
    { name: 'authorityKeyIdentifier', keyIdentifier: keyIdentifier(signerKey) },
  ];
  if (request.usage === 'client') list.push({ name: 'extKeyUsage', clientAuth: true, emailProtection: true });
  if (request.usage === 'server') list.push({ name: 'extKeyUsage', serverAuth: true });
  if (request.altNames !== undefined) list.push({ name: 'subjectAltName', value: bytes(request.altNames) });
  return list;
}

/** The name says that nothing here is the real ICP-Brasil. */
function distinguishedName(commonName: string): forge.pki.CertificateField[] {
  // The typings take the tag for a class; a UTF8String lets names have accents.
  const valueTagClass = forge.asn1.Type.UTF8 as unknown as forge.asn1.Class;
  return [
    { shortName: 'C', value: 'BR' },
    { shortName: 'O', value: 'ICP-Simulada' },
    { shortName: 'OU', value: 'Certificado de teste sem validade', valueTagClass },
    { shortName: 'CN', value: commonName, valueTagClass },
  ];
}

function keyIdentifier(key: ReturnType<typeof createPublicKey>): string {
  const publicKey = forgePublicKey(key.export({ type: 'spki', format: 'pem' }).toString());
  return forge.pki
    .getPublicKeyFingerprint(publicKey, { type: 'RSAPublicKey', md: forge.md.sha1.create(), encoding: 'binary' })
    .toString();
}

/** Many certificates share few keys; parsing one takes longer than the rest of a certificate. */
const parsedKeys = new Map<string, forge.pki.rsa.PublicKey>();

function forgePublicKey(pem: string): forge.pki.rsa.PublicKey {
  let key = parsedKeys.get(pem);
  if (key === undefined) {
    key = forge.pki.publicKeyFromPem(pem) as forge.pki.rsa.PublicKey;
    if (parsedKeys.size > 100) parsedKeys.clear();
    parsedKeys.set(pem, key);
  }
  return key;
}

function tbsOf(certificate: forge.pki.Certificate): forge.asn1.Asn1 {
  // Public in node-forge, absent from its typings.
  const pki = forge.pki as unknown as { getTBSCertificate(of: forge.pki.Certificate): forge.asn1.Asn1 };
  return pki.getTBSCertificate(certificate);
}
