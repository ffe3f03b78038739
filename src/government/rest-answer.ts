import type { Outcome } from '../model/outcome.js';
import type { GovernmentResponse, ReadAnswer } from './types.js';

/** HTTP as it came; null where only the bytes were kept. */
export type HttpFacts = Pick<GovernmentResponse, 'status' | 'headers'> | null;

/** 401 and 403: the certificate is not accepted. 495 and 496: the front server got none that it takes. */
const CERTIFICATE_HTTP: ReadonlySet<number> = new Set([401, 403, 495, 496]);
/** Codes by which these services refuse the certificate itself. Not E1206: there the list of revoked ones could not be read. */
export const CERTIFICATE_CODES: ReadonlySet<string> = new Set('E1200 E1203 E1205 E1207 E1208 E1209'.split(' '));
/** Longer is not believed. */
const LONGEST_RETRY_AFTER_MS = 24 * 3_600_000;

/**
 * What an answer means that is not the service's own: the page of a gateway, nothing at all, a proxy's words. None of them ever means
 * "no documents" (case C69).
 */
export function outcomeOfHttp(body: Uint8Array, http: HttpFacts): Pick<ReadAnswer, 'outcome' | 'statusText'> {
  const statusCode = `HTTP ${http?.status || 'unknown'}`;
  if (http?.status === 429) {
    const retryAfterMs = retryAfter(http.headers);
    return { outcome: { kind: 'throttled', statusCode, ultNsu: null, retryAfterMs }, statusText: 'Too Many Requests' };
  }
  if (http && CERTIFICATE_HTTP.has(http.status)) {
    return { outcome: { kind: 'certificate_refused', statusCode }, statusText: 'the certificate was not accepted' };
  }
  const reason = body.length === 0 ? 'an empty answer' : 'an answer that is not the service’s';
  const outcome: Outcome = { kind: 'unreadable', statusCode, reason };
  return { outcome, statusText: body.length === 0 ? reason : `${reason}: ${beginning(body)}` };
}

/** Seconds, or a date, which is compared with the sender's own clock where it tells it. Null: nothing that can be read. */
function retryAfter(headers: Readonly<Record<string, string>>): number | null {
  const written = headers['retry-after']?.trim() ?? '';
  if (/^[0-9]{1,9}$/.test(written)) return Math.min(Number(written) * 1_000, LONGEST_RETRY_AFTER_MS);
  const until = written === '' ? Number.NaN : Date.parse(written);
  if (Number.isNaN(until)) return null;
  const sent = Date.parse(headers.date ?? '');
  return Math.min(Math.max(until - (Number.isNaN(sent) ? Date.now() : sent), 0), LONGEST_RETRY_AFTER_MS);
}

/** For the call log: enough to see whose page it is. */
function beginning(body: Uint8Array): string {
  const text = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, 2_000)).toString('latin1');
  return text
    .replace(/<[^>]*>/g, ' ')
    .replace(/[^\x20-\x7e]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 200);
}
