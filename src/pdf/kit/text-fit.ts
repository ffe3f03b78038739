import { type Font, textWidth } from './fonts.js';

/** Text broken into lines of a size that fits. */
export interface Fitted {
  readonly lines: readonly string[];
  readonly size: number;
}

/** Steps in which a text shrinks. */
const STEP = 0.5;

/**
 * One line in the largest size that fits; when even the smallest does not, as many lines of that size as it takes. Nothing is cut off.
 */
export function fit(text: string, font: Font, largest: number, smallest: number, width: number): Fitted {
  if (text === '') return { lines: [], size: smallest };
  const needed = textWidth(text, font, 1);
  for (let size = largest; size > smallest; size -= STEP) {
    if (needed * size <= width) return { lines: [text], size };
  }
  return { lines: wrap(text, font, smallest, width), size: smallest };
}

/**
 * Breaks a text at blanks into lines no wider than `width` points; a word that is wider is broken between two characters. An empty text
 * is no line.
 */
export function wrap(text: string, font: Font, size: number, width: number): string[] {
  const lines: string[] = [];
  const blank = textWidth(' ', font, size);
  let line = '';
  let used = 0;
  for (const word of text.split(' ')) {
    if (word === '') continue;
    let rest = word;
    let length = textWidth(rest, font, size);
    if (line !== '' && used + blank + length <= width) {
      line += ` ${rest}`;
      used += blank + length;
      continue;
    }
    if (line !== '') lines.push(line);
    while (length > width && rest.length > 1) {
      const fitting = fittingLength(rest, font, size, width);
      lines.push(rest.slice(0, fitting));
      rest = rest.slice(fitting);
      length = textWidth(rest, font, size);
    }
    line = rest;
    used = length;
  }
  if (line !== '') lines.push(line);
  return lines;
}

/** What of a text that should be short fits in one line: for numbers, of which a document may say anything. */
export function firstLine(text: string, font: Font, size: number, width: number): string {
  return textWidth(text, font, size) <= width ? text : (wrap(text, font, size, width)[0] ?? '');
}

/** {@link wrap} for several paragraphs. */
export function wrapAll(paragraphs: readonly string[], font: Font, size: number, width: number): string[] {
  return paragraphs.flatMap((paragraph) => wrap(paragraph, font, size, width));
}

/** The paragraphs without what the first lines of {@link wrapAll} say: what goes on elsewhere, where lines may have another width. */
export function restOf(paragraphs: readonly string[], lines: readonly string[]): string[] {
  let said = lines.reduce((sum, line) => sum + letters(line), 0);
  return paragraphs.flatMap((paragraph) => {
    let at = 0;
    for (; at < paragraph.length && said > 0; at++) if (paragraph.charAt(at) !== ' ') said--;
    const rest = paragraph.slice(at).trim();
    return rest === '' ? [] : [rest];
  });
}

/** Without blanks, of which wrapping drops some. */
function letters(line: string): number {
  return line.length - (line.split(' ').length - 1);
}

/** How many characters of a word fit; at least one, or nothing would ever be done. */
function fittingLength(word: string, font: Font, size: number, width: number): number {
  let used = 0;
  for (let at = 0; at < word.length; at++) {
    used += textWidth(word.charAt(at), font, size);
    if (used > width) return Math.max(1, at);
  }
  return word.length;
}
