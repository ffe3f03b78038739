import { taxId } from '../../kit/formats.js';
import type { XmlNode } from '../../kit/xml-node.js';
import { type Codes, coded } from '../codes.js';
import { field, type ModalBlock } from './block.js';

/** The block of a freight by several modals. */
export function multimodal(modal: XmlNode): ModalBlock {
  const insurance = modal.at('seg');
  return {
    title: 'DADOS ESPECÍFICOS DO MULTIMODAL',
    rows: [
      [
        field('CERTIFICADO DO OPERADOR (COTM)', modal.text('COTM'), 1.6),
        field('INDICADOR NEGOCIÁVEL', coded(modal.text('indNegociavel'), NEGOTIABLE), 1.6),
        field('SEGURADORA', insurance.text('infSeg/xSeg'), 2),
        field('CNPJ DA SEGURADORA', taxId(insurance.text('infSeg/CNPJ')), 1.5),
        field('APÓLICE', insurance.text('nApol')),
        field('AVERBAÇÃO', insurance.text('nAver')),
      ],
    ],
    records: [],
  };
}

const NEGOTIABLE: Codes = new Map([
  ['0', 'NÃO NEGOCIÁVEL'],
  ['1', 'NEGOCIÁVEL'],
]);
