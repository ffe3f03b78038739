import type { Field } from '../kit/fields.js';
import { amount, joined, quantity } from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';
import { MEASURES, meaning, UNITS } from './codes.js';

/** Measures of a cargo in one row; more of them take further rows. */
const MOST_IN_A_ROW = 6;

/** What is carried, and how much of it: each quantity as it was declared, in its own unit. Nothing for a document without cargo. */
export function cargoRows(cargo: XmlNode): Field[][] {
  if (!cargo.exists) return [];
  const insured = amount(cargo.text('vCargaAverb'));
  return [
    [
      { label: 'PRODUTO PREDOMINANTE', value: cargo.text('proPred'), share: 3 },
      { label: 'OUTRAS CARACTERÍSTICAS DA CARGA', value: cargo.text('xOutCat'), share: 2.5 },
      { label: 'VALOR TOTAL DA CARGA', value: amount(cargo.text('vCarga')), share: 1.6, align: 'right' },
      ...(insured === ''
        ? []
        : [{ label: 'VALOR PARA AVERBAÇÃO', value: insured, share: 1.6, align: 'right' } satisfies Field]),
    ],
    ...inEvenRows(cargo.all('infQ').map(measure)),
  ];
}

function measure(infQ: XmlNode): Field {
  return {
    label: meaning(infQ.text('tpMed'), MEASURES),
    value: joined([quantity(infQ.text('qCarga')), meaning(infQ.text('cUnid'), UNITS)], ' '),
    share: 1,
    align: 'right',
  };
}

function inEvenRows(fields: readonly Field[]): Field[][] {
  const rows = Math.ceil(fields.length / MOST_IN_A_ROW);
  const perRow = Math.ceil(fields.length / rows);
  return Array.from({ length: rows }, (_, row) => fields.slice(row * perRow, (row + 1) * perRow));
}

/** What a freight costs. */
export interface Price {
  readonly components: readonly Component[];
  /** Totals, the service's first. */
  readonly totals: Field[];
}

/** One part of the price. */
export interface Component {
  readonly name: string;
  readonly value: string;
}

/** What the service costs. In a CT-e Simplificado the components stand with each delivery. */
export function readPrice(xml: XmlNode): Price {
  const [prest, total] = [xml.at('vPrest'), xml.at('total')];
  const first = (...texts: string[]) => amount(texts.find((text) => text !== '') ?? '');
  const optional: Field[] = [
    {
      label: 'VALOR LÍQUIDO',
      value: first(prest.text('vTPrestLiq'), total.text('vTPrestLiq')),
      share: 1,
      align: 'right',
    },
    {
      label: 'VALOR TOTAL DO DOCUMENTO (COM IBS E CBS)',
      value: first(xml.text('imp/vTotDFe'), total.text('vTotDFe')),
      share: 1.4,
      align: 'right',
    },
  ];
  return {
    components: readComponents(prest),
    totals: [
      {
        label: 'VALOR TOTAL DO SERVIÇO',
        value: first(prest.text('vTPrest'), total.text('vTPrest')),
        share: 1,
        align: 'right',
        bold: true,
      },
      {
        label: 'VALOR A RECEBER',
        value: first(prest.text('vRec'), total.text('vTRec')),
        share: 1,
        align: 'right',
        bold: true,
      },
      ...optional.filter(({ value }) => value !== ''),
    ],
  };
}

/** The parts of the price, in the document's order. */
export function readComponents(group: XmlNode): Component[] {
  return group.all('Comp').map((component) => ({
    name: component.text('xNome') || component.text('xComp'),
    value: amount(component.text('vComp')),
  }));
}
