import { drawLines, heightOf } from '../kit/fields.js';
import type { Piece, Section } from '../kit/flow.js';
import { textWidth } from '../kit/fonts.js';
import { joined } from '../kit/formats.js';
import { type Fitted, fit } from '../kit/text-fit.js';
import type { Cte } from './cte.js';
import { NOBODY, type Party } from './parties.js';
import { DACTE } from './style.js';

/** The parties: boxes with a label before each value, as dense as five addresses on one sheet need it. */
export function partySections({ form, parties, landscape }: Cte, width: number): Section[] {
  const { sender, recipient, dispatcher, receiver, taker } = parties;
  const takerBox = beside([box(wideLines('TOMADOR', taker ?? NOBODY, landscape), width)], width);
  if (form !== 'CTe') return [{ pieces: [takerBox] }];
  const carriers = [dispatcher, receiver].some((party) => party !== null);
  const boxes: [string, Party | null][] = [
    ['REMETENTE', sender],
    ['DESTINATÁRIO', recipient],
    ...(carriers
      ? ([
          ['EXPEDIDOR', dispatcher],
          ['RECEBEDOR', receiver],
        ] satisfies [string, Party | null][])
      : []),
  ];
  const columns = landscape ? boxes.length : 2;
  const rows = Array.from({ length: boxes.length / columns }, (_, row) =>
    beside(
      boxes
        .slice(row * columns, (row + 1) * columns)
        .map(([role, party]) => box(narrowLines(role, party ?? NOBODY), width / columns)),
      width / columns,
    ),
  );
  return [{ pieces: [...rows, takerBox] }];
}

interface Cell {
  readonly label: string;
  readonly value: string;
  readonly share: number;
  readonly bold?: true;
}

function narrowLines(role: string, party: Party): Cell[][] {
  return [
    [{ label: role, value: party.name, share: 1, bold: true }],
    [{ label: 'ENDEREÇO', value: addressOf(party), share: 1 }],
    [
      { label: 'MUNICÍPIO', value: party.city, share: 62 },
      { label: 'CEP', value: party.postalCode, share: 38 },
    ],
    [
      { label: 'CNPJ / CPF', value: party.taxId, share: 62 },
      { label: 'IE', value: party.stateRegistration, share: 38 },
    ],
    [
      { label: 'PAÍS', value: party.country, share: 62 },
      { label: 'FONE', value: party.phone, share: 38 },
    ],
  ];
}

function wideLines(role: string, party: Party, landscape: boolean): Cell[][] {
  const name: Cell = { label: role, value: party.name, share: 52, bold: true };
  const taxId: Cell = { label: 'CNPJ / CPF', value: party.taxId, share: 26 };
  const registration: Cell = { label: 'IE', value: party.stateRegistration, share: 22 };
  const street: Cell = { label: 'ENDEREÇO', value: addressOf(party), share: 52 };
  const city: Cell = { label: 'MUNICÍPIO', value: party.city, share: 26 };
  const postalCode: Cell = { label: 'CEP', value: party.postalCode, share: 22 };
  const phone: Cell = { label: 'FONE', value: party.phone, share: 26 };
  const country: Cell = { label: 'PAÍS', value: party.country, share: 26 };
  if (landscape)
    return [
      [name, taxId, registration, phone],
      [street, city, postalCode, country],
    ];
  return [
    [name, taxId, registration],
    [street, city, postalCode],
    [
      { ...country, share: 52 },
      { ...phone, share: 48 },
    ],
  ];
}

function addressOf({ street, district }: Party): string {
  return joined([street, district], ' - ');
}

/** So that values stand in line in all boxes. */
const WIDEST_ROLE = 'DESTINATÁRIO';

const PADDING = 2.5;
const LINE = 9.8;
const LARGEST = 8;
const SMALLEST = 6;

/** Lines of cells. Labels of the same column are equally wide, so that values stand in line. */
function box(lines: readonly (readonly Cell[])[], width: number): Piece {
  const labelSize = DACTE.label.largest;
  const labelWidths = [WIDEST_ROLE, '', '', ''].map((least, column) =>
    Math.max(
      ...[least, ...lines.map((cells) => cells[column]?.label ?? '')].map((label) =>
        textWidth(label, DACTE.regular, labelSize),
      ),
    ),
  );
  const rows = lines.map((cells) => {
    const shares = cells.reduce((sum, { share }) => sum + share, 0);
    return cells.map(({ label, value, share, bold }, column) => {
      const cell = ((width - 2 * PADDING) * share) / shares;
      const labelWidth = (labelWidths[column] ?? 0) + 5;
      const font = bold ? DACTE.bold : DACTE.regular;
      return { label, cell, labelWidth, font, text: fit(value, font, LARGEST, SMALLEST, cell - labelWidth - 3) };
    });
  });
  const heights = rows.map((cells) => Math.max(LINE, ...cells.map(({ text }) => linesHeight(text))));
  const height = heights.reduce((sum, each) => sum + each, 2 * PADDING);
  return {
    height,
    draw(sheet, x, y) {
      let top = y + PADDING;
      rows.forEach((cells, row) => {
        let left = x + PADDING;
        for (const { label, cell, labelWidth, font, text } of cells) {
          sheet.text(label, left, top + BASELINE, { font: DACTE.regular, size: labelSize });
          // The first line stands on the label's own, whatever its size.
          drawLines(sheet, text, font, left + labelWidth, top + BASELINE - text.size * 0.86, cell - labelWidth - 3);
          left += cell;
        }
        top += heights[row] ?? LINE;
      });
    },
  };
}

const BASELINE = 7.4;

function linesHeight(text: Fitted): number {
  return heightOf(text) + BASELINE - text.size * 0.86 + 1;
}

/** Boxes of equal width, all as high as the highest. */
function beside(boxes: readonly Piece[], width: number): Piece {
  const height = Math.max(...boxes.map((each) => each.height));
  return {
    height,
    draw(sheet, x, y) {
      boxes.forEach((each, index) => {
        each.draw(sheet, x + index * width, y);
        sheet.box(x + index * width, y, width, height);
      });
    },
  };
}
