import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import forge from 'node-forge';
import { OTHER_NAMES } from '../authority/alt-names.js';
import { bytes } from '../authority/der.js';

/** Whose certificate came with a connection. */
export interface ClientIdentity {
  /** CNPJ or CPF from the certificate's alternative names; null when it has neither. */
  readonly taxId: string | null;
  readonly notBefore: number;
  readonly notAfter: number;
}

const SUBJECT_ALT_NAME = '2.5.29.17';
const identities = new LRUCache<string, ClientIdentity>({ max: 20_000 });

/**
 * The identity behind a TLS connection; null without a certificate, or with one of another authority. Validity is left to the caller,
 * because the simulator goes by its own clock.
 */
export function clientIdentity(socket: TLSSocket): ClientIdentity | null {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return null;
  if (!socket.authorized && !isAboutTime(socket.authorizationError)) return null;
  return identityOf(certificate);
}

/** OpenSSL judges by the machine's clock. */
function isAboutTime(error: unknown): boolean {
  return String(error).includes('CERT_HAS_EXPIRED') || String(error).includes('CERT_NOT_YET_VALID');
}

/** Who a client is, by its certificate. */
export function identityOf(certificate: X509Certificate): ClientIdentity {
  const fingerprint = certificate.fingerprint256;
  let identity = identities.get(fingerprint);
  if (identity === undefined) {
    identity = {
      taxId: taxIdOf(certificate.raw),
      notBefore: Date.parse(certificate.validFrom),
      notAfter: Date.parse(certificate.validTo),
    };
    identities.set(fingerprint, identity);
  }
  return identity;
}

/** Node shows an otherName as unsupported, so the extension is read by node-forge. */
function taxIdOf(der: Buffer): string | null {
  const certificate = forge.pki.certificateFromAsn1(forge.asn1.fromDer(bytes(der)));
  const extension: { value: string } | undefined = certificate.extensions.find(({ id }) => id === SUBJECT_ALT_NAME);
  if (extension === undefined) return null;
  const values = new Map<string, string>();
  for (const name of children(forge.asn1.fromDer(extension.value))) {
    // [0] otherName { OBJECT IDENTIFIER, [0] EXPLICIT value }
    if (name.type !== (0 as forge.asn1.Type) || name.tagClass !== forge.asn1.Class.CONTEXT_SPECIFIC) continue;
    const [id, explicit] = children(name);
    const value = explicit === undefined ? undefined : children(explicit)[0];
    if (typeof id?.value !== 'string' || typeof value?.value !== 'string') continue;
    values.set(forge.asn1.derToOid(id.value), value.value);
  }
  const person = values.get(OTHER_NAMES.personBlock);
  return values.get(OTHER_NAMES.cnpj) ?? person?.slice(8, 19) ?? null;
}

function children(node: forge.asn1.Asn1): forge.asn1.Asn1[] {
  return Array.isArray(node.value) ? node.value : [];
}
