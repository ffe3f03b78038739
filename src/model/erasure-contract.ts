/** What the deletion of a company says between workflow and activity. Queue `background`. */
export interface ErasureActivities {
  /** Does the next part, for about half a minute. A repeat goes on where the last one stopped. */
  eraseCompany(input: { companyId: string }): Promise<ErasureStep>;
}

/** What one step of a deletion did, and what comes next. */
export type ErasureStep =
  /** Nothing to do before an instant (milliseconds): the grace lasts, or a government call is in the air. */
  | { readonly kind: 'waits'; readonly until: number; readonly why: 'grace' | 'calls' }
  /** So much is deleted so far. */
  | { readonly kind: 'goes_on'; readonly rows: number; readonly objects: number }
  /** Done, or taken back. */
  | { readonly kind: 'over' };
