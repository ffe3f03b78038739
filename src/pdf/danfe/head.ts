import { code128, drawBars, keyWidth } from '../kit/barcode.js';
import { drawLines, type Field, fieldRow, heightOf } from '../kit/fields.js';
import type { Piece } from '../kit/flow.js';
import { inGroups, joined, labelled } from '../kit/formats.js';
import { mm, type Sheet } from '../kit/sheet.js';
import { FORM } from '../kit/style.js';
import { type Fitted, firstLine, fit, wrap, wrapAll } from '../kit/text-fit.js';
import type { Standing } from '../standing.js';
import type { Note } from './note.js';

/** What every sheet of a DANFE begins with: issuer, title, barcode, key, protocol, registrations. */
export interface Head {
  readonly height: number;
  /** @param folio `1/3` */
  draw(sheet: Sheet, x: number, y: number, folio: string): void;
}

const LEAST_HEIGHT = 104;
const TITLE_WIDTH = mm(34);
const LEAST_ISSUER_WIDTH = mm(70);
const BARCODE_BOX = 37;
const BARCODE = mm(11);
const KEY_BOX = 20;
const STRIP = 46;
const LEGEND = [
  'Consulta de autenticidade no portal nacional da NF-e',
  'www.nfe.fazenda.gov.br/portal ou no site da Sefaz Autorizadora',
];

/** The block with issuer, title and key. `width`: points. */
export function headOf(note: Note, standing: Standing, width: number): Head {
  const code = keyWidth(note.key);
  // Upright, a wide barcode leaves no room for the title between it and the issuer: then the title lies above it.
  const isStrip = width - code - TITLE_WIDTH < LEAST_ISSUER_WIDTH;
  const issuerWidth = width - code - (isStrip ? 0 : TITLE_WIDTH);
  const issuer = issuerBox(note, issuerWidth);
  const right = codeBoxes(note, standing, code);
  const box = Math.max(LEAST_HEIGHT, issuer.height, right.height + (isStrip ? STRIP : 0));
  const rows = registrationRows(note, standing, code, width);
  return {
    height: box + rows.reduce((sum, row) => sum + row.height, 0),
    draw(sheet, x, y, folio) {
      sheet.box(x, y, issuerWidth, box);
      issuer.draw(sheet, x, y + (box - issuer.height) / 2);
      const codeX = x + width - code;
      if (isStrip) {
        drawTitleStrip(sheet, note, folio, codeX, y, code);
        right.draw(sheet, codeX, y + STRIP, box - STRIP);
      } else {
        drawTitle(sheet, note, folio, x + issuerWidth, y, box);
        right.draw(sheet, codeX, y, box);
      }
      let top = y + box;
      for (const row of rows) {
        row.draw(sheet, x, top);
        top += row.height;
      }
    },
  };
}

function issuerBox({ issuer }: Note, width: number): Piece {
  const room = width - 8;
  const name: Fitted = { lines: wrap(issuer.name, FORM.bold, 12, room), size: 12 };
  const lines = [
    issuer.street,
    joined([issuer.district, labelled('CEP', issuer.postalCode)], ' - '),
    joined([issuer.city, issuer.uf], ' - '),
    labelled('Fone', issuer.phone),
  ];
  const address: Fitted = { lines: wrapAll(lines, FORM.bold, 8, room), size: 8 };
  return {
    height: heightOf(name) + heightOf(address) + 8,
    draw(sheet, x, y) {
      drawLines(sheet, name, FORM.bold, x + 4, y + 2, room, 'center');
      drawLines(sheet, address, FORM.bold, x + 4, y + 6 + heightOf(name), room, 'center');
    },
  };
}

/** The box in the middle: title, direction, number, series and sheet. */
function drawTitle(sheet: Sheet, note: Note, folio: string, x: number, y: number, height: number): void {
  const width = TITLE_WIDTH;
  sheet.box(x, y, width, height);
  const top = y + (height - LEAST_HEIGHT) / 2;
  sheet.text('DANFE', x, top + 14, { font: FORM.bold, size: 14 }, 'center', width);
  const subtitle: Fitted = { lines: ['Documento Auxiliar', 'da Nota Fiscal', 'Eletrônica'], size: 8 };
  drawLines(sheet, subtitle, FORM.regular, x, top + 16, width, 'center');
  drawDirection(sheet, note, x + 8, top + 45, width - 16);
  drawNumber(sheet, note, folio, x, [top + 75, top + 87, top + 99], width);
}

/** The same, side by side over the barcode. */
function drawTitleStrip(sheet: Sheet, note: Note, folio: string, x: number, y: number, width: number): void {
  sheet.box(x, y, width, STRIP);
  const third = width / 3;
  sheet.text('DANFE', x, y + 15, { font: FORM.bold, size: 14 }, 'center', third + 14);
  const subtitle: Fitted = { lines: ['Documento Auxiliar da', 'Nota Fiscal Eletrônica'], size: 8 };
  drawLines(sheet, subtitle, FORM.regular, x, y + 20, third + 14, 'center');
  drawDirection(sheet, note, x + third + 22, y + 13, third - 34);
  drawNumber(sheet, note, folio, x + 2 * third, [y + 14, y + 27, y + 40], third);
}

/** Number, series and sheet, one below the other at the given heights. */
function drawNumber(
  sheet: Sheet,
  note: Note,
  folio: string,
  x: number,
  heights: readonly number[],
  width: number,
): void {
  const style = { font: FORM.bold, size: 10 };
  for (const [at, text] of [`Nº ${note.number}`, `SÉRIE ${note.series}`, `FOLHA ${folio}`].entries()) {
    sheet.text(firstLine(text, style.font, style.size, width - 4), x, heights[at] ?? 0, style, 'center', width);
  }
}

function drawDirection(sheet: Sheet, note: Note, x: number, y: number, width: number): void {
  sheet.text('0 - ENTRADA', x, y + 7, { font: FORM.regular, size: 8 });
  sheet.text('1 - SAÍDA', x, y + 17, { font: FORM.regular, size: 8 });
  sheet.box(x + width - 16, y, 16, 18);
  const operation = firstLine(note.operation, FORM.bold, 10, 16);
  sheet.text(operation, x + width - 16, y + 12.5, { font: FORM.bold, size: 10 }, 'center', 16);
}

interface CodeBoxes {
  readonly height: number;
  draw(sheet: Sheet, x: number, y: number, height: number): void;
}

/** Barcode, key, and what the manual calls the variable fields: where to look the note up, or what is wrong with it. */
function codeBoxes(note: Note, standing: Standing, width: number): CodeBoxes {
  const bars = code128(note.key);
  const second = note.contingencyCode;
  const secondBars = second === null ? null : code128(second);
  const room = width - 8;
  const key = fieldRow(
    [{ label: 'CHAVE DE ACESSO', value: inGroups(note.key), share: 1, align: 'center', bold: true }],
    width,
    {
      ...FORM,
      row: KEY_BOX,
    },
  );
  const notices: Fitted = { lines: wrapAll(standing.notices, FORM.bold, 8, room), size: 8 };
  const legend = secondBars === null ? fitLegend(room) : { lines: [inGroups(second ?? '')], size: 8 };
  const below = heightOf(notices) + heightOf(legend) + 6 + (secondBars === null ? 0 : BARCODE + 2);
  return {
    height: BARCODE_BOX + key.height + below,
    draw(sheet, x, y, height) {
      sheet.box(x, y, width, BARCODE_BOX);
      if (bars) drawBars(sheet, bars, [x, y + (BARCODE_BOX - BARCODE) / 2, width, BARCODE]);
      key.draw(sheet, x, y + BARCODE_BOX);
      const top = y + BARCODE_BOX + key.height;
      sheet.box(x, top, width, y + height - top);
      let at = top + (y + height - top - below) / 2 + 3;
      if (secondBars) {
        drawBars(sheet, secondBars, [x, at, width, BARCODE]);
        at += BARCODE + 2;
      }
      drawLines(sheet, legend, FORM.regular, x + 4, at, room, 'center');
      drawLines(sheet, notices, FORM.bold, x + 4, at + heightOf(legend), room, 'center');
    },
  };
}

function fitLegend(room: number): Fitted {
  const size = Math.min(...LEGEND.map((line) => fit(line, FORM.regular, 9, 6, room).size));
  return { lines: LEGEND, size };
}

function registrationRows(note: Note, standing: Standing, code: number, width: number): Piece[] {
  const { issuer, protocol } = note;
  const approval = joined([protocol.number, joined([protocol.on, protocol.at], ' ')], ' - ');
  const registrations: Field[] = [
    { label: 'INSCRIÇÃO ESTADUAL', value: issuer.stateRegistration, share: 1 },
    { label: 'INSCRIÇÃO ESTADUAL DO SUBST. TRIBUTÁRIO', value: issuer.substituteRegistration, share: 1 },
    { label: 'CNPJ / CPF', value: issuer.taxId, share: 1 },
  ];
  const regime: Field[] = [
    { label: 'CÓDIGO DO REGIME TRIBUTÁRIO', value: issuer.regime, share: 1 },
    // NT 2026.010 keeps a box for it; the XML has no field yet.
    { label: 'TIPO DE REGIME DE APURAÇÃO DO IBS E DA CBS', value: '', share: 1 },
  ];
  const rows: Field[][] = [
    [
      { label: 'NATUREZA DA OPERAÇÃO', value: note.nature, share: width - code },
      { label: standing.protocolLabel, value: approval, share: code, align: 'center', bold: true },
    ],
    ...(!note.reform ? [registrations] : note.landscape ? [[...registrations, ...regime]] : [registrations, regime]),
  ];
  return rows.map((row) => fieldRow(row, width, FORM));
}
