import { A4, Sheet } from '../kit/sheet.js';
import { wrapAll } from '../kit/text-fit.js';
import type { Printout } from '../kit/to-pdf.js';
import { drawWatermarks } from '../kit/watermark.js';
import type { XmlNode } from '../kit/xml-node.js';
import type { Situation } from '../situation.js';
import { type Density, partyBlocks, serviceRow, taxBlocks, totalRows } from './blocks.js';
import { linesIn, notice, REGULAR, shown, TEXT, textBand, WIDTH } from './grid.js';
import { headBands } from './head.js';
import { readServiceNote, type ServiceNote, titleOf } from './note.js';
import { type Band, FRAME, heightOf, newPaper, type Paper, rule, stack } from './paper.js';

/** DANFSe of a national NFS-e (layouts 1.00 and 1.01) by NT 008: one sheet, whatever the note says. */
export function danfse(root: XmlNode, { state }: Situation): Printout {
  const note = readServiceNote(root);
  const paper = newPaper(A4.width, A4.height);
  drawPage(paper, note);
  const sheet = new Sheet(A4.width, A4.height);
  sheet.marks.push(...paper.shades.marks);
  drawWatermarks(sheet, MARKS.get(state) ?? [], { font: REGULAR, grey: 0.65 });
  sheet.marks.push(...paper.ink.marks);
  return { title: titleOf(note), issued: note.issued, sheets: [sheet] };
}

/** Across the sheet, grey of 35 % and no bold (NT 008 item 2.5). A block is about events of the note, and changes nothing of it. */
const MARKS: ReadonlyMap<Situation['state'], readonly string[]> = new Map([
  ['cancelled', ['CANCELADA']],
  ['replaced', ['SUBSTITUÍDA']],
]);

/** How a page is filled, in the order of preference. */
const ROOMY: Density = { lines: 2, brief: false };
const BRIEF: Density = { lines: 2, brief: true };
const TIGHT: Density = { lines: 1, brief: true };

/** Lines of description and remarks together for which a field gives up its second line. */
const LEAST_TEXT = 12;

function drawPage(paper: Paper, note: ServiceNote): void {
  const blocks = blocksOf(note);
  let y = FRAME.top;
  blocks.forEach((block, index) => {
    if (index > 0) rule(paper, y);
    y = stack(paper, block, y);
  });
  paper.ink.box(FRAME.left, FRAME.top, FRAME.right - FRAME.left, FRAME.bottom - FRAME.top, { width: 1 });
}

function blocksOf(note: ServiceNote): Band[][] {
  const density = densityFor(note);
  return pageBlocks(note, density, sharesOf(note, textLines(note, density)));
}

function densityFor(note: ServiceNote): Density {
  const needed = linesOf(note.service.description) + linesOf([note.remarks]);
  if (textLines(note, ROOMY) >= needed) return ROOMY;
  return textLines(note, BRIEF) >= Math.min(needed, LEAST_TEXT) ? BRIEF : TIGHT;
}

interface Shares {
  readonly description: number;
  readonly remarks: number;
}

/** The remarks get what the description leaves; when both are too long, each gets half, or less if it needs less. */
function sharesOf(note: ServiceNote, lines: number): Shares {
  const [description, remarks] = [linesOf(note.service.description), linesOf([note.remarks])];
  const half = Math.max(1, Math.floor(lines / 2));
  const first = Math.min(description, Math.max(half, lines - remarks));
  return { description: first, remarks: Math.max(1, lines - first) };
}

/** Lines that a page has for description and remarks, each of which has at least one. */
function textLines(note: ServiceNote, density: Density): number {
  const least = pageBlocks(note, density, { description: 1, remarks: 1 });
  const used = least.reduce((sum, block) => sum + heightOf(block), 0);
  return 2 + linesIn(FRAME.bottom - FRAME.top - used);
}

function linesOf(paragraphs: readonly string[]): number {
  return Math.max(1, wrapAll(paragraphs, REGULAR, TEXT, WIDTH).length);
}

function pageBlocks(note: ServiceNote, density: Density, shares: Shares): Band[][] {
  const { service } = note;
  return [
    ...headBands(note).map((band) => [band]),
    ...partyBlocks(note, density),
    [
      serviceRow(note, density),
      textBand(shown([service.codeText], WIDTH, density.lines)),
      textBand(shown(service.description, WIDTH, shares.description), 'Descrição do Serviço'),
    ],
    ...taxBlocks(note, density),
    totalRows(note, density),
    [
      notice('INFORMAÇÕES COMPLEMENTARES', 'left'),
      ...(note.remarks === '' ? [] : [textBand(shown([note.remarks], WIDTH, shares.remarks))]),
      textBand(shown([note.approximateTaxes], WIDTH, 2)),
    ],
  ];
}
