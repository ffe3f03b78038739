import type { Nsu } from './nsu.js';

/**
 * How a government call ended. A closed set: whatever the government does is data, and only our own bugs and services throw
 * (design.md section 2, rule 8).
 */
export type Outcome =
  /** 138: documents came. `ultNsu` is the last number searched, `maxNsu` the highest that exists. */
  | {
      readonly kind: 'documents';
      readonly statusCode: string;
      readonly ultNsu: Nsu;
      readonly maxNsu: Nsu;
      /** Items in the page, readable or not. */
      readonly items: number;
    }
  /** 137: nothing after the NSU asked from. Services may still move the pointer. */
  | { readonly kind: 'none'; readonly statusCode: string; readonly ultNsu: Nsu | null; readonly maxNsu: Nsu | null }
  /** Any other status of the service itself, 589 among them. Never carries a usable maxNSU. */
  | { readonly kind: 'rejected'; readonly statusCode: string }
  /** 108 or 109: the service is shut down for everybody. */
  | { readonly kind: 'paused'; readonly statusCode: string }
  /** 656 ("consumo indevido"), with the pointer that the server keeps where it tells; or HTTP 429 with its Retry-After in milliseconds. */
  | {
      readonly kind: 'throttled';
      readonly statusCode: string;
      readonly ultNsu: Nsu | null;
      readonly retryAfterMs: number | null;
    }
  /** The service or its front refused our certificate: TLS alert, HTTP 403 or 496, cStat 280 to 286, 472, 473, 593. */
  | { readonly kind: 'certificate_refused'; readonly statusCode: string }
  /** Something came that the service itself did not write or we cannot read: 5xx, SOAP fault, HTML; empty, cut, too large, not decodable. */
  | { readonly kind: 'unreadable'; readonly statusCode: string; readonly reason: string }
  /** Nothing left this machine: DNS, connect or TLS failed. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  /** The request was, or may have been, sent and no answer came: time-out, reset, or our process died. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Reasons of a call that was not made because those before it failed in a row, with its certificate or all of them: it counts as nothing. */
export const HELD_BACK = 'too many failures in a row: nothing is sent for a minute';
export const ALL_HELD_BACK = 'too many failures in a row of all companies: nothing is sent for a minute';
/** The minute in that, before the time scale. */
export const HELD_BACK_MS = 60_000;

export function isHeldBack(outcome: Outcome): boolean {
  return outcome.kind === 'not_sent' && (outcome.reason === HELD_BACK || outcome.reason === ALL_HELD_BACK);
}

export type OutcomeKind = Outcome['kind'];

/** Outcomes that are an answer of the service itself: they end a row of failures. */
export const ANSWERED: ReadonlySet<OutcomeKind> = new Set([
  'documents',
  'none',
  'rejected',
  'paused',
  'throttled',
  'certificate_refused',
]);
