import { type Font, textWidth } from '../../src/pdf/kit/fonts.js';
import type { Mark, Sheet } from '../../src/pdf/kit/sheet.js';

/** What stands on a sheet, and where: a layout is data, so it can be read without any PDF. */

export interface PlacedText {
  readonly text: string;
  readonly font: Font;
  readonly size: number;
  /** Rectangle around the letters. */
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  /** A watermark, which lies under everything else. */
  readonly isSlanted: boolean;
}

/** Letters reach this far above and below their baseline, as a factor of the size; a capital's height, and a tail's. */
const ABOVE = 0.68;
const BELOW = 0.21;

export function textsOf(sheet: Sheet): PlacedText[] {
  return placed(sheet.marks, (x, y) => [x, y]);
}

export function wordsOf(sheet: Sheet): string {
  return textsOf(sheet)
    .map(({ text }) => text)
    .join('\n');
}

function placed(marks: readonly Mark[], at: (x: number, y: number) => [number, number]): PlacedText[] {
  return marks.flatMap((mark): PlacedText[] => {
    if (mark.kind === 'drawing') {
      const [originX, originY] = mark.at;
      return placed(mark.marks, (x, y) => (mark.turned ? at(originX + y, originY - x) : at(originX + x, originY + y)));
    }
    if (mark.kind !== 'text') return [];
    const { text, font, size } = mark;
    const corners = [
      at(mark.x, mark.y - size * ABOVE),
      at(mark.x + textWidth(text, font, size), mark.y + size * BELOW),
    ] as const;
    const [[x1, y1], [x2, y2]] = corners;
    return [
      {
        text,
        font,
        size,
        left: Math.min(x1, x2),
        right: Math.max(x1, x2),
        top: Math.min(y1, y2),
        bottom: Math.max(y1, y2),
        isSlanted: mark.angle !== 0,
      },
    ];
  });
}

/** Pairs of texts of which one covers the other by more than a hair, as `a | b`. */
export function overlapsOn(sheet: Sheet): string[] {
  const texts = textsOf(sheet)
    .filter(({ isSlanted }) => !isSlanted)
    .sort((a, b) => a.top - b.top);
  return texts.flatMap((a, index) => {
    const found: string[] = [];
    for (const b of texts.slice(index + 1)) {
      if (b.top >= a.bottom - HAIR) break;
      if (b.left < a.right - HAIR && a.left < b.right - HAIR) found.push(`${a.text} | ${b.text}`);
    }
    return found;
  });
}

const HAIR = 0.3;

/** Texts that leave the sheet, or its margin of 2 mm. */
export function outsideOf(sheet: Sheet): string[] {
  const margin = 5.6;
  return textsOf(sheet)
    .filter(
      ({ isSlanted, left, right, top, bottom }) =>
        !isSlanted && (left < margin || top < margin || right > sheet.width - margin || bottom > sheet.height - margin),
    )
    .map(({ text }) => text);
}
