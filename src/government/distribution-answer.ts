import type { PageItem } from '../model/document.js';
import { maxNsu, type Nsu, tryParseNsu, ZERO_NSU } from '../model/nsu.js';
import type { Outcome } from '../model/outcome.js';
import type { DistributionQuery } from './distribution-request.js';
import { readDocZips } from './doc-zips.js';
import { parseServerTime } from './server-time.js';
import { readSoapAnswer } from './soap.js';
import type { ReadAnswer } from './types.js';
import type { XmlElement } from './xml-elements.js';

/** What is known of an answer besides its bytes. */
export interface AnswerContext {
  /** Null when an answer is read again from its archive and this was not kept. */
  readonly contentType: string | null;
  readonly httpStatus: number | null;
  readonly query: DistributionQuery;
}

/**
 * Reads an answer of the service, or what came in its place. Pure, so archives are read again with it. Never throws.
 *
 * An answer of the service counts whatever the HTTP status is. For point queries ultNSU and maxNSU are never given on (zero with documents,
 * else null), because they are no cursor.
 */
export function readDistributionAnswer(bytes: Uint8Array, context: AnswerContext): ReadAnswer {
  const answer = readSoapAnswer(bytes, context.contentType, 'retDistDFeInt');
  if (!answer.ok) return notTheService(answer.reason, answer.text, context.httpStatus);
  const { element } = answer;
  const docZips = readDocZips(element, bytes);
  const warnings = [...answer.warnings, ...docZips.warnings];
  const outcome = outcomeOf(element, docZips.items, context.query, warnings);
  return {
    outcome,
    items: outcome.kind === 'documents' ? docZips.items : [],
    statusText: shortened(outcome.kind === 'unreadable' ? outcome.reason : (fieldOf(element, 'xMotivo') ?? '')),
    serverTime: parseServerTime(fieldOf(element, 'dhResp')),
    warnings,
  };
}

/** 403: IIS got no certificate, or one that it does not trust (case C44). 495 and 496: the same said by nginx. */
const CERTIFICATE_HTTP: ReadonlySet<number> = new Set([403, 495, 496]);

function notTheService(reason: string, text: string, httpStatus: number | null): ReadAnswer {
  const statusCode = `HTTP ${httpStatus ?? 'unknown'}`;
  return {
    outcome:
      httpStatus !== null && CERTIFICATE_HTTP.has(httpStatus)
        ? { kind: 'certificate_refused', statusCode }
        : { kind: 'unreadable', statusCode, reason },
    items: [],
    statusText: shortened(text),
    serverTime: null,
    warnings: [],
  };
}

/**
 * Statuses that say that this certificate may not ask for this tax ID. 472, 473 and 593 are among them: like the others they end when a
 * right certificate is stored, and asking again before is of no use (case C18).
 */
const CERTIFICATE_STATUS: ReadonlySet<string> = new Set('280 281 282 283 284 285 286 472 473 593'.split(' '));

function outcomeOf(
  answer: XmlElement,
  items: readonly PageItem[],
  query: DistributionQuery,
  warnings: string[],
): Outcome {
  const statusCode = fieldOf(answer, 'cStat') ?? '';
  // Three digits today, four announced (NT 2025.002).
  if (!/^[0-9]{3,4}$/.test(statusCode))
    return { kind: 'unreadable', statusCode: 'none', reason: 'retDistDFeInt without cStat' };
  const pointer = 'distNSU' in query ? pointerOf(answer, warnings) : { ultNsu: null, maxNsu: null };
  switch (statusCode) {
    case '138':
      return documents(items, query, pointer, warnings);
    case '137':
      return { kind: 'none', statusCode, ...pointer };
    case '108':
    case '109':
      return { kind: 'paused', statusCode };
    case '656':
      return { kind: 'throttled', statusCode, ultNsu: pointer.ultNsu, retryAfterMs: null };
    case '999':
      // "Not catalogued": a fault inside the service, to be asked again like one (nfe-cte.md 1a).
      return { kind: 'unreadable', statusCode, reason: 'fault inside the service (999)' };
    default:
      return CERTIFICATE_STATUS.has(statusCode)
        ? { kind: 'certificate_refused', statusCode }
        : { kind: 'rejected', statusCode };
  }
}

interface Pointer {
  readonly ultNsu: Nsu | null;
  readonly maxNsu: Nsu | null;
}

/** ultNSU and maxNSU as given; maxNSU is raised to ultNSU, which is not above it but in faulty answers (case C11). */
function pointerOf(answer: XmlElement, warnings: string[]): Pointer {
  const ultNsu = tryParseNsu(fieldOf(answer, 'ultNSU'));
  const highest = tryParseNsu(fieldOf(answer, 'maxNSU'));
  if (ultNsu === null || highest === null || highest >= ultNsu) return { ultNsu, maxNsu: highest };
  if (highest !== ZERO_NSU) warnings.push('ultNSU above maxNSU');
  return { ultNsu, maxNsu: ultNsu };
}

/** A page that says "documents" and has none, or does not say how far it goes, is not believed: the cursor must not pass what did not come. */
function documents(
  items: readonly PageItem[],
  query: DistributionQuery,
  pointer: Pointer,
  warnings: string[],
): Outcome {
  const statusCode = '138';
  if (items.length === 0 && !standsStill(query, pointer))
    return { kind: 'unreadable', statusCode, reason: '138 without documents' };
  if (!('distNSU' in query))
    return { kind: 'documents', statusCode, ultNsu: ZERO_NSU, maxNsu: ZERO_NSU, items: items.length };
  const ultNsu = pointer.ultNsu ?? highestOf(items);
  if (ultNsu === null) return { kind: 'unreadable', statusCode, reason: '138 without any NSU' };
  if (pointer.ultNsu === null) warnings.push('no ultNSU: the highest NSU of the page taken');
  if (ultNsu < query.distNSU) warnings.push('ultNSU below the one asked from');
  return {
    kind: 'documents',
    statusCode,
    ultNsu,
    maxNsu: maxNsu(ultNsu, pointer.maxNsu ?? ZERO_NSU),
    items: items.length,
  };
}

/** An empty page that goes nowhere passes nothing, and says that nothing follows (case C08): it is believed. */
function standsStill(query: DistributionQuery, { ultNsu }: Pointer): boolean {
  return 'distNSU' in query && ultNsu !== null && ultNsu <= query.distNSU;
}

function highestOf(items: readonly PageItem[]): Nsu | null {
  return items.map((item) => tryParseNsu(item.nsu)).reduce((a, b) => (a && b ? maxNsu(a, b) : (a ?? b)), null);
}

function fieldOf(answer: XmlElement, name: string): string | null {
  return answer.child(name)?.text || null;
}

const shortened = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, 500);
