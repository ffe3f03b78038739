import type { DocumentKind } from '../model/document.js';
import { NoPdf, PdfFailed, type PdfFailure } from './errors.js';
import { printPdf } from './print.js';
import type { PdfRequest } from './request.js';

/** What a thread answers. Errors lose their class on the way between threads, so they go as data. */
export type ThreadAnswer =
  | { readonly pdf: Uint8Array }
  | { readonly noPdf: DocumentKind; readonly message: string }
  | { readonly failure: PdfFailure; readonly message: string };

/** Entry point of the worker threads. */
export async function answer(request: PdfRequest): Promise<ThreadAnswer> {
  try {
    return { pdf: await printPdf(request) };
  } catch (error) {
    if (error instanceof NoPdf) return { noPdf: error.kind, message: error.message };
    if (error instanceof PdfFailed) return { failure: error.failure, message: error.message };
    throw error;
  }
}
