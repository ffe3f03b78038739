import type { DocumentType } from './words.js';

/**
 * How NSUs that did not come are asked for again. `point`: each by a query of its own, under the quota of point queries. `pass`: all
 * together, by going over the numbers once more from before the first of them, because the ADN skips numbers and rations nothing but speed.
 */
export type RecoveryMeans = 'point' | 'pass';

/** How each document type gets the numbers that did not come. */
export const RECOVERY_MEANS: Readonly<Record<DocumentType, RecoveryMeans>> = {
  nfe: 'point',
  cte: 'point',
  nfse: 'pass',
};

/** What stands of numbers that should exist and did not come. */
export const GAP_STATUSES = [
  'pending',
  'recovered',
  'nonexistent',
  'exhausted',
  'expired',
  'before_onboarding',
  'awaiting_confirmation',
] as const;

/**
 * How it was seen that they did not. `page`, `jump`, `lost_page`, `first_page`: found by a page's transaction. `failed_item`: came, but
 * broken. `nightly`: found by the nightly look. `cursor`: an administrator's cursor passed it. `restored`: found by `malote verify --repair`.
 */
export const GAP_CAUSES = [
  'page',
  'jump',
  'lost_page',
  'failed_item',
  'first_page',
  'nightly',
  'cursor',
  'restored',
] as const;
export type GapCause = (typeof GAP_CAUSES)[number];
