import { LRUCache } from 'lru-cache';
import type { Keyring } from './keyring.js';
import type { OpenedCertificate } from './open-a1.js';
import { openSecret, type SealedSecret, sealSecret } from './seal.js';

/** A key pair ready for the wire. */
export type WireCertificate = Pick<OpenedCertificate, 'keyPem' | 'chainPem' | 'thumbprint'>;

/** A certificate as it lies in the database. */
export interface StoredCertificate extends SealedSecret {
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

/** Opened key pairs, in memory for a short time. Says nothing to any log. */
export interface Vault {
  /**
   * The key pair of a certificate id; null when there is no such certificate (any more).
   *
   * @throws {SealBroken} and what the loader throws
   */
  get(certificateId: string): Promise<WireCertificate | null>;
  /** Forgets every opened key. */
  clear(): void;
}

export interface VaultOptions {
  readonly keyring: Keyring;
  /** Reads the row; null when it is gone. */
  readonly load: (certificateId: string) => Promise<StoredCertificate | null>;
  /** How long an opened key may be used without reading its row again: so long does a deleted certificate live on. Milliseconds. */
  readonly ttlMs?: number;
  /** How many opened keys at most. */
  readonly max?: number;
}

/** Several calls for one certificate at the same time read its row once. */
export function createVault({ keyring, load, ttlMs = 60_000, max = 200 }: VaultOptions): Vault {
  const cache = new LRUCache<string, WireCertificate>({
    max,
    ttl: ttlMs,
    // A row that is being read while the cache is cleared or full still answers those who wait for it.
    ignoreFetchAbort: true,
    fetchMethod: async (certificateId) => {
      const stored = await load(certificateId);
      // Thrown: when nothing is returned, the cache keeps the old key in memory.
      if (!stored) throw GONE;
      return openKey(keyring, certificateId, stored);
    },
  });
  return {
    get: async (certificateId) => {
      try {
        return (await cache.fetch(certificateId)) ?? null;
      } catch (error) {
        if (error === GONE) return null;
        throw error;
      }
    },
    clear: () => cache.clear(),
  };
}

const GONE = new Error('there is no such certificate');

/**
 * Opens the key pair of a row that is at hand.
 *
 * @throws {SealBroken}
 */
export function openKey(keyring: Keyring, certificateId: string, stored: StoredCertificate): WireCertificate {
  const key = openSecret(keyring, stored, { purpose: 'certificate-key', owner: certificateId });
  const wire = { keyPem: key.toString(), chainPem: stored.chain, thumbprint: stored.thumbprint };
  key.fill(0);
  return wire;
}
