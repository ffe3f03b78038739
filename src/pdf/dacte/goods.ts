import { amount, joined, quantity } from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';
import { type Codes, coded, INSURERS, meaning } from './codes.js';
import type { Records } from './lists.js';
import { records } from './modal/block.js';

/** Goods that are listed one by one, and who insures them; those tables that the CT-e has. */
export function goodsTables(normal: XmlNode): Records[] {
  return [dangerous(normal), vehicles(normal), insurance(normal)].filter(({ rows }) => rows.length > 0);
}

/** By air, and up to layout 2.00 by any means. */
function dangerous(normal: XmlNode): Records {
  return records(
    'PRODUTOS PERIGOSOS',
    [
      ['Nº ONU', 1],
      ['NOME APROPRIADO PARA EMBARQUE', 3.5],
      ['CLASSE / SUBCLASSE', 1.4],
      ['GRUPO EMB.', 1],
      ['QTD. TOTAL', 1.4, 'right'],
      ['VOLUMES', 1.6, 'right'],
    ],
    [...normal.at('infModal/aereo').all('peri'), ...normal.all('peri')].map((goods) => [
      goods.text('nONU'),
      goods.text('xNomeAE'),
      goods.text('xClaRisco'),
      goods.text('grEmb'),
      joined(
        [
          quantity(goods.text('infTotAP/qTotProd') || goods.text('qTotProd')),
          meaning(goods.text('infTotAP/uniAP'), DANGEROUS_UNITS),
        ],
        ' ',
      ),
      goods.text('qTotEmb') || goods.text('qVolTipo'),
    ]),
  );
}

function vehicles(normal: XmlNode): Records {
  return records(
    'VEÍCULOS NOVOS TRANSPORTADOS',
    [
      ['CHASSI', 2],
      ['COR', 2],
      ['MODELO', 1],
      ['VALOR UNITÁRIO', 1.2, 'right'],
      ['FRETE UNITÁRIO', 1.2, 'right'],
    ],
    normal
      .all('veicNovos')
      .map((vehicle) => [
        vehicle.text('chassi'),
        joined([vehicle.text('cCor'), vehicle.text('xCor')], ' - '),
        vehicle.text('cMod'),
        amount(vehicle.text('vUnit')),
        amount(vehicle.text('vFrete')),
      ]),
  );
}

/** CT-e OS, and any CT-e up to layout 2.00. */
function insurance(normal: XmlNode): Records {
  return records(
    'SEGURO',
    [
      ['RESPONSÁVEL', 2],
      ['SEGURADORA', 3],
      ['APÓLICE', 2],
      ['AVERBAÇÃO', 2],
      ['VALOR DA CARGA', 1.4, 'right'],
    ],
    normal
      .all('seg')
      .map((insured) => [
        coded(insured.text('respSeg'), INSURERS),
        insured.text('xSeg'),
        insured.text('nApol'),
        insured.text('nAver'),
        amount(insured.text('vCarga')),
      ]),
  );
}

/** uniAP. */
const DANGEROUS_UNITS: Codes = new Map([
  ['1', 'KG'],
  ['2', 'KG BRUTO'],
  ['3', 'L'],
  ['4', 'TI'],
  ['5', 'UN'],
]);
