import { code128, drawBars, drawQr, keyWidth } from '../kit/barcode.js';
import { drawLines, type Field, fieldRow, heightOf } from '../kit/fields.js';
import { inGroups, joined, labelled } from '../kit/formats.js';
import { mm, Sheet } from '../kit/sheet.js';
import { type Fitted, fit, wrapAll } from '../kit/text-fit.js';
import type { Standing } from '../standing.js';
import type { Cte } from './cte.js';
import { DACTE } from './style.js';

/** What every sheet of a DACTE begins with: issuer, title, QR code, barcode, key and protocol. */
export interface Head {
  readonly height: number;
  /** @param folio `1/3` */
  draw(sheet: Sheet, x: number, y: number, folio: string): void;
}

/** A part of the head; the parts beside it may make it higher than it needs. */
interface Panel {
  readonly width: number;
  readonly height: number;
  draw(sheet: Sheet, x: number, y: number, height: number, folio: string): void;
}

/** Room for the barcode of a key with letters, which others have as well. */
const CODES = mm(123);
/** 25 mm at least, blank margin included. */
const QR = mm(29);
/** 15 to 25 mm. */
const BARS = mm(15);
const LEAST_ISSUER = 60;
const TITLE_ACROSS = 278;
const LEGEND =
  'Consulta de autenticidade no portal nacional do CT-e, no site da Sefaz Autorizadora, ou em www.cte.fazenda.gov.br/portal';

/** Upright, title and codes lie upon each other; across, they stand side by side. */
export function headOf(cte: Cte, standing: Standing, width: number): Head {
  const codes = codesPanel(cte, standing, CODES);
  const title = titlePanel(cte, cte.landscape ? TITLE_ACROSS : CODES);
  const right = cte.landscape ? beside(title, codes) : upon(title, codes);
  const left = issuerPanel(cte, width - right.width);
  const height = Math.max(left.height, right.height);
  return {
    height,
    draw(sheet, x, y, folio) {
      left.draw(sheet, x, y, height, folio);
      right.draw(sheet, x + left.width, y, height, folio);
    },
  };
}

function upon(above: Panel, below: Panel): Panel {
  return {
    width: above.width,
    height: above.height + below.height,
    draw(sheet, x, y, height, folio) {
      above.draw(sheet, x, y, above.height, folio);
      below.draw(sheet, x, y + above.height, height - above.height, folio);
    },
  };
}

function beside(first: Panel, second: Panel): Panel {
  return {
    width: first.width + second.width,
    height: Math.max(first.height, second.height),
    draw(sheet, x, y, height, folio) {
      first.draw(sheet, x, y, height, folio);
      second.draw(sheet, x + first.width, y, height, folio);
    },
  };
}

function issuerPanel({ form, parties: { issuer, takerRole }, type, service, isGlobal }: Cte, width: number): Panel {
  const room = width - 10;
  const name = fit(issuer.name, DACTE.bold, 12, 10, room);
  const lines = [
    joined([issuer.street, issuer.district], ' - '),
    joined([issuer.city, labelled('CEP', issuer.postalCode)], ' - '),
    labelled('CNPJ / CPF', issuer.taxId),
    labelled('IE', issuer.stateRegistration),
    labelled('Fone', issuer.phone),
  ];
  const address: Fitted = { lines: wrapAll(lines, DACTE.regular, 8, room), size: 8 };
  const kind: Field = { label: 'TIPO DO CT-e', value: type, share: 1 };
  const kindOfService: Field = { label: 'TIPO DO SERVIÇO', value: service, share: 1 };
  const taker: Field = { label: 'TOMADOR DO SERVIÇO', value: takerRole, share: 1 };
  const globalized: Field[] = isGlobal ? [{ label: 'CT-e GLOBALIZADO', value: 'SIM', share: 1 }] : [];
  const fields =
    form === 'CTeOS'
      ? [[kind], [kindOfService]]
      : [
          [kind, kindOfService],
          [taker, ...globalized],
        ];
  const rows = fields.map((row) => fieldRow(row, width, DACTE));
  const below = rows.reduce((sum, row) => sum + row.height, 0);
  const needed = heightOf(name) + heightOf(address) + 10;
  return {
    width,
    height: Math.max(LEAST_ISSUER, needed) + below,
    draw(sheet, x, y, height) {
      const box = height - below;
      sheet.box(x, y, width, box);
      const top = y + (box - needed) / 2 + 3;
      drawLines(sheet, name, DACTE.bold, x + 5, top, room, 'center');
      drawLines(sheet, address, DACTE.regular, x + 5, top + heightOf(name) + 3, room, 'center');
      let at = y + box;
      for (const row of rows) {
        row.draw(sheet, x, at);
        at += row.height;
      }
    },
  };
}

/** Title and means of transport, number and sheet; beside them the QR code, where there is one. */
function titlePanel(cte: Cte, width: number): Panel {
  const qr = cte.qrCode === '' ? 0 : QR;
  // Made once for all sheets: nothing else on them takes as long.
  const code = new Sheet(qr, qr);
  if (qr > 0) drawQr(code, cte.qrCode, 0, 0, qr);
  const room = width - qr;
  const modalWidth = Math.min(92, room * 0.4);
  const titleWidth = room - modalWidth;
  const subtitle = linesOfOneSize(subtitleOf(cte), titleWidth - 6);
  const modal = fit(cte.modal, DACTE.bold, 10, 7, modalWidth - 4);
  const fields = (folio: string) => [
    fieldRow(
      [
        { label: 'MODELO', value: cte.model, share: 1, align: 'center', bold: true },
        { label: 'SÉRIE', value: cte.series, share: 1, align: 'center', bold: true },
        { label: 'NÚMERO', value: cte.number, share: 1.8, align: 'center', bold: true },
        { label: 'FOLHA', value: folio, share: 1.1, align: 'center', bold: true },
      ],
      room,
      DACTE,
    ),
    fieldRow(
      [
        { label: 'DATA E HORA DE EMISSÃO', value: cte.issuedAt, share: 1.5, align: 'center' },
        { label: 'INSC. SUFRAMA DO DEST.', value: cte.suframa, share: 1.2, align: 'center' },
      ],
      room,
      DACTE,
    ),
  ];
  const rows = fields('9999/9999').reduce((sum, row) => sum + row.height, 0);
  const above = Math.max(30, 17 + heightOf(subtitle), 12 + heightOf(modal));
  return {
    width,
    height: Math.max(qr, above + rows),
    draw(sheet, x, y, height, folio) {
      const box = height - rows;
      sheet.box(x, y, titleWidth, box);
      const top = y + (box - heightOf(subtitle) - 15) / 2;
      sheet.text(
        cte.form === 'CTeOS' ? 'DACTE OS' : 'DACTE',
        x,
        top + 12,
        { font: DACTE.bold, size: 14 },
        'center',
        titleWidth,
      );
      drawLines(sheet, subtitle, DACTE.regular, x + 3, top + 15, titleWidth - 6, 'center');
      sheet.box(x + titleWidth, y, modalWidth, box);
      sheet.text('MODAL', x + titleWidth + 2, y + 6.2, { font: DACTE.regular, size: DACTE.label.largest });
      drawLines(
        sheet,
        modal,
        DACTE.bold,
        x + titleWidth + 2,
        y + 3 + (box - heightOf(modal)) / 2,
        modalWidth - 4,
        'center',
      );
      let at = y + box;
      for (const row of fields(folio)) {
        row.draw(sheet, x, at);
        at += row.height;
      }
      if (qr === 0) return;
      sheet.box(x + room, y, qr, height);
      sheet.place(code, x + room, y + (height - qr) / 2);
    },
  };
}

function linesOfOneSize(lines: readonly string[], width: number): Fitted {
  return { lines, size: Math.min(...lines.map((line) => fit(line, DACTE.regular, 7.5, 5, width).size)) };
}

function subtitleOf({ form }: Cte): string[] {
  const others = form === 'CTeOS' ? ['para Outros Serviços'] : [];
  return ['Documento Auxiliar do Conhecimento', 'de Transporte Eletrônico', ...others];
}

/** Barcode, key, and the protocol's box, in whose middle stands what is wrong with the document. */
function codesPanel(cte: Cte, standing: Standing, width: number): Panel {
  const bars = code128(cte.key);
  const key = fieldRow(
    [{ label: 'CHAVE DE ACESSO', value: inGroups(cte.key), share: 1, align: 'center', bold: true }],
    width,
    { ...DACTE, row: 18 },
  );
  const room = width - 8;
  const legend = fit(LEGEND, DACTE.regular, 6.5, 6, room);
  const noticeSize = Math.min(9, ...standing.notices.map((notice) => fit(notice, DACTE.bold, 9, 7, room).size));
  const notices: Fitted = { lines: wrapAll(standing.notices, DACTE.bold, noticeSize, room), size: noticeSize };
  const approval = fit(joined([cte.protocol.number, cte.protocol.at], ' - '), DACTE.bold, 10, 6, room);
  const barsBox = BARS + 6;
  const legendBox = heightOf(legend) + 3;
  const needed = Math.max(2 * DACTE.row - legendBox - 2, 9 + heightOf(approval) + heightOf(notices));
  return {
    width,
    height: barsBox + key.height + legendBox + needed + 2,
    draw(sheet, x, y, height) {
      sheet.box(x, y, width, barsBox);
      const code = keyWidth(cte.key);
      if (bars) drawBars(sheet, bars, [x + (width - code) / 2, y + 3, code, BARS]);
      key.draw(sheet, x, y + barsBox);
      let top = y + barsBox + key.height;
      sheet.box(x, top, width, legendBox);
      drawLines(sheet, legend, DACTE.regular, x + 4, top + 1.5, room, 'center');
      top += legendBox;
      const box = y + height - top;
      sheet.box(x, top, width, box);
      sheet.text(standing.protocolLabel, x + 2, top + 6.2, { font: DACTE.regular, size: DACTE.label.largest });
      const text = heightOf(approval) + heightOf(notices);
      const at = top + 7 + (box - 8 - text) / 2;
      drawLines(sheet, approval, DACTE.bold, x + 4, at, room, 'center');
      drawLines(sheet, notices, DACTE.bold, x + 4, at + heightOf(approval), room, 'center');
    },
  };
}
