import type { Keyring } from './keyring.js';
import { fromCompact, openSecret, sealSecret, toCompact } from './seal.js';

/** Seals the signing secrets of webhook endpoints, each for its endpoint's row alone. */
export function webhookSecretBox(keyring: Keyring) {
  return {
    seal(secret: string, owner: string): { readonly keyId: string; readonly sealed: Buffer } {
      const sealed = sealSecret(keyring, Buffer.from(secret), { purpose: 'webhook-secret', owner });
      return { keyId: sealed.keyId, sealed: toCompact(sealed) };
    },
    /** @throws {SealBroken} */
    open(sealed: Buffer, owner: string): string {
      return openSecret(keyring, fromCompact(sealed), { purpose: 'webhook-secret', owner }).toString();
    },
  };
}
