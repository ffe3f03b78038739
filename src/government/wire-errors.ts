import type { TLSSocket } from 'node:tls';

/**
 * What may be told of an error of the wire. Only codes are taken from it, never its message or its other fields: an HTTP or TLS
 * error can hold the private key (case C96).
 */

/** For example "connect ECONNREFUSED", "getaddrinfo ENOTFOUND", "ERR_SSL_WRONG_VERSION_NUMBER". */
export function wireReason(error: unknown): string {
  const { syscall, code } = (error ?? {}) as { syscall?: unknown; code?: unknown };
  const parts = [wordOf(syscall), wordOf(code)].filter((word) => word !== '');
  return parts.join(' ') || 'failed without a code';
}

/**
 * TLS alerts by which a server says that it does not take our certificate (RFC 5246 7.2.2, RFC 8446 6.2): bad, unsupported, revoked, expired,
 * unknown, issued by an authority it does not know, access denied, required. Not 40, "handshake failure": that may as well be about ciphers.
 */
const CERTIFICATE_ALERTS: ReadonlySet<number> = new Set([42, 43, 44, 45, 46, 48, 49, 116]);

/** Whether the server refused our certificate, in the first handshake or in a later one. */
export function refusesOurCertificate(error: unknown): boolean {
  const number = error instanceof Error ? /SSL alert number (\d+)/.exec(error.message)?.[1] : undefined;
  return number !== undefined && CERTIFICATE_ALERTS.has(Number(number));
}

/** Why the server's certificate was not accepted; null when it was, or did not come. */
export function distrustOf(socket: TLSSocket): string | null {
  // Typed as an error, but a code such as CERT_HAS_EXPIRED.
  const code: unknown = socket.authorizationError;
  return code ? `the server's certificate is not trusted: ${wordOf(code) || 'no code'}` : null;
}

function wordOf(value: unknown): string {
  return typeof value === 'string' && /^\w{1,60}$/.test(value) ? value : '';
}
