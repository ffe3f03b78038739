import type { DocumentType } from './words.js';

/**
 * How NSUs that did not come are asked for again. `point`: each by a query of its own, under the quota of point queries. `pass`: all
 * together, by going over the numbers once more from before the first of them, because the ADN skips numbers and rations nothing but speed.
 */
export type RecoveryMeans = 'point' | 'pass';

export const RECOVERY_MEANS: Readonly<Record<DocumentType, RecoveryMeans>> = {
  nfe: 'point',
  cte: 'point',
  nfse: 'pass',
};
