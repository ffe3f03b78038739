import type { Font } from '../kit/fonts.js';
import { textWidth } from '../kit/fonts.js';
import { wrapAll } from '../kit/text-fit.js';
import { type Band, COLUMNS, FRAME, GAP, type Paper, shade } from './paper.js';

/** Rows of labelled fields in four columns, without boxes, as the model of NT 008 (annex I) has them. */

export interface Cell {
  readonly label: string;
  readonly value: string;
  /** Columns that it takes; 1 when absent. */
  readonly span?: number;
  readonly shaded?: true;
}

/** Letters: Helvetica has the widths of Arial, which NT 008 asks for. Sizes are its least ones, and those that it prescribes. */
export const REGULAR: Font = 'Helvetica';
export const BOLD: Font = 'Helvetica-Bold';
export const TEXT = 7;
export const LABEL = 6;

/** What stands in a field of which the XML says nothing (note 12 of item 2.4.5). */
export const NOTHING = '-';

const LINE = 7.7;
const ABOVE = 2.2;
const BELOW = 2.2;
/** From a label's top to that of its value, as a factor of the label's size. */
const LABEL_LEADING = 1.22;

/** @param lines no more of them in any field; what is left over is shown by `…` */
export function row(cells: readonly (Cell | string)[], lines: number, style: RowStyle = FIELDS): Band {
  let column = 0;
  const placed = cells.map((cell) => {
    const span = typeof cell === 'string' ? 1 : (cell.span ?? 1);
    const [left, end] = [edge(column), edge(column + span)];
    column += span;
    return { cell, left, end, text: typeof cell === 'string' ? [] : shown([cell.value], end - left - GAP, lines) };
  });
  const most = Math.max(1, ...placed.map(({ text }) => text.length));
  const height = ABOVE + style.label * LABEL_LEADING + most * LINE + BELOW;
  return {
    height,
    draw(paper, y) {
      for (const { cell, left, end, text } of placed) {
        if (typeof cell === 'string') {
          drawTitle(paper, cell, y, height);
          continue;
        }
        if (cell.shaded) shadeColumn(paper, left, end, y, height);
        const top = y + ABOVE;
        paper.ink.text(cell.label, left, top + style.label * 0.86, { font: BOLD, size: style.label });
        drawLines(paper, text, left, top + style.label * LABEL_LEADING);
      }
    },
  };
}

interface RowStyle {
  readonly label: number;
}

const FIELDS: RowStyle = { label: LABEL };
/** The block of identification has larger labels (item 2.4.2). */
export const IDENTIFICATION: RowStyle = { label: 7 };

/** A block's title, in the first column, on grey. */
function drawTitle(paper: Paper, title: string, y: number, height: number): void {
  if (title === '') return;
  shadeColumn(paper, edge(0), edge(1), y, height);
  paper.ink.text(title, edge(0), y + height / 2 + TEXT * 0.36, { font: BOLD, size: TEXT });
}

/** To the frame where it is near, and not quite to the next column, whose text it would touch. */
function shadeColumn(paper: Paper, left: number, end: number, y: number, height: number): void {
  const from = left === edge(0) ? FRAME.left : left - GAP / 2;
  const to = end === edge(COLUMNS.length - 1) ? FRAME.right : end - GAP / 2;
  shade(paper, from, y, to - from, height);
}

/** One line instead of a block that has nothing to say (item 2.3.1), or above one. */
export function notice(text: string, align: 'left' | 'center' = 'center'): Band {
  const height = 11;
  return {
    height,
    draw(paper, y) {
      shade(paper, FRAME.left, y, FRAME.right - FRAME.left, height);
      paper.ink.text(text, edge(0), y + 8, { font: BOLD, size: TEXT }, align, WIDTH);
    },
  };
}

/** Width of a text over all columns. */
export const WIDTH = edge(COLUMNS.length - 1) - edge(0);

/** A text over all columns, without a label or with one above it. */
export function textBand(text: readonly string[], label = ''): Band {
  const labelHeight = label === '' ? 0 : LABEL * LABEL_LEADING;
  return {
    height: ABOVE + labelHeight + Math.max(1, text.length) * LINE + BELOW,
    draw(paper, y) {
      paper.ink.text(label, edge(0), y + ABOVE + LABEL * 0.86, { font: BOLD, size: LABEL });
      drawLines(paper, text, edge(0), y + ABOVE + labelHeight);
    },
  };
}

/** Lines of a text that fit into a height. */
export function linesIn(height: number): number {
  return Math.floor(height / LINE);
}

/** As many lines as there may be, the last one with `…` if they do not hold everything. */
export function shown(paragraphs: readonly string[], width: number, lines: number, size = TEXT): string[] {
  const all = wrapAll(paragraphs, REGULAR, size, width);
  if (all.length === 0) return [NOTHING];
  if (all.length <= lines) return all;
  const kept = all.slice(0, lines);
  let last = (kept.pop() ?? '').replace(/…$/, '');
  while (textWidth(`${last}…`, REGULAR, size) > width) last = last.slice(0, -1);
  return [...kept, `${last.trimEnd()}…`];
}

function drawLines(paper: Paper, lines: readonly string[], x: number, y: number): void {
  lines.forEach((line, index) => {
    paper.ink.text(line, x, y + TEXT * 0.86 + index * LINE, { font: REGULAR, size: TEXT });
  });
}

function edge(column: number): number {
  return COLUMNS[column] ?? 0;
}
