import { isIP } from 'node:net';
import { isPublicAddress } from './address.js';

const MAX_LENGTH = 2048;

/**
 * What is wrong with an endpoint's URL, as a sentence for the person who typed it; null when it can be used. A name's addresses are
 * checked at every connection instead, because they change.
 *
 * @param allowPrivate `MALOTE_ALLOW_PRIVATE_WEBHOOKS`: also lets plain http through, for receivers on the same machine or network
 */
export function endpointUrlProblem(text: string, allowPrivate: boolean): string | null {
  if (text.length > MAX_LENGTH) return `expected at most ${MAX_LENGTH} characters`;
  if (!URL.canParse(text)) return 'expected a whole URL, such as https://erp.example.com/malote';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) {
    return 'expected https: fiscal documents do not travel unencrypted';
  }
  if (url.username || url.password) return 'expected no user name or password in the URL: verify the signature instead';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const local = host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && !isPublicAddress(host));
  if (local && !allowPrivate)
    return 'expected an address on the public internet, this one is private, local or reserved';
  return null;
}
