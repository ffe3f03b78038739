import type { PointRefusal } from '../model/point-query.js';
import { Problem } from './problem.js';
import { isoInstant } from './schemas/common.js';

/** Codes that {@link refusedAs} answers with. */
export const POINT_PROBLEMS = [
  'point_quota_exhausted',
  'capture_blocked',
  'capture_stopped',
  'capture_held',
  'capture_needs_operator',
  'certificate_missing',
  'certificate_expired',
  'certificate_not_yet_valid',
  'not_supported',
  'government_unavailable',
] as const;

/** Why no point query was made, as a problem. @param now milliseconds, by the clock that the refusal came from */
export function refusedAs(refusal: PointRefusal, now: number): Problem {
  switch (refusal.reason) {
    case 'quota':
      return retryable('point_quota_exhausted', "The hour's point queries are used up", refusal.until, now);
    case 'suspended':
      return retryable('point_quota_exhausted', 'The government suspended point queries (656)', refusal.until, now);
    case 'blocked':
      return retryable('capture_blocked', 'The government rejected a query of this tax ID', refusal.until, now);
    case 'paused':
      return retryable('government_unavailable', 'The service is shut down for everybody', refusal.until, now);
    case 'held': {
      const end = refusal.until === null ? 'until it is resumed' : `until ${isoInstant(refusal.until)}`;
      return new Problem('capture_held', `A person holds this capture ${end}`);
    }
    case 'certificate': {
      const { problem, until } = refusal;
      const from = until === null ? '' : `; it becomes valid at ${isoInstant(until)}`;
      return new Problem(`certificate_${problem}`, `The certificate is ${problem.replaceAll('_', ' ')}${from}`);
    }
    case 'database_behind':
      return new Problem(
        'capture_needs_operator',
        'The database is older than this capture: run malote verify --repair',
      );
    case 'disabled':
      return new Problem('capture_stopped', 'This capture is stopped, or disabled until it is resumed');
    case 'not_supported':
      return new Problem('not_supported', 'This document type cannot be asked for so');
  }
}

function retryable(
  code: 'point_quota_exhausted' | 'capture_blocked' | 'government_unavailable',
  what: string,
  until: number,
  now: number,
): Problem {
  return new Problem(code, `${what}: ask again at ${isoInstant(until)}`, { retryAfter: secondsUntil(until, now) });
}

/** Real seconds for `Retry-After`: whoever waits so long is not too early. */
export function secondsUntil(until: number, now: number): number {
  return Math.max(Math.ceil((until - now) / 1_000), 1);
}
