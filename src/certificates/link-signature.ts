import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Keyring, MasterKey } from './keyring.js';

/** Keeps these signatures apart from everything else that is made of a master key. */
const PURPOSE = 'malote download link v1';

/** Signs what a link gives access to, with the current master key. 43 characters that are safe in a URL. */
export function signLink(keyring: Keyring, content: string): string {
  return signature(keyring.current, content);
}

/** Whether one of the master keys signed this content. Takes as long whichever it was, or none. */
export function isLinkSignature(keyring: Keyring, content: string, given: string): boolean {
  const bytes = Buffer.from(given);
  let found = false;
  for (const key of keyring.keys.values()) {
    const expected = Buffer.from(signature(key, content));
    if (bytes.length === expected.length && timingSafeEqual(bytes, expected)) found = true;
  }
  return found;
}

function signature({ bytes }: MasterKey, content: string): string {
  const key = Buffer.from(hkdfSync('sha256', bytes, '', PURPOSE, 32));
  return createHmac('sha256', key).update(content).digest('base64url');
}
