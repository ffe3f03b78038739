import { amount, joined } from '../../kit/formats.js';
import type { XmlNode } from '../../kit/xml-node.js';
import { type Codes, meaning } from '../codes.js';
import { field, fields, type ModalBlock } from './block.js';

/** The block of a freight by water. */
export function water(aquav: XmlNode): ModalBlock {
  const barges = aquav.all('balsa').map((barge) => barge.text('xBalsa') || barge.text());
  return {
    title: 'DADOS ESPECÍFICOS DO MODAL AQUAVIÁRIO',
    rows: [
      fields(
        [
          field('IDENTIFICAÇÃO DO NAVIO', aquav.text('xNavio'), 2.4),
          field('IRIN', aquav.text('irin')),
          field('Nº DA VIAGEM', aquav.text('nViag')),
          field('DIREÇÃO', meaning(aquav.text('direc'), DIRECTIONS), 0.8),
          { ...field('BASE DE CÁLCULO DO AFRMM', amount(aquav.text('vPrest')), 1.9), align: 'right' },
          { ...field('VALOR DO AFRMM', amount(aquav.text('vAFRMM')), 1.2), align: 'right' },
        ],
        [field('NAVEGAÇÃO', meaning(aquav.text('tpNav'), NAVIGATIONS)), field('BALSAS', joined(barges, ', '), 2)],
      ),
    ],
    records: [],
  };
}

const DIRECTIONS: Codes = new Map([
  ['N', 'NORTE'],
  ['S', 'SUL'],
  ['L', 'LESTE'],
  ['O', 'OESTE'],
]);
const NAVIGATIONS: Codes = new Map([
  ['0', 'INTERIOR'],
  ['1', 'CABOTAGEM'],
]);
