import { hasPrintedForm } from '../../model/printed-form.js';
import { NoPdf, PdfFailed, type PdfRequest, situationOf } from '../../pdf/index.js';
import type { Queryable } from '../../storage/database.js';
import type { DocumentRow } from '../../storage/documents.js';

/** Draws a printed form, on whatever thread. */
export type RenderPdf = (request: PdfRequest) => Promise<Uint8Array>;

/** The PDF of one document, or why it has none. */
export type Printed =
  | { readonly pdf: Uint8Array }
  /** There is none of this kind of document. */
  | { readonly remark: string }
  | { readonly problem: string };

const NONE = { remark: 'sem PDF para este tipo' } as const;

/** The PDF of a document as it has to be now: of one that was cancelled meanwhile, with that mark. */
export async function printDocument(
  db: Queryable,
  render: RenderPdf,
  document: DocumentRow,
  xml: Uint8Array,
): Promise<Printed> {
  const { kind, eventType } = document;
  if (!hasPrintedForm(kind, eventType)) return NONE;
  try {
    return { pdf: await render({ kind, xml, situation: await situationOf(db, document) }) };
  } catch (error) {
    if (error instanceof NoPdf) return NONE;
    if (error instanceof PdfFailed) return { problem: `PDF não pôde ser feito (${error.failure})` };
    throw error;
  }
}
