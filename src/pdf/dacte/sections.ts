import { block, type Field, fieldRow, titleLine } from '../kit/fields.js';
import type { Piece, Section } from '../kit/flow.js';
import { space, textBox, textLines } from '../kit/lines.js';
import { type Cell, type Column, table, textCell, valueCell } from '../kit/table.js';
import type { Component } from './cargo.js';
import type { Cte } from './cte.js';
import type { Grid, List, Records } from './lists.js';
import { partySections } from './party-boxes.js';
import { DACTE, LIST } from './style.js';

/** The form below its head, in the manual's order: before the lists of documents, the lists, and after them. */

export function sectionsBefore(cte: Cte, width: number): Section[] {
  return [
    { pieces: [fieldRow(placeFields(cte), width, DACTE)] },
    ...partySections(cte, width),
    ...(cte.described === null ? [] : [block('INFORMAÇÕES DA PRESTAÇÃO DO SERVIÇO', [cte.described], width, DACTE)]),
    rows(cte.cargo, width),
    ...(cte.flow === null ? [] : [block('PREVISÃO DO FLUXO DA CARGA', [cte.flow], width, DACTE)]),
    ...priceSections(cte, width),
    block('INFORMAÇÕES RELATIVAS AO IMPOSTO', cte.taxes, width, DACTE),
  ];
}

/** The lists that run over as many sheets as they need. `width`: points. */
export function listSections({ lists }: Cte, width: number): Section[] {
  return lists.map((list) => listSection(list, width));
}

/**
 * @param size of the remarks, points
 * @param spare room that nobody else needs: half of it is for the remarks, half for the boxes at the end
 */
export function sectionsAfter(cte: Cte, width: number, size: number, spare: number): Section[] {
  const { modalBlock, goods } = cte;
  const title = (continued: boolean) => titleLine(`OBSERVAÇÕES${continued ? ' (CONTINUAÇÃO)' : ''}`, DACTE);
  const remarks = textBox(title, cte.remarks, width, { font: DACTE.regular, size });
  return [
    // A box of some height even without a remark: people write on it.
    { ...remarks, pieces: [...remarks.pieces, space(spare / 2 + (cte.remarks.length === 0 ? 12 : 0))] },
    ...(modalBlock === null ? [] : [block(modalBlock.title, modalBlock.rows, width, DACTE)]),
    ...[...(modalBlock?.records ?? []), ...goods].map((each) => listSection(each, width)),
    reservedSection(cte, width, size, spare / 2),
  ];
}

function rows(all: readonly (readonly Field[])[], width: number): Section {
  return { pieces: all.map((row) => fieldRow(row, width, DACTE)) };
}

function placeFields({ nature, start, end, route }: Cte): Field[] {
  return [
    { label: 'CFOP - NATUREZA DA PRESTAÇÃO', value: nature, share: 3 },
    { label: 'INÍCIO DA PRESTAÇÃO', value: start, share: 2 },
    ...(route === '' ? [] : [{ label: 'PERCURSO DO VEÍCULO', value: route, share: 1.6 }]),
    { label: 'TÉRMINO DA PRESTAÇÃO', value: end, share: 2 },
  ];
}

/** Components side by side; the totals close the block. */
function priceSections({ price, landscape }: Cte, width: number): Section[] {
  const title = () => titleLine('COMPONENTES DO VALOR DA PRESTAÇÃO DO SERVIÇO', DACTE);
  const totals = fieldRow(price.totals, width, DACTE);
  if (price.components.length === 0) return [{ head: title, pieces: [totals] }];
  const pairs = landscape ? 4 : 3;
  const columns = Array.from({ length: pairs }, (): Column[] => [
    { title: 'NOME', width: (width * 0.65) / pairs },
    { title: 'VALOR', width: (width * 0.35) / pairs, align: 'right' },
  ]).flat();
  const style = { ...LIST, size: 8, smallest: 6 };
  const lines = Array.from({ length: Math.ceil(price.components.length / pairs) }, (_, row): Cell[] =>
    columns.map((column, at) => {
      const component: Component | undefined = price.components[row * pairs + Math.floor(at / 2)];
      return valueCell([(at % 2 === 0 ? component?.name : component?.value) ?? ''], column, style);
    }),
  );
  return [table(columns, lines, style, title), { pieces: [totals] }];
}

function listSection(list: List, width: number): Section {
  const title = (continued: boolean) => titleLine(`${list.title}${continued ? ' (CONTINUAÇÃO)' : ''}`, DACTE);
  if ('columns' in list) {
    const [columns, cells] = recordsTable(list, width);
    return table(columns, cells, LIST, title);
  }
  const [columns, cells] = gridTable(list, width);
  // Keys need no names of columns.
  return { ...table(columns, cells, LIST), head: title };
}

type TableParts = readonly [readonly Column[], readonly Cell[][]];

/** Least width of a column of the grid: an access key in groups fits. */
const ENTRY = 180;

function gridTable({ entries }: Grid, width: number): TableParts {
  const count = Math.floor(width / ENTRY);
  const columns = Array.from({ length: count }, (): Column => ({ title: '', width: width / count }));
  const cells = Array.from({ length: Math.ceil(entries.length / count) }, (_, row) =>
    columns.map((column, at) => textCell(entries[row * count + at] ?? [], column, LIST)),
  );
  return [columns, cells];
}

function recordsTable({ columns: specs, rows: lines }: Records, width: number): TableParts {
  const shares = specs.reduce((sum, { share }) => sum + share, 0);
  const columns = specs.map(
    ({ title, share, align }): Column => ({ title, width: (width * share) / shares, ...(align && { align }) }),
  );
  const cells = lines.map((line) =>
    columns.map((column, at) => (column.align === undefined ? textCell : valueCell)(line[at] ?? [], column, LIST)),
  );
  return [columns, cells];
}

/** The two boxes at the end of the form. */
function reservedSection({ issuersNotes, taxOfficesNotes }: Cte, width: number, size: number, spare: number): Section {
  const style = { font: DACTE.regular, size };
  const left = width * 0.6;
  const boxes = [
    { label: 'USO EXCLUSIVO DO EMISSOR DO CT-e', lines: textLines(issuersNotes, left - 2 * INSIDE, style), at: 0 },
    { label: 'RESERVADO AO FISCO', lines: textLines(taxOfficesNotes, width - left - 2 * INSIDE, style), at: left },
  ];
  const count = Math.max(...boxes.map(({ lines }) => lines.length));
  const lines = Array.from({ length: count }, (_, line): Piece => {
    const pieces = boxes.map((each) => each.lines[line]);
    return {
      height: Math.max(...pieces.map((piece) => piece?.height ?? 0)),
      draw: (sheet, x, y) => boxes.forEach(({ at }, index) => void pieces[index]?.draw(sheet, x + at + INSIDE, y)),
    };
  });
  return {
    pieces: [...lines, space(spare + (count === 0 ? LEAST_RESERVED : INSIDE))],
    head: () => ({
      height: TITLE_GAP + LABEL,
      draw: (sheet, x, y) => {
        for (const { label, at } of boxes)
          sheet.text(label, x + at + 2, y + TITLE_GAP + 6.2, { font: DACTE.regular, size: DACTE.label.largest });
      },
    }),
    frame: (sheet, x, from, to) => {
      const top = from - LABEL;
      sheet.box(x, top, left, to - top);
      sheet.box(x + left, top, width - left, to - top);
    },
  };
}

const INSIDE = 3;
const LABEL = 8;
const TITLE_GAP = 4;
const LEAST_RESERVED = 22;
