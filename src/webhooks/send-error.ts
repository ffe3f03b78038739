import { errors } from 'undici';

/**
 * Why an attempt got no answer, in words of our own: the client's errors carry addresses and internals, and are shown to customers.
 * Form: a stable code, a colon, a sentence.
 */
export function describeFailure(error: unknown): string {
  if (error instanceof errors.HTTPParserError) return 'not_http: what came back is no HTTP answer';
  const code = codeOf(error);
  if (isTlsCode(code)) return `tls: the certificate or TLS handshake failed (${code})`;
  return SENTENCES[code] ?? `failed: the request could not be made (${code})`;
}

/** The text of an attempt that took too long. */
export const timedOut = (limitMs: number): string => `timeout: no answer within ${limitMs / 1000} s`;

const DNS = 'dns: the host name could not be resolved';
const UNREACHABLE = 'unreachable: no route to the address';
const RESET = 'connection_reset: the connection was closed before an answer came';
const CONNECT_TIMEOUT = 'timeout: the connection was not accepted in time';

const SENTENCES: Readonly<Record<string, string>> = {
  ADDRESS_NOT_ALLOWED: 'address_not_allowed: the host is at a private, local or reserved address',
  ENOTFOUND: DNS,
  EAI_AGAIN: DNS,
  EAI_NODATA: DNS,
  EAI_NONAME: DNS,
  ECONNREFUSED: 'connection_refused: nothing listens at the address',
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  EADDRNOTAVAIL: UNREACHABLE,
  ECONNRESET: RESET,
  EPIPE: RESET,
  UND_ERR_SOCKET: RESET,
  ETIMEDOUT: CONNECT_TIMEOUT,
  UND_ERR_CONNECT_TIMEOUT: CONNECT_TIMEOUT,
  UND_ERR_HEADERS_OVERFLOW: 'answer_too_large: the head of the answer is too long',
};

/** The first code along the causes; a connection tried over several addresses fails with one error per address. */
function codeOf(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; depth += 1) {
    if (at instanceof AggregateError && at.errors.length > 0) {
      at = at.errors[0];
      continue;
    }
    const { code } = at as { code?: unknown };
    if (typeof code === 'string') return code;
    at = at.cause;
  }
  return 'UNKNOWN';
}

function isTlsCode(code: string): boolean {
  return code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS') || TLS_VERIFICATION.test(code);
}

/** A handshake that failed, and OpenSSL's verification results as Node names them. */
const TLS_VERIFICATION = /^EPROTO$|CERT|CRL|SELF_SIGNED|UNABLE_TO_VERIFY|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE/;
