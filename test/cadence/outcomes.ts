import { type CaptureState, initialState } from '../../src/model/capture-state.js';
import { type Nsu, parseNsu } from '../../src/model/nsu.js';
import type { Outcome } from '../../src/model/outcome.js';

/** Outcomes and states that the tests of every cadence begin with. */

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const AT = Date.UTC(2026, 10, 2, 13, 0, 0);

export const nsu = (n: number): Nsu => parseNsu(n);
const nsuOrNull = (n: number | null) => (n === null ? null : nsu(n));

export const documents = (ult: number, max: number): Outcome => ({
  kind: 'documents',
  statusCode: '138',
  ultNsu: nsu(ult),
  maxNsu: nsu(max),
  items: 50,
});
export const none = (ult: number | null, max = ult): Outcome => ({
  kind: 'none',
  statusCode: '137',
  ultNsu: nsuOrNull(ult),
  maxNsu: nsuOrNull(max),
});
export const throttled = (ult: number | null): Outcome => ({
  kind: 'throttled',
  statusCode: '656',
  ultNsu: nsuOrNull(ult),
  retryAfterMs: null,
});
export const unknown: Outcome = { kind: 'unknown', reason: 'time limit' };

/** A capture that has had a page. */
export const standing = (ult: number, max = ult): CaptureState => ({
  ...initialState(nsu(ult)),
  maxNsu: nsu(max),
  hasPage: true,
});
