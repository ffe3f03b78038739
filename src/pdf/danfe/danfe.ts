import { flow, heightOfSection, type Room } from '../kit/flow.js';
import { A4, mm, Sheet } from '../kit/sheet.js';
import type { Printout } from '../kit/to-pdf.js';
import { drawWatermarks } from '../kit/watermark.js';
import type { XmlNode } from '../kit/xml-node.js';
import type { Situation } from '../situation.js';
import type { Standing } from '../standing.js';
import { bodyBlocks } from './body.js';
import { footersOf } from './footer.js';
import { headOf } from './head.js';
import { itemsTable } from './items.js';
import { type Note, readNote, titleOf } from './note.js';
import { standingOf } from './standing.js';
import { CUT, drawStub, STUB } from './stub.js';

/** Margins may be 2 to 8 mm (MOC annex II). */
const MARGIN = mm(7);

/** DANFE of an NF-e (model 55) on A4, upright or across as its tpImp says, on as many sheets as it takes. */
export function danfe(root: XmlNode, situation: Situation): Printout {
  const note = readNote(root);
  return { title: titleOf(note), issued: note.issued, sheets: drawNote(note, standingOf(note, situation)) };
}

function drawNote(note: Note, standing: Standing): Sheet[] {
  const [width, height] = note.landscape ? [A4.height, A4.width] : [A4.width, A4.height];
  // Upright the receipt stub lies on top of the first sheet, across it stands at its left.
  const stub = STUB + CUT;
  const form = width - 2 * MARGIN - (note.landscape ? stub : 0);
  const head = headOf(note, standing, form);
  const blocks = bodyBlocks(note, form);
  const items = itemsTable(note, form);

  const first = roomOf(0, 0);
  const left = blocks.reduce((rest, section) => rest - heightOfSection(section), first.bottom - first.top);
  const layout = best(
    footersOf(note, form, left, heightOfSection(items)).map((footer) => ({
      footer,
      flowed: flow([...blocks, items, footer.rest], (sheet) => roomOf(sheet, footer.height)),
    })),
  );

  return layout.flowed.sheets.map((drawings, index) => {
    const sheet = new Sheet(width, height);
    drawWatermarks(sheet, standing.watermarks);
    const room = roomOf(index, layout.footer.height);
    if (index === 0) drawStub(sheet, note, MARGIN);
    head.draw(sheet, room.x, room.top - head.height, `${index + 1}/${layout.flowed.sheets.length}`);
    for (const draw of drawings) draw(sheet);
    if (index === 0) layout.footer.draw(sheet, room.x, height - MARGIN);
    return sheet;
  });

  function roomOf(sheet: number, footer: number): Room {
    const first = sheet === 0;
    return {
      // Across, the further sheets have no stub: the form, whose columns stay as they are, comes to stand in the middle.
      x: note.landscape ? MARGIN + (first ? stub : stub / 2) : MARGIN,
      top: MARGIN + (first && !note.landscape ? stub : 0) + head.height,
      bottom: height - MARGIN - (first ? footer : 0),
    };
  }
}

/** The layout with the fewest sheets; of equal ones the first. */
function best<T extends { readonly flowed: { readonly sheets: readonly unknown[] } }>(layouts: readonly T[]): T {
  return layouts.reduce((a, b) => (b.flowed.sheets.length < a.flowed.sheets.length ? b : a));
}
