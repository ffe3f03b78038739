/** PDFs of fiscal documents. docs/pdf.md says what is printed and why. */
export { NoPdf, PdfFailed } from './errors.js';
export { closePdfThreads, renderPdf } from './render.js';
export { PDF_LAYOUT_VERSION, type PdfRequest } from './request.js';
export type { Situation } from './situation.js';
