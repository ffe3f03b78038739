import { date, quantity } from '../../kit/formats.js';
import type { XmlNode } from '../../kit/xml-node.js';
import { type Codes, coded } from '../codes.js';
import { field, fields, type ModalBlock } from './block.js';

/** The block of a freight by pipeline. */
export function pipeline(duto: XmlNode): ModalBlock {
  return {
    title: 'DADOS ESPECÍFICOS DO MODAL DUTOVIÁRIO',
    rows: [
      fields(
        [
          field('INÍCIO DA PRESTAÇÃO', date(duto.text('dIni'))),
          field('FIM DA PRESTAÇÃO', date(duto.text('dFim'))),
          { ...field('VALOR DA TARIFA', quantity(duto.text('vTar'))), align: 'right' },
        ],
        [
          field('CLASSIFICAÇÃO', coded(duto.text('classDuto'), PIPELINES)),
          field('CONTRATAÇÃO', coded(duto.text('tpContratacao'), PIPELINE_CONTRACTS), 1.6),
          field('PONTO DE ENTRADA', duto.text('codPontoEntrada')),
          field('PONTO DE SAÍDA', duto.text('codPontoSaida')),
          field('Nº DO CONTRATO', duto.text('nContrato')),
        ],
      ),
    ],
    records: [],
  };
}

const PIPELINES: Codes = new Map([
  ['1', 'GASODUTO'],
  ['2', 'MINERODUTO'],
  ['3', 'OLEODUTO'],
]);
const PIPELINE_CONTRACTS: Codes = new Map([
  ['0', 'PONTO A PONTO'],
  ['1', 'CAPACIDADE DE ENTRADA'],
  ['2', 'CAPACIDADE DE SAÍDA'],
]);
