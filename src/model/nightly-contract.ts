import type { CaptureKey } from './words.js';

/** What the nightly look over all captures and the decoding of an archive say between workflow and activity. */

export interface NightlyTotals {
  readonly captures: number;
  /** Ranges of numbers that nothing was known of. */
  readonly found: number;
  /** Items that rested since their last attempt in vain. */
  readonly reopened: number;
  /** Items that the government does not keep any more. */
  readonly expired: number;
}

/** Queue `background`. */
export interface NightlyActivities {
  /** Looks over the next captures after a key. `next` null: these were the last. */
  lookForGaps(input: { after: CaptureKey | null }): Promise<NightlyTotals & { next: CaptureKey | null }>;
}

/** Queue `background`. */
export interface ArchiveActivities {
  /** Decodes an archive again and writes what came of it to the request. `fresh`: documents that were not here. */
  decodeArchive(input: {
    capture: CaptureKey;
    archiveId: string;
    requestId: string;
  }): Promise<{ documents: number; fresh: number; failed: number }>;
}
