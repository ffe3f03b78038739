import { createHmac, createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import forge from 'node-forge';
import { integer, nothing, objectId, octets, sequence, set, tagged, taggedBytes, toDer } from './der.js';
import { encrypt, type PfxCipher, pkcs12Key } from './pfx-encryption.js';

/**
 * `modern`: PBES2 with AES-256, SHA-256 MAC. `3des`: both bags 3DES, SHA-1 MAC. `rc2`: certificates RC2-40, key 3DES, as
 * Windows exports most A1 files; OpenSSL 3 does not open it.
 */
export const PFX_FORMATS = ['modern', 'rc2', '3des'] as const;
export type PfxFormat = (typeof PFX_FORMATS)[number];

const CIPHERS: Record<PfxFormat, { certificates: PfxCipher; key: PfxCipher; mac: 'sha1' | 'sha256' }> = {
  modern: { certificates: 'aes-256', key: 'aes-256', mac: 'sha256' },
  '3des': { certificates: '3des', key: '3des', mac: 'sha1' },
  rc2: { certificates: 'rc2-40', key: '3des', mac: 'sha1' },
};

const OID = {
  data: '1.2.840.113549.1.7.1',
  encryptedData: '1.2.840.113549.1.7.6',
  shroudedKeyBag: '1.2.840.113549.1.12.10.1.2',
  certificateBag: '1.2.840.113549.1.12.10.1.3',
  x509: '1.2.840.113549.1.9.22.1',
  friendlyName: '1.2.840.113549.1.9.20',
  localKeyId: '1.2.840.113549.1.9.21',
  sha1: '1.3.14.3.2.26',
  sha256: '2.16.840.1.101.3.4.2.1',
};

/** PKCS#12 (RFC 7292): an encrypted content with the certificates, one with the key in its own encrypted bag, and a MAC. */
export function makePfx(input: {
  readonly keyPem: string;
  /** In the order in which they are to stand in the file. */
  readonly certificatesPem: readonly string[];
  readonly leafPem: string;
  readonly password: string;
  readonly format: PfxFormat;
}): Buffer {
  const { password } = input;
  const ciphers = CIPHERS[input.format];
  const keyId = randomBytes(20);

  const certificates = sequence(
    ...input.certificatesPem.map((pem) => {
      const content = sequence(objectId(OID.x509), tagged(0, octets(new X509Certificate(pem).raw)));
      const attributes = pem === input.leafPem ? [leafAttributes(keyId)] : [];
      return sequence(objectId(OID.certificateBag), tagged(0, content), ...attributes);
    }),
  );
  const key = createPrivateKey(input.keyPem).export({ type: 'pkcs8', format: 'der' });
  const shrouded = encrypt(ciphers.key, password, key);
  const keys = sequence(
    sequence(
      objectId(OID.shroudedKeyBag),
      tagged(0, sequence(shrouded.algorithm, octets(shrouded.content))),
      leafAttributes(keyId),
    ),
  );

  const safe = toDer(
    sequence(encryptedContent(ciphers.certificates, password, toDer(certificates)), plainContent(toDer(keys))),
  );
  return toDer(sequence(integer(3), plainContent(safe), macOf(safe, password, ciphers.mac)));
}

function leafAttributes(keyId: Buffer): forge.asn1.Asn1 {
  const bmp = forge.asn1.create(
    forge.asn1.Class.UNIVERSAL,
    forge.asn1.Type.BMPSTRING,
    false,
    Buffer.from('certificado a1', 'utf16le').swap16().toString('latin1'),
  );
  return set(sequence(objectId(OID.localKeyId), set(octets(keyId))), sequence(objectId(OID.friendlyName), set(bmp)));
}

function plainContent(content: Buffer): forge.asn1.Asn1 {
  return sequence(objectId(OID.data), tagged(0, octets(content)));
}

function encryptedContent(cipher: PfxCipher, password: string, plain: Buffer): forge.asn1.Asn1 {
  const { algorithm, content } = encrypt(cipher, password, plain);
  const info = sequence(objectId(OID.data), algorithm, taggedBytes(0, content));
  return sequence(objectId(OID.encryptedData), tagged(0, sequence(integer(0), info)));
}

function macOf(safe: Buffer, password: string, hash: 'sha1' | 'sha256'): forge.asn1.Asn1 {
  const iterations = 2048;
  const salt = randomBytes(20);
  const length = hash === 'sha1' ? 20 : 32;
  const key = pkcs12Key(password, salt, 3, iterations, length, forge.md[hash].create());
  const digest = createHmac(hash, key).update(safe).digest();
  return sequence(
    sequence(sequence(objectId(OID[hash]), nothing()), octets(digest)),
    octets(salt),
    integer(iterations),
  );
}
