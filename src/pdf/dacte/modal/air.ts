import { amount, date, joined } from '../../kit/formats.js';
import type { XmlNode } from '../../kit/xml-node.js';
import { type Codes, coded } from '../codes.js';
import { field, fields, type ModalBlock } from './block.js';

/** The block of a freight by air. */
export function air(aereo: XmlNode): ModalBlock {
  const handling = aereo
    .at('natCarga')
    .all('cInfManu')
    .map((code) => code.text());
  return {
    title: 'DADOS ESPECÍFICOS DO MODAL AÉREO',
    rows: [
      fields(
        [
          field('Nº OPERACIONAL DO CONHECIMENTO AÉREO', aereo.text('nOCA'), 2.2),
          field('Nº DA MINUTA', aereo.text('nMinu')),
          field('DATA PREVISTA DE ENTREGA', date(aereo.text('dPrevAereo')), 1.4),
          field('CLASSE DA TARIFA', coded(aereo.text('tarifa/CL'), AIR_CLASSES), 1.3),
          field('CÓDIGO DA TARIFA', aereo.text('tarifa/cTar')),
          { ...field('VALOR DA TARIFA', amount(aereo.text('tarifa/vTar'))), align: 'right' },
        ],
        [
          field('DIMENSÃO (CM)', aereo.text('natCarga/xDime')),
          // Layouts up to 2.00.
          field('CÓDIGO IATA', aereo.text('cIATA'), 0.8),
          field('AGENTE EMISSOR', aereo.text('xLAgEmi'), 1.2),
        ],
      ),
      handling.length === 0
        ? []
        : [
            field(
              'INFORMAÇÕES DE MANUSEIO',
              joined(
                handling.map((code) => coded(code, HANDLING)),
                '; ',
              ),
            ),
          ],
    ],
    records: [],
  };
}

const AIR_CLASSES: Codes = new Map([
  ['M', 'MÍNIMA'],
  ['G', 'GERAL'],
  ['E', 'ESPECÍFICA'],
]);
/** cInfManu, as short as a box allows. */
const HANDLING: Codes = new Map([
  ['01', 'animal vivo, com certificado do expedidor'],
  ['02', 'artigo perigoso, com declaração do expedidor'],
  ['03', 'somente em aeronave cargueira'],
  ['04', 'artigo perigoso, declaração não requerida'],
  ['05', 'artigo perigoso em quantidade isenta'],
  ['06', 'gelo seco para refrigeração'],
  ['07', 'não restrito'],
  ['08', 'artigo perigoso em carga consolidada'],
  ['09', 'autorização governamental anexa'],
  ['10', 'baterias de íons de lítio, PI965-II, CAO'],
  ['11', 'baterias de íons de lítio, PI966-II'],
  ['12', 'baterias de íons de lítio, PI967-II'],
  ['13', 'baterias de metal lítio, PI968-II, CAO'],
  ['14', 'baterias de metal lítio, PI969-II'],
  ['15', 'baterias de metal lítio, PI970-II'],
  ['99', 'outro'],
]);
