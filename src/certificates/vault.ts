import type { Keyring } from './keyring.js';
import type { OpenedCertificate } from './open-a1.js';
import { openSecret, type SealedSecret, sealSecret } from './seal.js';

/** A certificate as it lies in the database. */
interface StoredCertificate extends SealedSecret {
  /** PEM, leaf first. */
  readonly chain: string;
  readonly thumbprint: string;
}

/** Seals the private key for its row. `certificateId` is the row's id: the sealed bytes open in that row only. */
export function sealKey(
  keyring: Keyring,
  opened: Pick<OpenedCertificate, 'keyPem'>,
  certificateId: string,
): SealedSecret {
  return sealSecret(keyring, Buffer.from(opened.keyPem), { purpose: 'certificate-key', owner: certificateId });
}

/**
 * Opens the key pair of a row that is at hand, for one call: nothing opened is kept.
 *
 * @throws {SealBroken}
 */
export function openKey(
  keyring: Keyring,
  certificateId: string,
  stored: StoredCertificate,
): Pick<OpenedCertificate, 'keyPem' | 'chainPem' | 'thumbprint'> {
  const key = openSecret(keyring, stored, { purpose: 'certificate-key', owner: certificateId });
  const wire = { keyPem: key.toString(), chainPem: stored.chain, thumbprint: stored.thumbprint };
  key.fill(0);
  return wire;
}
