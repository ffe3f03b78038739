import { createCipheriv, pbkdf2Sync, randomBytes } from 'node:crypto';
import forge from 'node-forge';
import { bytes, integer, nothing, objectId, octets, sequence } from './der.js';

/** How one bag of a PFX is encrypted. RC2-40 is what most exported A1 files still use for the certificates. */
export type PfxCipher = 'rc2-40' | '3des' | 'aes-256';

const ITERATIONS = 2048;
const OID = {
  pbeRc2: '1.2.840.113549.1.12.1.6',
  pbe3Des: '1.2.840.113549.1.12.1.3',
  pbes2: '1.2.840.113549.1.5.13',
  pbkdf2: '1.2.840.113549.1.5.12',
  hmacSha256: '1.2.840.113549.2.9',
  aes256Cbc: '2.16.840.1.101.3.4.1.42',
};

/** Encrypts `plain` and says how, as an AlgorithmIdentifier. */
export function encrypt(
  cipher: PfxCipher,
  password: string,
  plain: Buffer,
): { algorithm: forge.asn1.Asn1; content: Buffer } {
  const salt = randomBytes(8);
  if (cipher === 'aes-256') return encryptPbes2(password, plain, salt);

  const keyBytes = cipher === 'rc2-40' ? 5 : 24;
  const key = pkcs12Key(password, salt, 1, ITERATIONS, keyBytes, forge.md.sha1.create());
  const iv = pkcs12Key(password, salt, 2, ITERATIONS, 8, forge.md.sha1.create());
  return {
    algorithm: sequence(
      objectId(cipher === 'rc2-40' ? OID.pbeRc2 : OID.pbe3Des),
      sequence(octets(salt), integer(ITERATIONS)),
    ),
    content: cipher === 'rc2-40' ? rc2(key, iv, plain) : nodeCipher('des-ede3-cbc', key, iv, plain),
  };
}

/** PBES2 takes the password as UTF-8, unlike the older schemes and the MAC: that difference is real and trips readers. */
function encryptPbes2(password: string, plain: Buffer, salt: Buffer): { algorithm: forge.asn1.Asn1; content: Buffer } {
  const iv = randomBytes(16);
  const key = pbkdf2Sync(Buffer.from(password, 'utf8'), salt, ITERATIONS, 32, 'sha256');
  const derivation = sequence(octets(salt), integer(ITERATIONS), sequence(objectId(OID.hmacSha256), nothing()));
  return {
    algorithm: sequence(
      objectId(OID.pbes2),
      sequence(sequence(objectId(OID.pbkdf2), derivation), sequence(objectId(OID.aes256Cbc), octets(iv))),
    ),
    content: nodeCipher('aes-256-cbc', key, iv, plain),
  };
}

/** OpenSSL 3 no longer has RC2 in its default provider, so this one comes from node-forge. */
function rc2(key: Buffer, iv: Buffer, plain: Buffer): Buffer {
  const cipher = forge.rc2.createEncryptionCipher(bytes(key), 40);
  cipher.start(bytes(iv));
  cipher.update(forge.util.createBuffer(bytes(plain)));
  cipher.finish();
  return Buffer.from(cipher.output.getBytes(), 'latin1');
}

function nodeCipher(name: string, key: Buffer, iv: Buffer, plain: Buffer): Buffer {
  const cipher = createCipheriv(name, key, iv);
  return Buffer.concat([cipher.update(plain), cipher.final()]);
}

/** The key derivation of RFC 7292 appendix B. `purpose`: 1 key, 2 initial vector, 3 MAC key. */
export function pkcs12Key(
  password: string,
  salt: Buffer,
  purpose: 1 | 2 | 3,
  iterations: number,
  length: number,
  digest: forge.md.MessageDigest,
): Buffer {
  // Public in node-forge, absent from its typings.
  const { pbe } = forge.pki as unknown as {
    pbe: {
      generatePkcs12Key(
        password: string,
        salt: forge.util.ByteStringBuffer,
        id: number,
        iterations: number,
        length: number,
        digest: forge.md.MessageDigest,
      ): forge.util.ByteStringBuffer;
    };
  };
  const salted = forge.util.createBuffer(bytes(salt));
  return Buffer.from(pbe.generatePkcs12Key(password, salted, purpose, iterations, length, digest).getBytes(), 'latin1');
}
