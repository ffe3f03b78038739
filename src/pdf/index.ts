/** PDFs of fiscal documents. docs/pdf.md says what is printed and why. */
export { NoPdf, PdfFailed, type PdfFailure } from './errors.js';
export { PDF_LAYOUT_VERSION, type PdfRequest } from './print.js';
export { closePdfThreads, renderPdf } from './render.js';
export type { Situation } from './situation.js';
