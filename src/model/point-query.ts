import type { CaptureSnapshot } from './capture-state.js';
import type { Nsu } from './nsu.js';
import type { OutcomeKind } from './outcome.js';

/**
 * Point queries: one document outside the sequence, by NSU (`consNSU`) or by access key (`consChNFe`). They have a quota of their own,
 * count against nobody's cursor, and never move it.
 */

/** What is asked for. */
export type PointAsk = { readonly nsu: Nsu } | { readonly key: string };

/** Why no point query was made. Nothing was asked, nothing counts. Instants are milliseconds. */
export type PointRefusal =
  /** 20 documents, or 60 calls, in the last hour. `until`: the next free slot; it is kept for this question for a minute. */
  | { readonly reason: 'quota'; readonly until: number }
  /** A 656 suspended point queries. `until` as above. */
  | { readonly reason: 'suspended'; readonly until: number }
  /** A rejection blocks the tax ID. `until` as above. */
  | { readonly reason: 'blocked'; readonly until: number }
  | { readonly reason: 'paused'; readonly until: number; readonly spread: number }
  | { readonly reason: 'held'; readonly until: number | null }
  | {
      readonly reason: 'certificate';
      readonly problem: 'missing' | 'expired' | 'not_yet_valid';
      readonly until: number | null;
    }
  | { readonly reason: 'database_behind' }
  | { readonly reason: 'disabled' }
  /** This service cannot be asked so (CT-e by key). */
  | { readonly reason: 'not_supported' };

/** What came of a question. Ids and codes only: this can be read in the Temporal UI. */
export type PointAnswer =
  /** This company has the document already: nothing was asked, its webhook is sent again. */
  | { readonly kind: 'local'; readonly documentIds: readonly string[] }
  /** The government answered, or was asked in vain. `documentIds`: what came, known before or not. */
  | {
      readonly kind: 'asked';
      readonly outcome: OutcomeKind;
      readonly statusCode: string | null;
      readonly documentIds: readonly string[];
    }
  | { readonly kind: 'refused'; readonly refusal: PointRefusal };

/** As the activity tells the workflow. */
export type PointResult = PointAnswer & { readonly snapshot: CaptureSnapshot };

/** As above, for the recovery item that is due; or none was. */
export type RecoveryResult =
  | Exclude<PointResult, { kind: 'local' }>
  | { readonly kind: 'nothing_due'; readonly snapshot: CaptureSnapshot };

/** The arguments of updates `queryByNsu` and `queryByKey`. `requestId`: the row that the answer is written to. */
export interface NsuQuestion {
  readonly nsu: string;
  readonly requestId?: string;
}
/** A document that is asked for by its access key. */
export interface KeyQuestion {
  readonly key: string;
  readonly requestId?: string;
}

/** Types of the failures that refuse an update before it is queued. */
export const POINT_FAILURES = { busy: 'busy', malformed: 'malformed_question' } as const;

/** The form of an NF-e access key: 44 characters, letters only in the tax ID. Whether it is one, the government says. */
export function isKeyForm(key: string): boolean {
  return /^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/.test(key);
}
