import { ZERO_NSU } from '../model/nsu.js';
import type { Outcome } from '../model/outcome.js';
import { parseServerTime } from './server-time.js';
import { readSoapAnswer } from './soap.js';
import type { ReadAnswer } from './types.js';
import type { XmlElement } from './xml-elements.js';

/** What was answered about one event (`retEvento`). */
export interface EventResult {
  /** Id fields as answered; null where the answer does not name them (a rejection by schema need not). */
  readonly key: string | null;
  readonly type: string | null;
  readonly sequence: string | null;
  readonly statusCode: string;
  /** xMotivo, at most 500 characters. */
  readonly statusText: string;
  /** nProt. */
  readonly protocol: string | null;
  /** dhRegEvento, milliseconds. */
  readonly registeredAt: number | null;
  /** Inner XML of `retEvento`, for the registered event's own document. */
  readonly xml: string;
}

export interface ReadEventAnswer extends ReadAnswer {
  readonly results: readonly EventResult[];
}

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
  if (!answer.ok) return nothing(notTheService(http?.status ?? null, answer.reason), answer.text);
  const { element, warnings } = answer;
  const results = element.children.filter(({ name }) => name === 'retEvento').flatMap(resultOf);
  const statusCode = textOf(element, 'cStat') ?? '';
  const outcome = outcomeOf(statusCode, results.length);
  return {
    outcome,
    results: outcome.kind === 'documents' ? results : [],
    items: [],
    statusText: shortened(outcome.kind === 'unreadable' ? outcome.reason : (textOf(element, 'xMotivo') ?? '')),
    serverTime: null,
    warnings,
  };
}

/** 403: IIS got no certificate, or one that it does not trust (case C44). 495 and 496: the same said by nginx. */
const CERTIFICATE_HTTP: ReadonlySet<number> = new Set([403, 495, 496]);

function notTheService(httpStatus: number | null, reason: string): Outcome {
  const statusCode = `HTTP ${httpStatus ?? 'unknown'}`;
  return httpStatus !== null && CERTIFICATE_HTTP.has(httpStatus)
    ? { kind: 'certificate_refused', statusCode }
    : { kind: 'unreadable', statusCode, reason };
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
      // 280 to 286: the certificate of the connection.
      return /^28[0-6]$/.test(statusCode)
        ? { kind: 'certificate_refused', statusCode }
        : { kind: 'rejected', statusCode };
  }
}

function resultOf(retEvento: XmlElement): EventResult[] {
  const info = retEvento.child('infEvento');
  const statusCode = info && textOf(info, 'cStat');
  if (!info || !statusCode) return [];
  return [
    {
      key: textOf(info, 'chNFe'),
      type: textOf(info, 'tpEvento'),
      sequence: textOf(info, 'nSeqEvento'),
      statusCode,
      statusText: shortened(textOf(info, 'xMotivo') ?? ''),
      protocol: textOf(info, 'nProt'),
      registeredAt: parseServerTime(textOf(info, 'dhRegEvento')),
      xml: withoutPrefixes(retEvento.markup.trim()),
    },
  ];
}

/** A prefix would be declared outside of what is kept: then tags stand without it. Else the XML is as it was answered. */
const withoutPrefixes = (xml: string) => xml.replace(/<(\/?)[\w.-]+:/g, '<$1');

const nothing = (outcome: Outcome, text: string): ReadEventAnswer => ({
  outcome,
  results: [],
  items: [],
  statusText: shortened(text),
  serverTime: null,
  warnings: [],
});

const textOf = (element: XmlElement, name: string) => element.child(name)?.text || null;
const shortened = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, 500);
