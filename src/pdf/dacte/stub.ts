import { drawLines, fieldRow, heightOf } from '../kit/fields.js';
import { joined } from '../kit/formats.js';
import type { Sheet } from '../kit/sheet.js';
import { fit } from '../kit/text-fit.js';
import type { Cte } from './cte.js';
import { DACTE } from './style.js';

const DECLARATION =
  'DECLARO QUE RECEBI OS VOLUMES DESTE CONHECIMENTO EM PERFEITO ESTADO, PELO QUE DOU POR CUMPRIDO O PRESENTE CONTRATO DE TRANSPORTE';
const TEXT = 12;
const ROW = 21;
const NUMBER_WIDTH = 96;
/** Between the receipt and the form, where a dashed line shows where to cut. */
const CUT = 8;

/** Height of the receipt that the recipient signs and the carrier tears off. Nothing is received when people are transported. */
export function heightOfStub({ form, landscape }: Cte): number {
  return form === 'CTeOS' ? 0 : TEXT + rowsOf(landscape) * ROW + CUT;
}

/** A sheet that lies across is wide enough for one row. */
function rowsOf(landscape: boolean): number {
  return landscape ? 1 : 2;
}

/** Boxes side by side, of some width, the labels of each below each other. */
const UPRIGHT: readonly [labels: readonly string[], share: number][] = [
  [['NOME', 'RG'], 3],
  [['ASSINATURA / CARIMBO'], 3],
  [['TÉRMINO DA PRESTAÇÃO - DATA / HORA', 'INÍCIO DA PRESTAÇÃO - DATA / HORA'], 2.4],
];
const ACROSS: typeof UPRIGHT = [
  [['NOME'], 3],
  [['RG'], 1.6],
  [['ASSINATURA / CARIMBO'], 3],
  [['TÉRMINO DA PRESTAÇÃO - DATA / HORA'], 2.3],
  [['INÍCIO DA PRESTAÇÃO - DATA / HORA'], 2.3],
];

/** Draws the receipt on top of the form. */
export function drawStub(sheet: Sheet, cte: Cte, x: number, y: number, width: number): void {
  if (heightOfStub(cte) === 0) return;
  const left = width - NUMBER_WIDTH;
  const height = heightOfStub(cte) - CUT;
  sheet.box(x, y, left, TEXT);
  const text = fit(DECLARATION, DACTE.regular, 7, 4.5, left - 6);
  drawLines(sheet, text, DACTE.regular, x + 3, y + (TEXT - heightOf(text)) / 2, left - 6, 'center');
  const boxes = cte.landscape ? ACROSS : UPRIGHT;
  const shares = boxes.reduce((sum, [, share]) => sum + share, 0);
  let at = x;
  for (const [labels, share] of boxes) {
    const cell = (left * share) / shares;
    const row = (height - TEXT) / labels.length;
    labels.forEach((label, index) => {
      const box = fieldRow([{ label, value: '', share: 1 }], cell, { ...DACTE, row });
      box.draw(sheet, at, y + TEXT + index * row);
    });
    at += cell;
  }
  drawNumber(sheet, cte, x + left, y, height);
  sheet.line([x, y + height + CUT / 2], [x + width, y + height + CUT / 2], { dashed: true });
}

function drawNumber(sheet: Sheet, { number, series }: Cte, x: number, y: number, height: number): void {
  sheet.box(x, y, NUMBER_WIDTH, height);
  ['CT-e', joined(['Nº', number], ' '), joined(['SÉRIE', series], ' ')].forEach((text, line) => {
    const { lines, size } = fit(text, DACTE.bold, line === 0 && height > 40 ? 12 : 10, 6, NUMBER_WIDTH - 4);
    const baseline = y + (height * (line + 1)) / 3 - height / 6 + size * 0.34;
    // What is no number at all is cut off here: it stands in the form below.
    sheet.text(lines[0] ?? '', x + 2, baseline, { font: DACTE.bold, size }, 'center', NUMBER_WIDTH - 4);
  });
}
