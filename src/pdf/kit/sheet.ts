import type { Font } from './fonts.js';
import { textWidth } from './fonts.js';

/** Points of a length in millimetres. */
export function mm(length: number): number {
  return (length * 72) / 25.4;
}

/** A4 in points, upright. */
export const A4 = { width: 595.28, height: 841.89 } as const;

/** How text looks; sizes in points. */
export interface TextStyle {
  readonly font: Font;
  readonly size: number;
  /** 0 black (default) to 1 white. */
  readonly grey?: number;
  /** Instead of any grey. */
  readonly red?: true;
}

/** How a line looks; widths in points. */
export interface LineStyle {
  readonly width?: number;
  readonly grey?: number;
  readonly dashed?: true;
}

/** What stands on a sheet. Lengths in points from the sheet's upper left corner, y downwards. */
export type Mark =
  | {
      readonly kind: 'text';
      /** Left end of the baseline. */
      readonly x: number;
      readonly y: number;
      readonly text: string;
      readonly font: Font;
      readonly size: number;
      readonly grey: number;
      readonly red?: true;
      /** Degrees against the clock around the left end of the baseline. */
      readonly angle: number;
    }
  | { readonly kind: 'line'; readonly from: Point; readonly to: Point; readonly style: LineStyle }
  | { readonly kind: 'box'; readonly area: Area; readonly style: LineStyle }
  /** Filled rectangles of one colour: a grey background, the bars of a barcode, the squares of a QR code. */
  | { readonly kind: 'fill'; readonly areas: readonly Area[]; readonly grey: number }
  /** Another drawing with its upper left corner at a point, perhaps turned by a quarter against the clock: then its x axis points up. */
  | { readonly kind: 'drawing'; readonly at: Point; readonly turned: boolean; readonly marks: readonly Mark[] };

/** Points from the upper left corner. */
export type Point = readonly [x: number, y: number];
/** Upper left corner and size, in points. */
export type Area = readonly [x: number, y: number, width: number, height: number];
export type Align = 'left' | 'center' | 'right';

/** A drawing list: data and nothing else, so that a layout can be looked at without a PDF. */
export class Sheet {
  readonly marks: Mark[] = [];

  constructor(
    readonly width: number,
    readonly height: number,
  ) {}

  /** One line of text on the baseline `y`; centred or to the right within `width`. */
  text(text: string, x: number, y: number, style: TextStyle, align: Align = 'left', width = 0): void {
    if (text === '') return;
    const room = align === 'left' ? 0 : width - textWidth(text, style.font, style.size);
    const { font, size, grey = 0, red } = style;
    this.marks.push({
      kind: 'text',
      x: x + (align === 'center' ? room / 2 : room),
      y,
      text,
      font,
      size,
      grey,
      ...(red && { red }),
      angle: 0,
    });
  }

  /** A line of text that climbs by `angle` degrees, its middle at a point. */
  slanted(text: string, middle: Point, angle: number, style: TextStyle): void {
    const half = textWidth(text, style.font, style.size) / 2;
    const radians = (angle * Math.PI) / 180;
    const [x, y] = [middle[0] - half * Math.cos(radians), middle[1] + half * Math.sin(radians)];
    this.marks.push({ kind: 'text', x, y, text, font: style.font, size: style.size, grey: style.grey ?? 0, angle });
  }

  line(from: Point, to: Point, style: LineStyle = {}): void {
    this.marks.push({ kind: 'line', from, to, style });
  }

  box(x: number, y: number, width: number, height: number, style: LineStyle = {}): void {
    this.marks.push({ kind: 'box', area: [x, y, width, height], style });
  }

  fill(areas: readonly Area[], grey = 0): void {
    this.marks.push({ kind: 'fill', areas, grey });
  }

  /** Puts another drawing with its upper left corner at a point. `turned`: by a quarter against the clock around that point. */
  place(drawing: Sheet, x: number, y: number, turned = false): void {
    this.marks.push({ kind: 'drawing', at: [x, y], turned, marks: drawing.marks });
  }
}
