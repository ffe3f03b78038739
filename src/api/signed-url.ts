import type { FastifyRequest } from 'fastify';
import { isLinkSignature, signLink } from '../certificates/link-signature.js';
import type { ApiDependencies } from './dependencies.js';
import { Problem } from './problem.js';
import { isoInstant } from './schemas/common.js';

/** A link is made to be used now. Real time, whatever the time scale. */
const LIFETIME_MS = 15 * 60_000;

type Signer = Pick<ApiDependencies, 'keyring' | 'clock' | 'publicUrl'>;

/** When links that are made now end, in whole seconds since 1970 and never less than promised. */
export async function linkEnd({ clock }: Signer): Promise<number> {
  return Math.ceil(((await clock.now()) + LIFETIME_MS) / 1000);
}

/**
 * A link that needs no key.
 *
 * @param content what it gives access to; its signature holds for nothing else
 */
export function signedUrl(
  { keyring, publicUrl }: Signer,
  request: FastifyRequest,
  { path, content, expires }: { readonly path: string; readonly content: string; readonly expires: number },
): string {
  const signature = signLink(keyring, `${content} ${expires}`);
  return `${publicUrl ?? addressOf(request)}${path}?expires=${expires}&signature=${signature}`;
}

/** @throws {Problem} `link_invalid`, `link_expired` */
export async function requireSigned(
  { keyring, clock }: Signer,
  content: string,
  { expires, signature }: { readonly expires?: unknown; readonly signature?: unknown },
): Promise<void> {
  // The signature first: of a link that was changed nothing is told.
  const isOurs =
    typeof expires === 'string' &&
    typeof signature === 'string' &&
    isLinkSignature(keyring, `${content} ${expires}`, signature);
  if (!isOurs) throw new Problem('link_invalid', 'The link is not one that was made here: it was changed or cut off');
  if (Number(expires) * 1000 <= (await clock.now())) {
    throw new Problem('link_expired', `The link was valid until ${isoInstant(Number(expires) * 1000)}`);
  }
}

/** A name or an address (IPv6 in brackets), and nothing that would make another URL of a link. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** How the caller itself reached this API. */
function addressOf({ protocol, host }: FastifyRequest): string {
  if (!host) throw new Problem('malformed_request', 'The request has no Host header, so there is no address for links');
  if (!HOST.test(host) || !URL.canParse(`${protocol}://${host}`)) {
    throw new Problem(
      'malformed_request',
      'The Host header is no host name with or without a port, so there is no address for links',
    );
  }
  return `${protocol}://${host}`;
}
