import type { DocumentKind } from '../model/document.js';
import { correctionLetterOf } from './correction-letter/correction-letter.js';
import { CTE_LETTER, NFE_LETTER } from './correction-letter/letter.js';
import { dacte } from './dacte/dacte.js';
import { danfe } from './danfe/danfe.js';
import { danfeNfce, isConsumerNote } from './danfe-nfce/danfe-nfce.js';
import { danfse } from './danfse/danfse.js';
import { NoPdf, PdfFailed } from './errors.js';
import { type Printout, toPdf } from './kit/to-pdf.js';
import { readXml, type XmlNode } from './kit/xml-node.js';
import type { PdfRequest } from './request.js';
import type { Situation } from './situation.js';

/** From the root element to a layout. */
type Printer = (root: XmlNode, situation: Situation) => Printout;

/** Documents that have a printed form. Of the events, correction letters are the only ones. */
const PRINTERS: ReadonlyMap<DocumentKind, Printer> = new Map<DocumentKind, Printer>([
  ['procNFe', (root, situation) => (isConsumerNote(root) ? danfeNfce : danfe)(root, situation)],
  ['procEventoNFe', correctionLetterOf(NFE_LETTER)],
  ['procCTe', dacte],
  ['procCTeOS', dacte],
  ['procCTeSimp', dacte],
  ['procEventoCTe', correctionLetterOf(CTE_LETTER)],
  ['NFSe', danfse],
]);

/**
 * Makes a PDF in this thread. 990 items keep it busy for a good part of a second: services call `renderPdf`.
 *
 * @throws {NoPdf}
 * @throws {PdfFailed}
 */
export async function printPdf(request: PdfRequest): Promise<Uint8Array> {
  try {
    return await toPdf(layOut(request));
  } catch (error) {
    if (error instanceof NoPdf || error instanceof PdfFailed) throw error;
    // Only the kind of an unforeseen error: its message could quote the document.
    throw new PdfFailed(
      'internal',
      `The page could not be laid out (${error instanceof Error ? error.name : typeof error})`,
    );
  }
}

/**
 * What is on which place of which sheet.
 *
 * @throws {NoPdf}
 * @throws {PdfFailed}
 */
export function layOut({ kind, xml, situation }: PdfRequest): Printout {
  const printer = PRINTERS.get(kind);
  if (printer === undefined) throw new NoPdf(kind);
  return printer(readXml(xml), situation);
}
