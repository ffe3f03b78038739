import { drawLines, fieldRow, heightOf } from '../kit/fields.js';
import { joined, labelled } from '../kit/formats.js';
import { Sheet } from '../kit/sheet.js';
import { FORM } from '../kit/style.js';
import { type Fitted, firstLine, wrap } from '../kit/text-fit.js';
import type { Note } from './note.js';

/** Height of the receipt that the recipient signs and the carrier tears off. */
export const STUB = 46;
/** Between it and the form, where a dashed line shows where to cut. */
export const CUT = 9;

const TEXT = 25;
const SMALLEST = 4.5;
const NUMBER_WIDTH = 104;

/** Draws the receipt stub into the corner of the margins: on top of the form, or at its left, turned, where the form lies across. */
export function drawStub(sheet: Sheet, note: Note, margin: number): void {
  if (note.landscape) {
    const stub = stubOf(note, sheet.height - 2 * margin);
    sheet.place(stub, margin, sheet.height - margin, true);
  } else {
    const stub = stubOf(note, sheet.width - 2 * margin);
    sheet.place(stub, margin, margin);
  }
}

function stubOf(note: Note, length: number): Sheet {
  const stub = new Sheet(length, STUB + CUT);
  const left = length - NUMBER_WIDTH;
  stub.box(0, 0, left, TEXT);
  drawLines(stub, receiptLines(note, left - 6), FORM.regular, 3, 1.5, left - 6);
  fieldRow(
    [
      { label: 'DATA DE RECEBIMENTO', value: '', share: 1 },
      { label: 'IDENTIFICAÇÃO E ASSINATURA DO RECEBEDOR', value: '', share: 2.6 },
    ],
    left,
    { ...FORM, row: STUB - TEXT },
  ).draw(stub, 0, TEXT);
  stub.box(left, 0, NUMBER_WIDTH, STUB);
  stub.text('NF-e', left, 14, { font: FORM.bold, size: 12 }, 'center', NUMBER_WIDTH);
  const number = { font: FORM.bold, size: 10 };
  for (const [y, text] of [
    [28, joined(['Nº', note.number], ' ')],
    [40, joined(['SÉRIE', note.series], ' ')],
  ] as const) {
    stub.text(firstLine(text, number.font, number.size, NUMBER_WIDTH - 4), left, y, number, 'center', NUMBER_WIDTH);
  }
  stub.line([0, STUB + CUT / 2], [length, STUB + CUT / 2], { dashed: true });
  return stub;
}

/** As large as fits. Names beyond any layout are cut off here, and only here: they stand in the form below. */
function receiptLines(note: Note, width: number): Fitted {
  const text = receiptText(note);
  const room = TEXT - 2;
  for (let size = 7; size > SMALLEST; size -= 0.5) {
    const lines = wrap(text, FORM.regular, size, width);
    if (heightOf({ lines, size }) <= room) return { lines, size };
  }
  const fitting = Math.floor(room / heightOf({ lines: [''], size: SMALLEST }));
  return { lines: wrap(text, FORM.regular, SMALLEST, width).slice(0, fitting), size: SMALLEST };
}

function receiptText({ issuer, recipient, issuedOn, totals, landscape }: Note): string {
  const address = joined([recipient.street, recipient.district, joined([recipient.city, recipient.uf], '/')], ', ');
  return joined(
    [
      `RECEBEMOS DE ${issuer.name} OS PRODUTOS E/OU SERVIÇOS CONSTANTES DA NOTA FISCAL ELETRÔNICA INDICADA ${landscape ? 'AO LADO' : 'ABAIXO'}.`,
      labelled('EMISSÃO', issuedOn),
      labelled('VALOR TOTAL', totals.vNF === '' ? '' : `R$ ${totals.vNF}`),
      labelled('DESTINATÁRIO', joined([recipient.name, address], ' - ')),
    ],
    ' ',
  );
}
