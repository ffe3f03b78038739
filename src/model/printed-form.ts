import type { DocumentKind } from './document.js';

/** Kinds with a printed form that an official manual describes: DANFE, DACTE, DANFSe. */
const PRINTED: ReadonlySet<DocumentKind> = new Set(['procNFe', 'procCTe', 'procCTeOS', 'procCTeSimp', 'NFSe']);

/** Events that have a page of their own: correction letters. */
const CORRECTION_LETTER = '110110';
const WITH_CORRECTION_LETTERS: ReadonlySet<DocumentKind> = new Set(['procEventoNFe', 'procEventoCTe']);

/**
 * Whether there is a PDF of such a document. What a document really is only its XML tells, so making one may still end in `NoPdf`.
 *
 * @param eventType tpEvento; null for what is no event
 */
export function hasPrintedForm(kind: DocumentKind, eventType: string | null): boolean {
  return PRINTED.has(kind) || (WITH_CORRECTION_LETTERS.has(kind) && eventType === CORRECTION_LETTER);
}
