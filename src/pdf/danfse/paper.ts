import { mm, Sheet } from '../kit/sheet.js';

/** The page of a DANFSe: one sheet, with room for grey areas below its watermark, which would else be painted over. */
export interface Paper {
  readonly shades: Sheet;
  readonly ink: Sheet;
}

/** A part of the page over its whole width, whose height is known. */
export interface Band {
  readonly height: number;
  /** Draws with its upper edge at `y`. */
  draw(paper: Paper, y: number): void;
}

/** An empty sheet; width and height in points. */
export function newPaper(width: number, height: number): Paper {
  return { shades: new Sheet(width, height), ink: new Sheet(width, height) };
}

/** Centimetres in points. */
export function cm(length: number): number {
  return mm(10 * length);
}

/** Measures of NT 008, item 2.4.5, from the edges of the paper. */
export const FRAME = { left: cm(0.2), right: cm(20.8), top: cm(0.2), bottom: cm(29.5) } as const;
/** Left edges of the four columns, and the right edge of the last one. */
export const COLUMNS = [cm(0.3), cm(5.41), cm(10.51), cm(15.62), cm(20.7)] as const;
/** Between a column's text and the next column. */
export const GAP = 4;

/** 5 % of black (item 2.2.3). */
const SHADE = 0.95;

/** A grey area under the text; points. */
export function shade(paper: Paper, x: number, y: number, width: number, height: number): void {
  paper.shades.fill([[x, y, width, height]], SHADE);
}

/** Divides two blocks. */
export function rule(paper: Paper, y: number): void {
  paper.ink.line([FRAME.left, y], [FRAME.right, y], { width: 0.5 });
}

/** Bands below each other; answers where the last one ends. */
export function stack(paper: Paper, bands: readonly Band[], y: number): number {
  return bands.reduce((at, band) => {
    band.draw(paper, at);
    return at + band.height;
  }, y);
}

/** Of all together, in points. */
export function heightOf(bands: readonly Band[]): number {
  return bands.reduce((sum, { height }) => sum + height, 0);
}
