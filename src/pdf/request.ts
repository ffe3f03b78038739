import type { DocumentKind } from '../model/document.js';
import type { Situation } from './situation.js';

/** What a printed form is drawn from. */
export interface PdfRequest {
  readonly kind: DocumentKind;
  readonly xml: Uint8Array;
  readonly situation: Situation;
}

/**
 * Grows with every change of what is drawn, or how. A PDF in a cache belongs to the SHA-256 of its XML, this version, and the situation;
 * nothing else makes its bytes.
 */
export const PDF_LAYOUT_VERSION = 2;
