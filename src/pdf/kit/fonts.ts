import Helvetica from 'pdfkit/standard-fonts/Helvetica';
import HelveticaBold from 'pdfkit/standard-fonts/HelveticaBold';
import TimesBold from 'pdfkit/standard-fonts/TimesBold';
import TimesRoman from 'pdfkit/standard-fonts/TimesRoman';
import { isGlyph, winAnsiByte } from './printable.js';

/**
 * Fonts that every PDF reader has: nothing to embed, and nobody's licence. Times is what the manual of the DANFE asks for ("Times New
 * Roman"), Helvetica has the widths of Arial, which the manual of the DANFSe asks for.
 */
export type Font = 'Times-Roman' | 'Times-Bold' | 'Helvetica' | 'Helvetica-Bold';

const METRICS: Readonly<Record<Font, Float64Array>> = {
  'Times-Roman': widthsByByte(TimesRoman.glyphWidths),
  'Times-Bold': widthsByByte(TimesBold.glyphWidths),
  Helvetica: widthsByByte(Helvetica.glyphWidths),
  'Helvetica-Bold': widthsByByte(HelveticaBold.glyphWidths),
};

const QUESTION_MARK = 0x3f;

/**
 * Width of a text in points. Without kerning: the texts are also drawn without, which is what makes a sum of widths exact.
 *
 * @param text in characters of WinAnsi (see printable.ts); any other counts as a question mark
 */
export function textWidth(text: string, font: Font, size: number): number {
  const widths = METRICS[font];
  let sum = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    sum += widths[code < 0x7f ? code : (winAnsiByte(code) ?? QUESTION_MARK)] ?? 0;
  }
  return (sum * size) / 1000;
}

/**
 * pdfkit has the widths in the order of the bytes, without the bytes that stand for nothing or for a second blank or hyphen, and with ÿ in
 * the place of Ÿ, which it does not know.
 */
function widthsByByte(glyphWidths: readonly number[]): Float64Array {
  const widths = new Float64Array(256);
  let glyph = 0;
  for (let byte = 0x20; byte < 0xff; byte++) {
    if (byte === 0x9f) widths[0xff] = glyphWidths[glyph++] ?? 0;
    else if (isGlyph(byte)) widths[byte] = glyphWidths[glyph++] ?? 0;
  }
  return widths;
}
