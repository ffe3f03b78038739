import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { flow, type Piece, type Room, type Section } from '../../src/pdf/kit/flow.js';
import { Sheet } from '../../src/pdf/kit/sheet.js';

/** Where each piece was drawn. */
interface Drawn {
  readonly name: string;
  readonly sheet: number;
  readonly y: number;
  readonly height: number;
}

const piece = (name: string, height: number): Piece => ({
  height,
  draw: (sheet, x, y) => sheet.text(name, x, y, { font: 'Helvetica', size: height }),
});

function drawn(sections: readonly Section[], roomOf: (sheet: number) => Room): Drawn[] {
  return flow(sections, roomOf).sheets.flatMap((drawings, index) => {
    const sheet = new Sheet(500, 500);
    for (const draw of drawings) draw(sheet);
    return sheet.marks.flatMap((mark) =>
      mark.kind === 'text' ? [{ name: mark.text, sheet: index, y: mark.y, height: mark.size }] : [],
    );
  });
}

const rooms = (sheet: number): Room => ({ x: 10, top: sheet === 0 ? 100 : 20, bottom: sheet === 0 ? 300 : 400 });
const heights = fc.array(fc.integer({ min: 1, max: 150 }), { maxLength: 40 });

describe('flow', () => {
  test('each piece once, in order, below the one before, and inside the room', () => {
    fc.assert(
      fc.property(fc.array(heights, { minLength: 1, maxLength: 4 }), (sections) => {
        const all = sections.map(
          (pieces, s): Section => ({ pieces: pieces.map((height, p) => piece(`${s}.${p}`, height)) }),
        );
        const places = drawn(all, rooms);
        assert.deepEqual(
          places.map(({ name }) => name),
          sections.flatMap((pieces, s) => pieces.map((_, p) => `${s}.${p}`)),
        );
        let last = { sheet: 0, end: 0 };
        for (const { sheet, y, height } of places) {
          const room = rooms(sheet);
          assert.ok(y >= room.top && y + height <= room.bottom);
          assert.ok(sheet > last.sheet || y >= last.end);
          last = { sheet, end: y + height };
        }
      }),
    );
  });

  test('no sheet begins while the next piece still fits on the one before', () => {
    fc.assert(
      fc.property(heights, (list) => {
        const places = drawn([{ pieces: list.map((height, p) => piece(String(p), height)) }], rooms);
        places.slice(1).forEach((place, index) => {
          const before = places[index];
          if (before && place.sheet > before.sheet)
            assert.ok(before.y + before.height + place.height > rooms(before.sheet).bottom);
        });
      }),
    );
  });

  test('a head stands on each sheet, and never alone at the bottom', () => {
    const section: Section = {
      pieces: Array.from({ length: 9 }, (_, at) => piece(`p${at}`, 90)),
      head: (continued) => piece(continued ? 'again' : 'first', 15),
    };
    assert.deepEqual(
      drawn([section], rooms).map(({ name, sheet }) => `${sheet} ${name}`),
      ['0 first', '0 p0', '0 p1', '1 again', '1 p2', '1 p3', '1 p4', '1 p5', '2 again', '2 p6', '2 p7', '2 p8'],
    );
    const late = drawn([{ pieces: [piece('before', 120)] }, section], rooms);
    assert.deepEqual(
      late.slice(0, 3).map(({ name, sheet }) => `${sheet} ${name}`),
      ['0 before', '1 first', '1 p0'],
    );
  });

  test('a piece higher than any sheet is divided; one that cannot be is placed all the same', () => {
    const long = (lines: number): Piece => ({
      ...piece(`${lines} lines`, lines * 10),
      split: (room) => {
        const here = Math.floor(room / 10);
        return here < 1 || here >= lines ? null : [long(here), long(lines - here)];
      },
    });
    assert.deepEqual(
      drawn([{ pieces: [piece('before', 100), long(60)] }], rooms).map(({ name, sheet }) => `${sheet} ${name}`),
      ['0 before', '0 10 lines', '1 38 lines', '2 12 lines'],
    );
    assert.equal(drawn([{ pieces: [piece('monster', 4000), piece('after', 10)] }], rooms).length, 2);
  });

  test('a frame that fills reaches down to the end of the room, unless something follows there', () => {
    const ends: number[] = [];
    const table: Section = { fills: true, pieces: [piece('row', 50)], frame: (_, __, ___, to) => ends.push(to) };
    for (const sections of [
      [table],
      [table, { pieces: [piece('after', 10)] }],
      [table, { pieces: [piece('after', 10)], notBefore: 1 }],
    ]) {
      drawn(sections, rooms);
    }
    assert.deepEqual(ends, [300, 150, 300]);
  });
});
