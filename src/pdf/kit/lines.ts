import { drawLines, heightOf, LEADING } from './fields.js';
import type { Piece, Section } from './flow.js';
import { type Font, textWidth } from './fonts.js';
import type { Align } from './sheet.js';
import { wrap, wrapAll } from './text-fit.js';

/** Pieces of running text, without boxes. */

export interface LineStyle {
  readonly font: Font;
  readonly size: number;
  readonly align?: Align;
}

/** Paragraphs, each line a piece of its own, so that a sheet may end between any two. */
export function textLines(paragraphs: readonly string[], width: number, style: LineStyle): Piece[] {
  return wrapAll(paragraphs, style.font, style.size, width).map((line) => ({
    height: style.size * LEADING,
    draw: (sheet, x, y) => drawLines(sheet, { lines: [line], size: style.size }, style.font, x, y, width, style.align),
  }));
}

const PADDING = 3;

/** A box of running text that goes on over as many sheets as it takes. `titleOf` the part on a sheet, see {@link Section.head}. */
export function textBox(
  titleOf: (continued: boolean) => Piece,
  paragraphs: readonly string[],
  width: number,
  style: LineStyle,
): Section {
  return {
    head: (continued) => {
      const title = titleOf(continued);
      return { height: title.height + PADDING, draw: title.draw };
    },
    pieces: textLines(paragraphs, width - 2 * PADDING, style).map(({ height, draw }) => ({
      height,
      draw: (sheet, x, y) => draw(sheet, x + PADDING, y),
    })),
    frame: (sheet, x, from, to) => sheet.box(x, from - PADDING, width, to - from + 2 * PADDING),
    after: PADDING,
  };
}

/** A text at the left and another at the right end of its last line; they come to stand below each other when they do not fit. */
export function pairLine(left: string, right: string, width: number, style: LineStyle): Piece {
  const { font, size } = style;
  const lines = wrap(left, font, size, width);
  const last = lines.at(-1) ?? '';
  if (textWidth(`${last}  ${right}`, font, size) > width || lines.length === 0) lines.push('');
  return {
    height: heightOf({ lines, size }),
    draw(sheet, x, y) {
      drawLines(sheet, { lines, size }, font, x, y, width);
      drawLines(
        sheet,
        { lines: [right], size },
        font,
        x,
        y + heightOf({ lines: lines.slice(1), size }),
        width,
        'right',
      );
    },
  };
}

/** A line across, with some room above and below. */
export function rule(width: number): Piece {
  return { height: 7, draw: (sheet, x, y) => sheet.line([x, y + 3.5], [x + width, y + 3.5], { dashed: true }) };
}

/** Room, in points. */
export function space(height: number): Piece {
  return { height, draw: () => undefined };
}
