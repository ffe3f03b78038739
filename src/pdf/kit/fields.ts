import type { Piece, Section } from './flow.js';
import type { Font } from './fonts.js';
import type { Align, Sheet } from './sheet.js';
import { type Fitted, fit } from './text-fit.js';

/** Boxes with a small label and a value: what the forms of all fiscal documents are made of. */

export interface Field {
  readonly label: string;
  readonly value: string;
  /** Share of the row's width. */
  readonly share: number;
  readonly align?: Align;
  readonly bold?: true;
}

/** How a form looks. */
export interface FormStyle {
  readonly regular: Font;
  readonly bold: Font;
  readonly label: { readonly largest: number; readonly smallest: number };
  readonly value: { readonly largest: number; readonly smallest: number };
  readonly title: number;
  /** Least height of a row of fields. */
  readonly row: number;
}

const PADDING = 2;

/** A row of fields over `width`. It grows when a value needs several lines even in the smallest letters. */
export function fieldRow(fields: readonly Field[], width: number, style: FormStyle): Piece {
  const shares = fields.reduce((sum, { share }) => sum + share, 0);
  const cells = fields.map((field) => {
    const cell = (width * field.share) / shares;
    const room = cell - 2 * PADDING;
    const font = field.bold ? style.bold : style.regular;
    return {
      field,
      font,
      width: cell,
      label: fit(field.label, style.regular, style.label.largest, style.label.smallest, room),
      value: fit(field.value, font, style.value.largest, style.value.smallest, room),
    };
  });
  const labels = Math.max(...cells.map(({ label }) => heightOf(label)));
  const values = Math.max(...cells.map(({ value }) => heightOf(value)));
  const height = Math.max(style.row, labels + values + 2.5);
  return {
    height,
    draw(sheet, x, y) {
      let left = x;
      for (const { field, font, width: cell, label, value } of cells) {
        sheet.box(left, y, cell, height);
        const [inside, room] = [left + PADDING, cell - 2 * PADDING];
        drawLines(sheet, label, style.regular, inside, y + 1, room);
        // Values stand on the bottom of the box, so that those of one row are in line whatever their size.
        const top = y + height - heightOf(value) - 1.5;
        drawLines(sheet, value, font, inside, top, room, field.align);
        left += cell;
      }
    },
  };
}

/** Rows of fields under a title in bold capitals. */
export function block(title: string, rows: readonly (readonly Field[])[], width: number, style: FormStyle): Section {
  return {
    head: () => titleLine(title, style),
    pieces: rows.map((row) => fieldRow(row, width, style)),
  };
}

/** A title without a box, above one. */
export function titleLine(title: string, style: FormStyle): Piece {
  return {
    height: style.title + 3,
    draw: (sheet, x, y) => sheet.text(title, x, y + style.title + 1, { font: style.bold, size: style.title }),
  };
}

/** Distance of baselines, as a factor of the size. */
export const LEADING = 1.1;
/** From the top of a line to its baseline, as a factor of the size. */
const ASCENT = 0.86;

/** Of fitted lines, in points. */
export function heightOf({ lines, size }: Fitted): number {
  return lines.length * size * LEADING;
}

/** Draws lines below each other, the first with its top at `y`. */
export function drawLines(
  sheet: Sheet,
  { lines, size }: Fitted,
  font: Font,
  x: number,
  y: number,
  width: number,
  align: Align = 'left',
): void {
  lines.forEach((line, index) => {
    sheet.text(line, x, y + size * (ASCENT + index * LEADING), { font, size }, align, width);
  });
}
