/** PDFs of fiscal documents. docs/pdf.md says what is printed and why. */
export { DocumentPdfs } from './document-pdfs.js';
export { NoPdf, PdfFailed, type PdfFailure, PdfsBusy } from './errors.js';
export { closePdfThreads, renderPdf } from './render.js';
export { PDF_LAYOUT_VERSION, type PdfRequest } from './request.js';
export type { Situation } from './situation.js';
export { situationOf } from './situation-of.js';
