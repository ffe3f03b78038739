import { flow, heightOfSection, type Room, type Section } from '../kit/flow.js';
import { space } from '../kit/lines.js';
import { A4, mm, Sheet } from '../kit/sheet.js';
import type { Printout } from '../kit/to-pdf.js';
import { drawWatermarks } from '../kit/watermark.js';
import type { XmlNode } from '../kit/xml-node.js';
import type { Situation } from '../situation.js';
import type { Standing } from '../standing.js';
import { type Cte, readCte, titleOf } from './cte.js';
import { headOf } from './head.js';
import { listSections, sectionsAfter, sectionsBefore } from './sections.js';
import { standingOf } from './standing.js';
import { drawStub, heightOfStub } from './stub.js';

const MARGIN = mm(7);
/** Points. The smaller ones only where they save a sheet. */
const REMARKS = 7;
const SMALL_REMARKS = 6;

/** DACTE of a CT-e of any means of transport, a CT-e OS or a CT-e Simplificado, on A4, upright or across as its tpImp says. */
export function dacte(root: XmlNode, situation: Situation): Printout {
  const cte = readCte(root);
  return { title: titleOf(cte), issued: cte.issued, sheets: drawCte(cte, standingOf(cte, situation)) };
}

function drawCte(cte: Cte, standing: Standing): Sheet[] {
  const [width, height] = cte.landscape ? [A4.height, A4.width] : [A4.width, A4.height];
  const form = width - 2 * MARGIN;
  const head = headOf(cte, standing, form);
  const stub = heightOfStub(cte);
  const roomOf = (sheet: number): Room => ({
    x: MARGIN,
    top: MARGIN + (sheet === 0 ? stub : 0) + head.height,
    bottom: height - MARGIN,
  });
  const lists = listSections(cte, form);
  const flowed = (size: number) => flow(arranged(cte, lists, form, roomOf(0), size), roomOf).sheets;
  const large = flowed(REMARKS);
  const small = large.length === 1 ? large : flowed(SMALL_REMARKS);
  const sheets = small.length < large.length ? small : large;
  return sheets.map((drawings, index) => {
    const sheet = new Sheet(width, height);
    drawWatermarks(sheet, standing.watermarks);
    if (index === 0) drawStub(sheet, cte, MARGIN, MARGIN, form);
    head.draw(sheet, MARGIN, roomOf(index).top - head.height, `${index + 1}/${sheets.length}`);
    for (const draw of drawings) draw(sheet);
    return sheet;
  });
}

/**
 * The sections in their order. Everything but the lists comes to stand on the first sheet, if it has room for it, and as much of the lists
 * as is left between; the rest of them follows behind. What one sheet alone has to spare goes to lists and remarks.
 *
 * @param size of the remarks
 */
function arranged(cte: Cte, lists: readonly Section[], width: number, { top, bottom }: Room, size: number): Section[] {
  const before = sectionsBefore(cte, width);
  const after = (spare: number) => sectionsAfter(cte, width, size, spare);
  const room = bottom - top - heightOfAll([...before, ...after(0)]);
  // Remarks that need a second sheet anyway do not push a short list behind them.
  if (room < 0 && heightOfAll(lists) < (bottom - top) * SHORT) return [...before, ...lists, ...after(0)];
  const { here, rest } = divided(lists, room);
  const spare = Math.max(0, room - heightOfAll(here));
  const [first, ...others] = here;
  if (rest.length > 0 || first === undefined) return [...before, ...here, ...after(spare), ...rest];
  const stretched = { ...first, pieces: [...first.pieces, space(spare * FOR_LISTS)] };
  return [...before, stretched, ...others, ...after(spare * (1 - FOR_LISTS))];
}

/** No more of the first sheet. */
const SHORT = 0.25;
/** Share of the room to spare. */
const FOR_LISTS = 0.4;

function heightOfAll(sections: readonly Section[]): number {
  return sections.reduce((sum, section) => sum + heightOfSection(section), 0);
}

/** What of the lists fits into some room, and what does not. */
function divided(lists: readonly Section[], room: number): { here: Section[]; rest: Section[] } {
  const here: Section[] = [];
  const rest: Section[] = [];
  let left = room;
  for (const list of lists) {
    left -= list.head?.(false).height ?? 0;
    let count = 0;
    for (const piece of rest.length > 0 ? [] : list.pieces) {
      if (piece.height > left) break;
      left -= piece.height;
      count++;
    }
    if (count > 0) here.push({ ...list, pieces: list.pieces.slice(0, count) });
    if (count < list.pieces.length) {
      const { head } = list;
      const continued = count > 0;
      rest.push({
        ...list,
        pieces: list.pieces.slice(count),
        ...(head && { head: (again: boolean) => head(continued || again) }),
        notBefore: 1,
      });
    }
  }
  return { here, rest };
}
