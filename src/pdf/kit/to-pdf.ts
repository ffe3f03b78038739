import PDFDocument from 'pdfkit';
import { toBytes } from 'pdfkit/output';
import { instantOf } from '../../documents/instant.js';
import type { Font } from './fonts.js';
import { winAnsiByte } from './printable.js';
import type { Area, LineStyle, Mark, Sheet } from './sheet.js';

/** A finished layout. */
export interface Printout {
  readonly title: string;
  /** When the document was issued, RFC 3339: the PDF says it was made then. */
  readonly issued: string;
  readonly sheets: readonly Sheet[];
}

/**
 * Writes a layout as PDF. The same layout gives the same bytes, on any day and any machine.
 *
 * pdfkit keeps the file, its fonts and its compression. The content of a page is written here, as PDF operators: pdfkit's own `text()`
 * measures, kerns and breaks anew what the layout has already decided, and takes fifteen times as long over it.
 */
export async function toPdf({ title, issued, sheets }: Printout): Promise<Uint8Array> {
  const document = new PDFDocument({
    autoFirstPage: false,
    margin: 0,
    font: 'Times-Roman',
    lang: 'pt-BR',
    displayTitle: true,
    // The file's id is made of these, so they must be the same every time: never the time of printing.
    info: { Title: title, Producer: 'Malote', Creator: 'Malote', CreationDate: new Date(instantOf(issued) ?? 0) },
  });
  const bytes = toBytes(document);
  for (const sheet of sheets) {
    document.addPage({ size: [sheet.width, sheet.height], margin: 0 });
    const fonts = new PageFonts(document);
    document.addContent(sheet.marks.map((mark) => operators(mark, fonts)).join('\n'));
  }
  document.end();
  return bytes;
}

/** The names that a page has for the fonts used on it. */
class PageFonts {
  readonly #names = new Map<Font, string>();

  constructor(private readonly document: PDFKit.PDFDocument) {}

  nameOf(font: Font): string {
    let name = this.#names.get(font);
    if (name === undefined) {
      const { _font } = this.document.font(font) as unknown as { _font: { readonly id: string; ref(): unknown } };
      this.document.page.fonts[_font.id] = _font.ref();
      name = _font.id;
      this.#names.set(font, name);
    }
    return name;
  }
}

/** pdfkit turns the page's axes so that y points downwards, as in the layout; letters are turned back by the −1 of their matrix. */
function operators(mark: Mark, fonts: PageFonts): string {
  switch (mark.kind) {
    case 'text': {
      const radians = (mark.angle * Math.PI) / 180;
      const [cos, sin] = [exact(Math.cos(radians)), exact(Math.sin(radians))];
      const matrix = mark.angle === 0 ? '1 0 0 -1' : `${cos} ${exact(-sin)} ${exact(-sin)} ${exact(-cos)}`;
      const font = `/${fonts.nameOf(mark.font)} ${short(mark.size)} Tf`;
      const colour = mark.red ? '1 0 0 rg' : `${mark.grey} g`;
      return `BT ${colour} ${font} ${matrix} ${short(mark.x)} ${short(mark.y)} Tm (${literal(mark.text)}) Tj ET`;
    }
    case 'line': {
      const [[x1, y1], [x2, y2]] = [mark.from, mark.to];
      return `${pen(mark.style)} ${short(x1)} ${short(y1)} m ${short(x2)} ${short(y2)} l S`;
    }
    case 'box':
      return `${pen(mark.style)} ${rectangle(mark.area)} S`;
    case 'fill':
      return `${mark.grey} g ${mark.areas.map(rectangle).join(' ')} f`;
    case 'drawing': {
      const inside = mark.marks.map((inner) => operators(inner, fonts)).join('\n');
      const axes = mark.turned ? '0 -1 1 0' : '1 0 0 1';
      return `q ${axes} ${short(mark.at[0])} ${short(mark.at[1])} cm\n${inside}\nQ`;
    }
  }
}

function pen({ width = 0.5, grey = 0, dashed }: LineStyle): string {
  return `${width} w ${grey} G ${dashed ? '[2 2]' : '[]'} 0 d`;
}

function rectangle([x, y, width, height]: Area): string {
  return `${short(x)} ${short(y)} ${short(width)} ${short(height)} re`;
}

/** Thousandths of a point: far below what any printer shows, and barcodes keep their proportions. */
function short(points: number): number {
  return Math.round(points * 1000) / 1000;
}

function exact(factor: number): number {
  return Math.round(factor * 1e6) / 1e6;
}

/** Content of a PDF string: one byte a character, in WinAnsi. */
function literal(text: string): string {
  let bytes = '';
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    const byte = winAnsiByte(text.charCodeAt(at));
    if (character === '(' || character === ')' || character === '\\') bytes += `\\${character}`;
    else bytes += byte === null ? '?' : String.fromCharCode(byte);
  }
  return bytes;
}
