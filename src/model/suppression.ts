/** Why no webhook was sent of a document: `documents.suppressed` is a code of these, a colon, and words for people. */

/** Of documents that are stored and, besides, not listed: the customer chose not to have them, or not yet. */
export const UNLISTED = { issued: 'issued_not_captured', beforeCutoff: 'before_cutoff' } as const;

/** Somebody asked for it by key and got it as the answer. It is told of when it comes by distribution. */
export const ON_DEMAND = 'on_demand';

/** Somebody imported it without asking for webhooks. It is told of when it comes by distribution. */
export const IMPORTED = 'import';

const codeOf = (suppressed: string | null): string | null => suppressed?.split(':', 1)[0] ?? null;

/** Whether a document whose webhook was held back is left out of lists too. */
export function isUnlisted(suppressed: string | null): boolean {
  const codes: readonly (string | null)[] = Object.values(UNLISTED);
  return codes.includes(codeOf(suppressed));
}

/** Nobody was told of it only because of the way it came: as far as webhooks go it has not come yet. */
export function cameSilently(suppressed: string | null): boolean {
  const codes: readonly (string | null)[] = [ON_DEMAND, IMPORTED];
  return codes.includes(codeOf(suppressed));
}
