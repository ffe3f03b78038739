import { titleLine } from '../kit/fields.js';
import type { Section } from '../kit/flow.js';
import { FORM, PRODUCTS } from '../kit/style.js';
import { type Cell, type Column, parallelCells, table, textCell, valueCell } from '../kit/table.js';
import type { Item } from './item.js';
import type { Note } from './note.js';

/** "Dados dos produtos / serviços". The order of columns is the manuals'. */
export function itemsTable(note: Note, width: number): Section {
  const { columns, cells } = note.reform ? reformTable(note, width) : classicTable(note, width);
  return table(columns, note.items.map(cells), PRODUCTS, (continued) =>
    titleLine(`DADOS DOS PRODUTOS / SERVIÇOS${continued ? ' (CONTINUAÇÃO)' : ''}`, FORM),
  );
}

/** Width of the column of codes; longer codes are broken. */
const CODE = 52;

interface Layout {
  readonly columns: readonly Column[];
  readonly cells: (item: Item) => Cell[];
}

type Spec = Column & { readonly values: (item: Item) => readonly string[] };

/**
 * MOC annex II. Columns that no item of the note uses (discount, substitution, IPI) give their room to the description. With them, an
 * upright sheet has room for the rest only in the pairs that the manual allows, one value below the other.
 */
function classicTable({ items, landscape }: Note, width: number): Layout {
  const used = (of: (item: Item) => string) => items.some((item) => of(item) !== '');
  const hasSt = used((item) => item.icmsSt.value);
  const hasIpi = used((item) => item.ipi.value);
  const hasDiscount = used((item) => item.discount);
  const cst = items.some((item) => item.isSimple) ? 'O/CSOSN' : 'O/CST';
  const taxed = (part: 'unit' | 'quantity' | 'unitPrice') => (item: Item) =>
    item.taxed === null ? [item[part]] : [item[part], item.taxed[part]];
  const ipi = hasIpi ? [numbers('VALOR\nIPI', 35, (item) => [item.ipi.value])] : [];
  const total = numbers('VALOR\nTOTAL', 44, (item) => [item.total]);
  if (!landscape && (hasSt || hasIpi || hasDiscount)) {
    return layoutOf(width, 'CÓDIGO\nNCM / SH', (item) => [item.code, item.ncm], [
      codes(`${cst}\nCFOP`, 28, (item) => [item.cst, item.cfop]),
      numbers('QUANT.\nUN.', 44, (item) =>
        taxed('quantity')(item).flatMap((text, at) => [text, taxed('unit')(item)[at] ?? '']),
      ),
      numbers('VALOR UNIT.\nDESCONTO', 47, (item) => [item.unitPrice, item.discount, item.taxed?.unitPrice ?? '']),
      total,
      numbers('BC ICMS\nBC ICMS ST', 45, (item) => [item.icms.base, item.icmsSt.base]),
      numbers('VALOR ICMS\nICMS ST', 40, (item) => [item.icms.value, item.icmsSt.value]),
      ...ipi,
      numbers('ALÍQ. ICMS\nALÍQ. IPI', 30, (item) => [item.icms.rate, item.ipi.rate]),
    ]);
  }
  return layoutOf(width, 'CÓDIGO', (item) => [item.code], [
    codes('NCM / SH', 33, (item) => [item.ncm]),
    codes(cst.replace('/', '\n'), 25, (item) => [item.cst]),
    codes('CFOP', 21, (item) => [item.cfop]),
    codes('UN.', 22, taxed('unit')),
    numbers('QUANT.', 44, taxed('quantity')),
    numbers('VALOR\nUNITÁRIO', 46, taxed('unitPrice')),
    ...(hasDiscount ? [numbers('VALOR\nDESC.', 38, (item) => [item.discount])] : []),
    total,
    numbers('BASE CÁLC.\nICMS', 44, (item) => [item.icms.base]),
    ...(hasSt ? [numbers('BASE CÁLC.\nICMS ST', 44, (item) => [item.icmsSt.base])] : []),
    numbers('VALOR\nICMS', 39, (item) => [item.icms.value]),
    ...(hasSt ? [numbers('VALOR\nICMS ST', 39, (item) => [item.icmsSt.value])] : []),
    ...ipi,
    numbers('ALÍQ.\nICMS', 26, (item) => [item.icms.rate]),
    ...(hasIpi ? [numbers('ALÍQ.\nIPI', 26, (item) => [item.ipi.rate])] : []),
  ]);
}

function numbers(title: string, width: number, values: Spec['values']): Spec {
  return { title, width, align: 'right', values };
}

function codes(title: string, width: number, values: Spec['values']): Spec {
  return { title, width, align: 'center', values };
}

function layoutOf(width: number, codeTitle: string, codeOf: Spec['values'], specs: readonly Spec[]): Layout {
  const code: Column = { title: codeTitle, width: CODE };
  const description = descriptionColumn([code, ...specs], width);
  return {
    columns: [code, description, ...specs],
    cells: (item) => [
      valueCell(codeOf(item), code, PRODUCTS),
      textCell(item.description, description, PRODUCTS),
      ...specs.map((spec) => valueCell(spec.values(item), spec, PRODUCTS)),
    ],
  };
}

/** NT 2026.010: base, rate and value of each tax in a line of its own. A tax that the item does not have has no line. */
function reformTable({ landscape }: Note, width: number): Layout {
  const wide = landscape ? 1.2 : 1;
  const code: Column = { title: 'CÓDIGO', width: CODE };
  const classes: Column = { title: 'CST\nCFOP', width: 26, align: 'center' };
  const amounts: Column = { title: 'QTD.\nUN.', width: 44 * wide, align: 'right' };
  const price: Column = { title: 'VALOR UNIT.\nDESCONTO', width: 46 * wide, align: 'right' };
  const total: Column = { title: 'VALOR\nTOTAL', width: 46 * wide, align: 'right' };
  const taxes: Column[] = [
    { title: 'TRIBUTO', width: 38 * wide },
    { title: 'BASES DE\nCÁLCULO', width: 46 * wide, align: 'right' },
    { title: 'ALÍQUOTAS', width: 32 * wide, align: 'right' },
    { title: 'VALORES DOS\nTRIBUTOS', width: 42 * wide, align: 'right' },
  ];
  const description = descriptionColumn([code, classes, amounts, price, total, ...taxes], width);
  return {
    columns: [code, description, classes, amounts, price, total, ...taxes],
    cells: (item) => [
      valueCell([item.code], code, PRODUCTS),
      textCell([...item.description, classification(item)], description, PRODUCTS),
      valueCell([item.cst, item.cfop], classes, PRODUCTS),
      valueCell(
        [item.quantity, item.unit, ...(item.taxed ? [item.taxed.quantity, item.taxed.unit] : [])],
        amounts,
        PRODUCTS,
      ),
      valueCell([item.unitPrice, item.discount, ...(item.taxed ? [item.taxed.unitPrice] : [])], price, PRODUCTS),
      valueCell([item.total], total, PRODUCTS),
      ...parallelCells(taxLines(item), taxes, PRODUCTS),
    ],
  };
}

function classification({ ncm, reformClass }: Item): string {
  return [ncm && `NCM ${ncm}`, reformClass && `cClassTrib ${reformClass}`].filter((text) => text !== '').join(' · ');
}

function taxLines(item: Item): string[][] {
  const lines = [
    { name: 'ICMS', ...item.icms },
    { name: 'ICMS ST', ...item.icmsSt },
    { name: 'IPI', ...item.ipi },
    ...item.reform,
  ];
  return lines
    .filter(({ base, rate, value }) => base !== '' || rate !== '' || value !== '')
    .map(({ name, base, rate, value }) => [name, base, rate, value]);
}

function descriptionColumn(others: readonly Column[], width: number): Column {
  return {
    title: 'DESCRIÇÃO DO PRODUTO / SERVIÇO',
    width: width - others.reduce((sum, column) => sum + column.width, 0),
  };
}
