import type { DocumentKind } from '../model/document.js';

/** There is no printed form of this kind of document: summaries, unknown documents, events other than a correction letter. */
export class NoPdf extends Error {
  override readonly name = 'NoPdf';
  constructor(
    readonly kind: DocumentKind,
    message = `A document of kind ${kind} has no printed form`,
  ) {
    super(message);
  }
}

/**
 * - `unreadable`: the bytes are no XML document, or over a limit.
 * - `other_document`: it is XML, but not a document of the kind that was said.
 * - `contradiction`: its parts speak of different documents; a page would lie.
 * - `too_slow`: not done within the time limit.
 * - `internal`: a fault of ours.
 */
export type PdfFailure = 'unreadable' | 'other_document' | 'contradiction' | 'too_slow' | 'internal';

/** Too many requests wait for their PDF already: this one may come again in a while. */
export class PdfsBusy extends Error {
  override readonly name = 'PdfsBusy';
  constructor(waiting: number) {
    super(`${waiting} PDFs are waiting to be made already`);
  }
}

/** No PDF could be made. The message quotes nothing of the document. */
export class PdfFailed extends Error {
  override readonly name = 'PdfFailed';
  constructor(
    readonly failure: PdfFailure,
    message: string,
  ) {
    super(message);
  }
}
