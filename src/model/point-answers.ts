/**
 * Answers to a point query that are final: asking again brings the same. In words for whoever asked; the codes are those of
 * NT 2014.002 (cases C14, C21, C23, C24).
 */
const FINAL: Readonly<Record<string, string>> = {
  '137': 'No document of this company has this NSU: the number was never given, or its document is older than 90 days.',
  '217': 'The national environment does not know this key.',
  '236': 'The check digit of this key is wrong: compare it with the printed document.',
  '589': 'This NSU is above the highest one that exists for this company.',
  '614': 'This is no valid key: the code of its state does not exist.',
  '615': 'This is no valid key: its year is impossible.',
  '616': 'This is no valid key: its month is not 01 to 12.',
  '617': 'This is no valid key: the tax ID of its issuer is impossible.',
  '618': 'This key is not of an NF-e (model 55); other documents cannot be had by key.',
  '619': 'This is no valid key: its number is zero.',
  '632':
    'The document is older than 90 days: the national environment does not give it out any more. Ask the issuer for the file and import it.',
  '640':
    'This company is neither recipient nor carrier of the document, and the issuer has not named it in autXML: it may not have it.',
  '641': 'This company issued the document itself: issuers do not get their own from this service. Import the file.',
  '653': 'The document was cancelled: its file is not available any more.',
  '654': 'The document was denied: its file is not available.',
};

/** Whether asking again is of no use. */
export function isFinalAnswer(statusCode: string): boolean {
  return statusCode in FINAL;
}

/** One or two sentences for a user; null for a code that says nothing more than its text. */
export function explainAnswer(statusCode: string): string | null {
  return FINAL[statusCode] ?? null;
}
