import { createHmac, hkdfSync } from 'node:crypto';
import type { Keyring, MasterKey } from './keyring.js';

/** Keeps these hashes apart from everything else that is made of a master key. */
const PURPOSE = 'malote erased tax id v1';

/** A tax ID that is to be known again and kept nowhere: a hash that nobody can try out without the master key. 43 characters. */
export function taxIdMac({ current }: Keyring, taxId: string): string {
  return mac(current, taxId);
}

/** The hashes that one of the master keys may have made of it. */
export function taxIdMacs({ keys }: Keyring, taxId: string): string[] {
  return [...keys.values()].map((key) => mac(key, taxId));
}

function mac({ bytes }: MasterKey, taxId: string): string {
  const key = Buffer.from(hkdfSync('sha256', bytes, '', PURPOSE, 32));
  return createHmac('sha256', key).update(taxId).digest('base64url');
}
