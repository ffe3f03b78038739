import { ZERO_NSU } from '../model/nsu.js';
import type { Outcome } from '../model/outcome.js';
import {
  type EventMeaning,
  eventAnswer,
  notTheService,
  type ReadEventAnswer,
  readEventResult,
  textOf,
} from './event-answer.js';
import { readSoapAnswer } from './soap.js';

/** Registered and linked; registered without a link (C60); registered late; there already (C53, C59). */
const MEANINGS: Readonly<Record<string, EventMeaning>> = {
  '135': 'registered',
  '136': 'registered',
  '155': 'registered_late',
  '573': 'registered_before',
  '108': 'service_failed',
  '109': 'service_failed',
  '999': 'service_failed',
  '656': 'misuse',
};
/** About the connection's certificate. */
const CONNECTION_CERTIFICATE = /^28[0-6]$/;

const meaningOf = (statusCode: string): EventMeaning =>
  MEANINGS[statusCode] ?? (CONNECTION_CERTIFICATE.test(statusCode) ? 'certificate_refused' : 'rejected');

/**
 * Reads an answer of NFeRecepcaoEvento4, or what came in its place: `retEnvEvento` wherever it stands (the AN wraps it in
 * nfeRecepcaoEventoNFResult, others in nfeResultMsg). Pure, so archives are read again with it. Never throws.
 *
 * 128 says only that the request was processed: outcome `documents` means that `results` tell about each event.
 *
 * @param http null when an answer is read again from its archive
 */
export function readEventAnswer(
  bytes: Uint8Array,
  http: { readonly contentType: string | null; readonly status: number } | null,
): ReadEventAnswer {
  const answer = readSoapAnswer(bytes, http?.contentType ?? null, 'retEnvEvento');
  if (!answer.ok) return notTheService(http?.status ?? null, answer.reason, answer.text);
  const { element, warnings } = answer;
  const results = element.children
    .filter(({ name }) => name === 'retEvento')
    .map((each) => readEventResult(each, { key: 'chNFe', meaningOf }))
    .filter((result) => result !== null);
  const outcome = outcomeOf(textOf(element, 'cStat') ?? '', results.length);
  return eventAnswer(outcome, textOf(element, 'xMotivo') ?? '', { results, warnings });
}

function outcomeOf(statusCode: string, results: number): Outcome {
  if (!/^[0-9]{3,4}$/.test(statusCode)) {
    return { kind: 'unreadable', statusCode: 'none', reason: 'retEnvEvento without cStat' };
  }
  switch (statusCode) {
    case '128':
      return results === 0
        ? { kind: 'unreadable', statusCode, reason: '128 without any event' }
        : { kind: 'documents', statusCode, ultNsu: ZERO_NSU, maxNsu: ZERO_NSU, items: results };
    case '108':
    case '109':
      return { kind: 'paused', statusCode };
    case '656':
      return { kind: 'throttled', statusCode, ultNsu: null, retryAfterMs: null };
    case '999':
      return { kind: 'unreadable', statusCode, reason: 'fault inside the service (999)' };
    default:
      return CONNECTION_CERTIFICATE.test(statusCode)
        ? { kind: 'certificate_refused', statusCode }
        : { kind: 'rejected', statusCode };
  }
}
