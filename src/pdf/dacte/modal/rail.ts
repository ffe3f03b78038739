import { amount, joined, quantity, taxId } from '../../kit/formats.js';
import type { XmlNode } from '../../kit/xml-node.js';
import { type Codes, coded } from '../codes.js';
import { field, fields, type ModalBlock, records } from './block.js';

/** The block of a freight by rail. */
export function rail(ferrov: XmlNode): ModalBlock {
  const mutual = ferrov.at('trafMut');
  // Before layout 3.00 the railways and the freight stood outside of trafMut.
  const railways = [...mutual.all('ferroEnv'), ...ferrov.all('ferroEnv')];
  return {
    title: 'DADOS ESPECÍFICOS DO MODAL FERROVIÁRIO',
    rows: [
      fields(
        [
          field('TIPO DE TRÁFEGO', coded(ferrov.text('tpTraf'), TRAFFICS), 1.4),
          field('FLUXO FERROVIÁRIO', ferrov.text('fluxo'), 1.4),
          field('RESPONSÁVEL PELO FATURAMENTO', coded(mutual.text('respFat'), RAILWAYS), 1.8),
          field('FERROVIA EMITENTE DO CT-e', coded(mutual.text('ferrEmi'), RAILWAYS), 1.8),
          { ...field('VALOR DO FRETE', amount(mutual.text('vFrete') || ferrov.text('vFrete')), 1.2), align: 'right' },
        ],
        [field('TREM', ferrov.text('idTrem')), field('CT-e DA FERROVIA DE ORIGEM', mutual.text('chCTeFerroOrigem'), 3)],
      ),
    ],
    records: [
      records(
        'FERROVIAS ENVOLVIDAS',
        [
          ['CNPJ', 1.6],
          ['CÓDIGO INTERNO', 1],
          ['INSCRIÇÃO ESTADUAL', 1.3],
          ['RAZÃO SOCIAL', 4],
          ['MUNICÍPIO', 2],
        ],
        railways.map((railway) => [
          taxId(railway.text('CNPJ')),
          railway.text('cInt'),
          railway.text('IE'),
          railway.text('xNome'),
          joined([railway.text('enderFerro/xMun'), railway.text('enderFerro/UF')], ' - '),
        ]),
      ),
      records(
        'VAGÕES',
        [
          ['NÚMERO', 1],
          ['TIPO', 1],
          ['CAPACIDADE', 1, 'right'],
          ['PESO REAL', 1, 'right'],
          ['PESO BASE DE CÁLCULO', 1, 'right'],
        ],
        ferrov
          .all('detVag')
          .map((wagon) => [
            wagon.text('nVag'),
            wagon.text('tpVag'),
            quantity(wagon.text('cap')),
            quantity(wagon.text('pesoR')),
            quantity(wagon.text('pesoBC')),
          ]),
      ),
    ],
  };
}

const TRAFFICS: Codes = new Map([
  ['0', 'PRÓPRIO'],
  ['1', 'MÚTUO'],
  ['2', 'RODOFERROVIÁRIO'],
  ['3', 'RODOVIÁRIO'],
]);
const RAILWAYS: Codes = new Map([
  ['1', 'FERROVIA DE ORIGEM'],
  ['2', 'FERROVIA DE DESTINO'],
]);
