import type { OutcomeKind } from './outcome.js';
import type { PointRefusal } from './point-query.js';
import type { CaptureKey } from './words.js';

/** Capture on demand: one NFS-e by its key, for whoever waits for the answer. Ids and codes only, but for the key that is asked for. */

export const ON_DEMAND_WORKFLOW = 'onDemand';

/** An NFS-e that is asked for by its key. */
export interface OnDemandInput {
  readonly capture: CaptureKey;
  readonly key: string;
}

/** What came of it. */
export type OnDemandResult =
  /** It is stored: before, or now. */
  | { readonly kind: 'document'; readonly documentId: string }
  /** The government has none for this company. */
  | { readonly kind: 'none'; readonly statusCode: string | null }
  | { readonly kind: 'refused'; readonly refusal: PointRefusal }
  /** Asked in vain. */
  | { readonly kind: 'failed'; readonly outcome: OutcomeKind; readonly statusCode: string | null };

/** Queue of the document type. */
export interface OnDemandActivities {
  captureOnDemand(input: OnDemandInput): Promise<OnDemandResult>;
}
