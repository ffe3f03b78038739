import { ZERO_NSU } from '../model/nsu.js';
import type { Outcome } from '../model/outcome.js';
import {
  type EventMeaning,
  type EventResult,
  eventAnswer,
  notTheService,
  type ReadEventAnswer,
  readEventResult,
} from './event-answer.js';
import { parseServerTime } from './server-time.js';
import { readSoapAnswer } from './soap.js';

/** MOC CT-e 4.00: registered with a warning about the document, registered, registered without a link; there already; misuse. */
const MEANINGS: Readonly<Record<string, EventMeaning>> = {
  '134': 'registered',
  '135': 'registered',
  '136': 'registered',
  '631': 'registered_before',
  '108': 'service_failed',
  '109': 'service_failed',
  '999': 'service_failed',
  '678': 'misuse',
};

const meaningOf = (statusCode: string): EventMeaning =>
  MEANINGS[statusCode] ?? (/^28[0-6]$/.test(statusCode) ? 'certificate_refused' : 'rejected');

/**
 * Reads an answer of CTeRecepcaoEvento, or what came in its place: `retEventoCTe` wherever it stands. A request holds one event, so its one
 * status is the request's and the event's. Pure, so archives are read again with it. Never throws.
 *
 * @param http null when an answer is read again from its archive
 */
export function readCteEventAnswer(
  bytes: Uint8Array,
  http: { readonly contentType: string | null; readonly status: number } | null,
): ReadEventAnswer {
  const answer = readSoapAnswer(bytes, http?.contentType ?? null, 'retEventoCTe');
  if (!answer.ok) return notTheService(http?.status ?? null, answer.reason, answer.text);
  const { element, warnings } = answer;
  const result = readEventResult(element, { key: 'chCTe', meaningOf });
  if (!result || !/^[0-9]{3,4}$/.test(result.statusCode)) {
    return eventAnswer({ kind: 'unreadable', statusCode: 'none', reason: 'retEventoCTe without cStat' }, '', {
      warnings,
    });
  }
  return eventAnswer(outcomeOf(result), result.statusText, { results: [withProtocolBefore(result)], warnings });
}

function outcomeOf({ statusCode, meaning }: EventResult): Outcome {
  switch (meaning) {
    case 'service_failed':
      return statusCode === '999'
        ? { kind: 'unreadable', statusCode, reason: 'fault inside the service (999)' }
        : { kind: 'paused', statusCode };
    case 'misuse':
      return { kind: 'throttled', statusCode, ultNsu: null, retryAfterMs: null };
    case 'certificate_refused':
      return { kind: 'certificate_refused', statusCode };
    default:
      return { kind: 'documents', statusCode, ultNsu: ZERO_NSU, maxNsu: ZERO_NSU, items: 1 };
  }
}

/** 631 tells of the event that is there: "Duplicidade de evento[nProt:135…][dhRegEvento:2026-11-30T09:00:02-03:00]". */
function withProtocolBefore(result: EventResult): EventResult {
  if (result.meaning !== 'registered_before') return result;
  const { statusText } = result;
  return {
    ...result,
    protocol: /\[\s*nProt\s*:\s*([0-9]{15,17})\s*\]/i.exec(statusText)?.[1] ?? null,
    registeredAt: parseServerTime(/\[\s*dhRegEvento\s*:\s*([^\]\s]+)\s*\]/i.exec(statusText)?.[1] ?? null),
  };
}
