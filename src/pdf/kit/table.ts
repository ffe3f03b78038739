import type { Piece, Section } from './flow.js';
import type { Font } from './fonts.js';
import type { Align, Sheet } from './sheet.js';
import { fit, wrap } from './text-fit.js';

/** Tables whose rows go on over any number of sheets. */

export interface Column {
  readonly title: string;
  /** Points. */
  readonly width: number;
  readonly align?: Align;
}

/** How a table looks. */
export interface TableStyle {
  readonly regular: Font;
  readonly bold: Font;
  readonly size: number;
  /** Numbers and codes shrink down to this before they are broken. */
  readonly smallest: number;
  readonly title: number;
  /** Blank room above and below a row's lines. */
  readonly padding?: number;
}

/** A cell's lines; each may have its own size. */
export type Cell = readonly CellLine[];
interface CellLine {
  readonly text: string;
  readonly size: number;
}

const PADDING = 2;
const LEADING = 1.08;
const ROW_PADDING = 1.6;

/** A text that runs over as many lines as it takes. */
export function textCell(paragraphs: readonly string[], column: Column, style: TableStyle): Cell {
  return paragraphs.flatMap((text) =>
    wrap(text, style.regular, style.size, column.width - 2 * PADDING).map((line) => ({ text: line, size: style.size })),
  );
}

/** Values that stand below each other: each on one line, smaller when it must. One that is empty leaves its line blank. */
export function valueCell(values: readonly string[], column: Column, style: TableStyle): Cell {
  const last = values.findLastIndex((value) => value !== '');
  return values.slice(0, last + 1).flatMap((value) => {
    const { lines, size } = fit(value, style.regular, style.size, style.smallest, column.width - 2 * PADDING);
    return lines.length === 0 ? [{ text: '', size }] : lines.map((text) => ({ text, size }));
  });
}

/** Several columns whose values belong together line by line; where one needs two lines, the others leave one blank. */
export function parallelCells(
  rows: readonly (readonly string[])[],
  columns: readonly Column[],
  style: TableStyle,
): Cell[] {
  const cells: CellLine[][] = columns.map(() => []);
  for (const row of rows) {
    const lines = columns.map((column, index) => valueCell([row[index] ?? ''], column, style));
    const height = Math.max(1, ...lines.map((cell) => cell.length));
    lines.forEach((cell, index) => {
      cells[index]?.push(
        ...cell,
        ...Array.from({ length: height - cell.length }, () => ({ text: '', size: style.size })),
      );
    });
  }
  return cells;
}

export function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  style: TableStyle,
  title?: (continued: boolean) => Piece,
): Section {
  const width = columns.reduce((sum, column) => sum + column.width, 0);
  const names = nameRow(columns, width, style);
  return {
    fills: true,
    pieces: rows.map((cells) => row(columns, cells, width, style)),
    head: (continued) => below(title?.(continued), names),
    frame(sheet, x, from, to) {
      sheet.box(x, from, width, to - from);
      let at = x;
      for (const column of columns.slice(0, -1)) {
        at += column.width;
        sheet.line([at, from], [at, to]);
      }
    },
  };
}

function row(columns: readonly Column[], cells: readonly Cell[], width: number, style: TableStyle): Piece {
  const leading = style.size * LEADING;
  const padding = style.padding ?? ROW_PADDING;
  const lines = Math.max(1, ...cells.map((cell) => cell.length));
  const height = lines * leading + 2 * padding;
  return {
    height,
    draw(sheet, x, y) {
      let left = x;
      columns.forEach((column, index) => {
        cells[index]?.forEach(({ text, size }, line) => {
          const baseline = y + padding + line * leading + style.size * 0.84;
          const { regular: font } = style;
          sheet.text(text, left + PADDING, baseline, { font, size }, column.align, column.width - 2 * PADDING);
        });
        left += column.width;
      });
      sheet.line([x, y + height], [x + width, y + height], { width: 0.25, grey: 0.55 });
    },
    split(room) {
      const fitting = Math.floor((room - 2 * padding) / leading);
      // Less than three lines of a long row are not worth a beginning.
      if (fitting < 3 || fitting >= lines) return null;
      return [
        row(
          columns,
          cells.map((cell) => cell.slice(0, fitting)),
          width,
          style,
        ),
        row(
          columns,
          cells.map((cell) => cell.slice(fitting)),
          width,
          style,
        ),
      ];
    },
  };
}

function nameRow(columns: readonly Column[], width: number, style: TableStyle): Piece {
  const titles = columns.map((column) => column.title.split('\n').map((line) => titleLine(line, column, style)));
  const lines = Math.max(...titles.map((title) => title.length));
  const leading = style.title * LEADING;
  const height = lines * leading + 3;
  return {
    height,
    draw(sheet, x, y) {
      sheet.box(x, y, width, height);
      let left = x;
      columns.forEach((column, index) => {
        const title = titles[index] ?? [];
        const top = y + (height - title.length * leading) / 2;
        title.forEach(({ text, size }, line) => {
          const baseline = top + line * leading + style.title * 0.84;
          sheet.text(text, left + PADDING / 2, baseline, { font: style.bold, size }, 'center', column.width - PADDING);
        });
        if (index > 0) sheet.line([left, y], [left, y + height]);
        left += column.width;
      });
    },
  };
}

function titleLine(text: string, column: Column, style: TableStyle): CellLine {
  const { size } = fit(text, style.bold, style.title, 3.5, column.width - PADDING);
  return { text, size };
}

function below(first: Piece | undefined, second: Piece): Piece {
  if (first === undefined) return second;
  return {
    height: first.height + second.height,
    draw(sheet: Sheet, x, y) {
      first.draw(sheet, x, y);
      second.draw(sheet, x, y + first.height);
    },
  };
}
