import type { CaptureKey } from './words.js';

/** What the manifestation workflow and its activities say to each other. Ids, codes, instants and counts only. */

/** What one request made, and what is left. */
export interface SendResult {
  /** Events in the request; 0: none was made. */
  readonly sent: number;
  readonly registered: number;
  readonly rejected: number;
  /** Status of the request as a whole; null: it was not answered, or none was made. */
  readonly statusCode: string | null;
  /** Why nothing was sent although something is due. */
  readonly obstacle: 'certificate_missing' | 'certificate_expired' | 'certificate_not_yet_valid' | null;
  readonly pending: number;
  /** When the next is due; null: nothing is pending. Milliseconds. */
  readonly nextDueAt: number | null;
}

/** A manifestation asked for by signal. Its key stands in the workflow's history: nothing else personal may. */
export interface RequestedManifestation {
  readonly key: string;
  /** tpEvento. */
  readonly type: string;
}

/** Queue of the document type. */
export interface ManifestationActivities {
  /** Sends what is due, in one request at most: archived, judged and committed. */
  sendManifestations(input: { capture: CaptureKey }): Promise<SendResult>;
}

/** Queue `background`. */
export interface ManifestationRowActivities {
  /** Writes requests that came by signal; what cannot be taken is logged and counted, because a signal has no answer. */
  recordManifestations(input: {
    capture: CaptureKey;
    requests: readonly RequestedManifestation[];
  }): Promise<{ taken: number; refused: number }>;
}
