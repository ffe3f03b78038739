import type { Sheet } from './sheet.js';

/**
 * Distributing a layout over sheets. Nothing is drawn here: the number of sheets must be known before the first is drawn, since each
 * carries it ("folha 1/3").
 */

/** A part of a layout whose height is known and whose place is not. */
export interface Piece {
  readonly height: number;
  /** Draws with its upper left corner at a point. */
  draw(sheet: Sheet, x: number, y: number): void;
  /** Two pieces, of which the first is no higher than `room`; null when it cannot be divided so. Absent: it never can. */
  split?(room: number): readonly [Piece, Piece] | null;
}

/** Pieces that stand below each other. */
export interface Section {
  readonly pieces: readonly Piece[];
  /** Stands above the section's first piece on each sheet. `continued`: on an earlier sheet there were some already. */
  head?(continued: boolean): Piece;
  /** Draws around the pieces of one sheet; `from` is below the head. */
  frame?(sheet: Sheet, x: number, from: number, to: number): void;
  /** Stands there even without pieces, and its frame reaches down to the end of the room, unless another section follows on that sheet. */
  readonly fills?: true;
  /** Blank room below its last piece on a sheet. Not more than a margin: it may reach into that. */
  readonly after?: number;
  /** First sheet (from 0) that it may stand on. */
  readonly notBefore?: number;
}

/** Where pieces may stand on a sheet. */
export interface Room {
  readonly x: number;
  readonly top: number;
  readonly bottom: number;
}

/** Sections laid out over sheets. */
export interface Flowed {
  /** For each sheet, what has to be drawn. */
  readonly sheets: readonly (readonly ((sheet: Sheet) => void)[])[];
  /** Where the last piece ends on the last sheet. */
  readonly end: number;
}

/** @param roomOf of each sheet, the first is 0 */
export function flow(sections: readonly Section[], roomOf: (sheet: number) => Room): Flowed {
  const sheets: ((sheet: Sheet) => void)[][] = [[]];
  let room = roomOf(0);
  let y = room.top;

  const onNextSheet = () => {
    room = roomOf(sheets.push([]) - 1);
    y = room.top;
  };
  const place = (piece: Piece) => {
    const at = { x: room.x, y };
    sheets.at(-1)?.push((sheet) => piece.draw(sheet, at.x, at.y));
    y += piece.height;
  };

  sections.forEach((section, index) => {
    if (section.pieces.length === 0 && !section.fills) return;
    while (sheets.length - 1 < (section.notBefore ?? 0)) onNextSheet();
    let from: number | null = null;
    const begin = (continued: boolean) => {
      const head = section.head?.(continued);
      if (head) place(head);
      from = y;
    };
    const close = (to: number) => {
      if (from === null) return;
      const [x, top] = [room.x, from];
      sheets.at(-1)?.push((sheet) => section.frame?.(sheet, x, top, to));
    };

    const waiting = [...section.pieces];
    let continued = false;
    for (let piece = waiting.shift(); piece !== undefined; piece = waiting.shift()) {
      const head = from === null ? (section.head?.(continued).height ?? 0) : 0;
      const left = room.bottom - y - head;
      const fresh = isFresh(roomOf, sheets.length, y);
      if (piece.height > left + TOLERANCE) {
        const whole = roomOf(sheets.length).bottom - roomOf(sheets.length).top - head;
        // A piece that would fit on a sheet of its own stays whole; another is divided where the sheet ends.
        const parts = piece.height > whole ? piece.split?.(left) : null;
        if (parts) {
          waiting.unshift(...parts);
          continue;
        }
        // On an empty sheet there is nothing better to come: then it is placed all the same.
        if (!fresh || from !== null) {
          close(section.fills ? room.bottom : y);
          continued = continued || from !== null;
          from = null;
          onNextSheet();
          waiting.unshift(piece);
          continue;
        }
      }
      if (from === null) begin(continued);
      place(piece);
    }
    if (from === null) begin(false);
    const next = sections.slice(index + 1).find(({ pieces, fills }) => pieces.length > 0 || fills);
    const alone = next === undefined || (next.notBefore ?? 0) > sheets.length - 1;
    close(section.fills && alone ? room.bottom : y);
    y += section.after ?? 0;
  });
  return { sheets, end: y };
}

/** Height of a section that does not go on on a second sheet. */
export function heightOfSection({ pieces, head, after = 0 }: Section): number {
  return pieces.reduce((sum, piece) => sum + piece.height, head?.(false).height ?? 0) + after;
}

/** Sums of heights are not exact. */
const TOLERANCE = 0.01;

function isFresh(roomOf: (sheet: number) => Room, count: number, y: number): boolean {
  return y === roomOf(count - 1).top;
}
