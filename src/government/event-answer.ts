import type { Outcome } from '../model/outcome.js';
import { parseServerTime } from './server-time.js';
import type { CallAnswer, ReadAnswer } from './types.js';
import type { XmlElement } from './xml-elements.js';

/** What the services that register events answer, whichever document type the events are about. */

/**
 * What a status means for its event. `registered_before`: the same event was registered already, by us in a call whose answer got lost or by
 * another program. `service_failed`, `misuse`, `certificate_refused`: nothing was said about the event itself.
 */
export type EventMeaning =
  | 'registered'
  | 'registered_late'
  | 'registered_before'
  | 'service_failed'
  | 'misuse'
  | 'certificate_refused'
  | 'rejected';

/** What was answered about one event. */
export interface EventResult {
  /** Id fields as answered; null where the answer does not name them (a rejection by schema need not). */
  readonly key: string | null;
  readonly type: string | null;
  readonly sequence: string | null;
  readonly statusCode: string;
  readonly meaning: EventMeaning;
  /** At most 500 characters. */
  readonly statusText: string;
  /** Given to the registered event; of one that was registered before only if the answer tells. */
  readonly protocol: string | null;
  /** When it was registered, milliseconds; null: not registered, or not told. */
  readonly registeredAt: number | null;
  /** What the registered event's own document takes from the answer. */
  readonly xml: string;
}

/** An answer about events, read. */
export interface ReadEventAnswer extends ReadAnswer {
  /** Outcome `documents` means that they tell about each event; else empty. */
  readonly results: readonly EventResult[];
}

/** How a call ended, and what was answered about each event. */
export type EventAnswer = CallAnswer & Pick<ReadEventAnswer, 'results'>;

/** 403: IIS got no certificate, or one that it does not trust (case C44). 495 and 496: the same said by nginx. */
const CERTIFICATE_HTTP: ReadonlySet<number> = new Set([403, 495, 496]);

/**
 * An answer that is not the service's.
 *
 * @param httpStatus null: not known any more
 */
export function notTheService(httpStatus: number | null, reason: string, text: string): ReadEventAnswer {
  const statusCode = `HTTP ${httpStatus ?? 'unknown'}`;
  const isCertificate = httpStatus !== null && CERTIFICATE_HTTP.has(httpStatus);
  return eventAnswer(
    isCertificate ? { kind: 'certificate_refused', statusCode } : { kind: 'unreadable', statusCode, reason },
    text,
  );
}

export function eventAnswer(
  outcome: Outcome,
  text: string,
  more: Partial<Pick<ReadEventAnswer, 'results' | 'warnings'>> = {},
): ReadEventAnswer {
  const statusText = shortened(outcome.kind === 'unreadable' ? outcome.reason : text);
  const results = outcome.kind === 'documents' ? (more.results ?? []) : [];
  return { outcome, results, items: [], statusText, serverTime: null, warnings: more.warnings ?? [] };
}

/** How the answers of a document type are to be read. */
export interface ResultReading {
  /** Element with the access key: `chNFe`, `chCTe`. */
  readonly key: string;
  readonly meaningOf: (statusCode: string) => EventMeaning;
}

/** Reads `retEvento` or its like: what its `infEvento` says. Null: it has no status. */
export function readEventResult(element: XmlElement, { key, meaningOf }: ResultReading): EventResult | null {
  const info = element.child('infEvento');
  const statusCode = info && textOf(info, 'cStat');
  if (!info || !statusCode) return null;
  const meaning = meaningOf(statusCode);
  const isNew = meaning === 'registered' || meaning === 'registered_late';
  return {
    key: textOf(info, key),
    type: textOf(info, 'tpEvento'),
    sequence: textOf(info, 'nSeqEvento'),
    statusCode,
    meaning,
    statusText: shortened(textOf(info, 'xMotivo') ?? ''),
    protocol: isNew ? textOf(info, 'nProt') : null,
    registeredAt: isNew ? parseServerTime(textOf(info, 'dhRegEvento')) : null,
    xml: withoutPrefixes(element.markup.trim()),
  };
}

/** A prefix would be declared outside of what is kept: then tags stand without it. Else the XML is as it was answered. */
const withoutPrefixes = (xml: string) => xml.replace(/<(\/?)[\w.-]+:/g, '<$1');

/** Null for an element that is absent or empty. */
export const textOf = (element: XmlElement, name: string) => element.child(name)?.text || null;
/** Text of the government as it is kept: one line, 500 characters. */
export const shortened = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, 500);
