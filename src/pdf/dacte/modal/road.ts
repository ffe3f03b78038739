import { amount, date, dateAndTime, joined, labelled, taxId } from '../../kit/formats.js';
import type { XmlNode } from '../../kit/xml-node.js';
import { type Codes, coded, meaning } from '../codes.js';
import { field, fields, type ModalBlock, records } from './block.js';

/** The block of a freight by road. */
export function road(rodo: XmlNode): ModalBlock {
  const people = rodo.all('moto').map((driver) => joined([driver.text('xNome'), taxId(driver.text('CPF'))], ' '));
  const seals = rodo.all('lacRodo').map((seal) => seal.text('nLacre'));
  return {
    title: 'DADOS ESPECÍFICOS DO MODAL RODOVIÁRIO',
    rows: [
      // All but the first ended with layout 2.00.
      fields(
        [field('RNTRC DA EMPRESA', rodo.text('RNTRC'))],
        [
          field('CIOT', rodo.text('CIOT')),
          field('LOTAÇÃO', meaning(rodo.text('lota'), YES_IF_1)),
          field('DATA PREVISTA DE ENTREGA', date(rodo.text('dPrev')), 1.4),
          field('MOTORISTAS', joined(people, '; '), 3),
          field('LACRES', joined(seals, ', '), 2),
        ],
      ),
    ],
    records: [
      records(
        'ORDENS DE COLETA ASSOCIADAS',
        [
          ['SÉRIE', 1],
          ['NÚMERO', 1],
          ['EMISSÃO', 1.5],
          ['EMITENTE', 6],
        ],
        rodo
          .all('occ')
          .map((order) => [
            order.text('serie'),
            order.text('nOcc'),
            date(order.text('dEmi')),
            joined(
              [
                taxId(order.text('emiOcc/CNPJ')),
                order.text('emiOcc/cInt'),
                labelled('IE', order.text('emiOcc/IE')),
                order.text('emiOcc/UF'),
                order.text('emiOcc/fone'),
              ],
              ' - ',
            ),
          ]),
      ),
      records(
        'VEÍCULOS',
        [
          ['PLACA', 1],
          ['UF', 0.6],
          ['RENAVAM', 1.5],
          ['PROPRIETÁRIO', 4],
          ['RNTRC', 1.5],
        ],
        rodo
          .all('veic')
          .map((vehicle) => [
            vehicle.text('placa'),
            vehicle.text('UF'),
            vehicle.text('RENAVAM'),
            joined([vehicle.text('prop/xNome'), taxId(vehicle.text('prop/CNPJ') || vehicle.text('prop/CPF'))], ' '),
            vehicle.text('prop/RNTRC'),
          ]),
      ),
      records(
        'VALE-PEDÁGIO',
        [
          ['FORNECEDOR', 2],
          ['COMPRA', 2],
          ['PAGADOR', 2],
          ['VALOR', 1.2, 'right'],
        ],
        rodo
          .all('valePed')
          .map((toll) => [
            taxId(toll.text('CNPJForn')),
            toll.text('nCompra'),
            taxId(toll.text('CNPJPg')),
            amount(toll.text('vValePed')),
          ]),
      ),
    ],
  };
}

/** The block of a transport of people (CT-e OS). */
export function roadOfPeople(rodo: XmlNode): ModalBlock {
  const vehicle = rodo.at('veic');
  const owner = vehicle.at('prop');
  return {
    title: 'DADOS ESPECÍFICOS DO MODAL RODOVIÁRIO',
    rows: [
      fields(
        [
          field('TERMO DE AUTORIZAÇÃO DE FRETAMENTO', rodo.text('TAF'), 2),
          field('Nº DO REGISTRO ESTADUAL', rodo.text('NroRegEstadual'), 2),
          field('PLACA DO VEÍCULO', vehicle.text('placa')),
          field('UF', vehicle.text('UF'), 0.5),
          field('RENAVAM', vehicle.text('RENAVAM')),
        ],
        [
          field('FRETAMENTO', coded(rodo.text('infFretamento/tpFretamento'), CHARTERS)),
          field('DATA E HORA DA VIAGEM', dateAndTime(rodo.text('infFretamento/dhViagem')), 1.6),
        ],
      ),
      owner.children.length === 0
        ? []
        : [
            field('PROPRIETÁRIO DO VEÍCULO', owner.text('xNome'), 3),
            field('CNPJ / CPF', taxId(owner.text('CNPJ') || owner.text('CPF')), 1.6),
            field('IE', owner.text('IE'), 1.2),
            field('UF', owner.text('UF'), 0.5),
            field('TAF', owner.text('TAF'), 1.3),
            field('REGISTRO ESTADUAL', owner.text('NroRegEstadual'), 2),
            field('TIPO', coded(owner.text('tpProp'), OWNERS), 1.4),
          ],
    ],
    records: [],
  };
}

const YES_IF_1: Codes = new Map([
  ['0', 'NÃO'],
  ['1', 'SIM'],
]);
const CHARTERS: Codes = new Map([
  ['1', 'EVENTUAL'],
  ['2', 'CONTÍNUO'],
]);
const OWNERS: Codes = new Map([
  ['0', 'TAC AGREGADO'],
  ['1', 'TAC INDEPENDENTE'],
  ['2', 'OUTROS'],
]);
