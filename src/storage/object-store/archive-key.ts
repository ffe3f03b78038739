import type { CaptureKey } from '../../model/words.js';

/**
 * Where the answer of a call stands: `{companyId}/{documentType}/{environment}/{yyyy}/{mm}/{dd}/{call}`, the day in UTC of
 * the call's start. Everything of a company is under its prefix, so that erasing it is deleting one prefix; and the key is
 * known before the call, so that a later attempt finds what an earlier one wrote.
 *
 * @param callId workflow run id and activity id, joined by ':'; that becomes '.', anything else unusual is escaped
 */
export function archiveKey(capture: CaptureKey, startedAt: number, callId: string): string {
  const day = new Date(startedAt).toISOString().slice(0, 10).replaceAll('-', '/');
  const call = callId.replace(/[^A-Za-z0-9_-]/g, (character) =>
    character === ':' ? '.' : `=${character.codePointAt(0)?.toString(16)}=`,
  );
  return `${companyPrefix(capture.companyId)}${capture.documentType}/${capture.environment}/${day}/${call}`;
}

/**
 * Where a document's PDF stands: `{companyId}/pdf/{yyyy}/{mm}/{document}.{madeOf}.pdf`, by the month of its capture. What it was made of is
 * part of the key: a PDF that is made again takes nobody's bytes away who reads the one before.
 */
export function pdfKey(
  { id, companyId, capturedAt }: { readonly id: string; readonly companyId: string; readonly capturedAt: number },
  madeOf: string,
): string {
  const month = new Date(capturedAt).toISOString().slice(0, 7).replace('-', '/');
  return `${companyPrefix(companyId)}pdf/${month}/${id}.${madeOf.slice(0, 16)}.pdf`;
}

/** The prefix of everything that the object store holds of a company. */
export function companyPrefix(companyId: string): string {
  return `${companyId}/`;
}
