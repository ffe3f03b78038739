import { joined } from '../kit/formats.js';

/** Codes of a CT-e and what they mean. A code that is not known is printed alone. */

export type Codes = ReadonlyMap<string, string>;

/** `0 - NORMAL`. */
export function coded(code: string, meanings: Codes): string {
  return joined([code, meanings.get(code) ?? ''], ' - ');
}

/** The meaning alone, where nobody knows the code by heart: `KG`. */
export function meaning(code: string, meanings: Codes): string {
  return meanings.get(code) ?? code;
}

export const MODALS: Codes = new Map([
  ['01', 'RODOVIÁRIO'],
  ['02', 'AÉREO'],
  ['03', 'AQUAVIÁRIO'],
  ['04', 'FERROVIÁRIO'],
  ['05', 'DUTOVIÁRIO'],
  ['06', 'MULTIMODAL'],
]);

/** tpCTe. 2 ended with layout 4.00; 5 and 6 are the simplified ones. */
export const TYPES: Codes = new Map([
  ['0', 'NORMAL'],
  ['1', 'COMPLEMENTO DE VALORES'],
  ['2', 'ANULAÇÃO'],
  ['3', 'SUBSTITUIÇÃO'],
  ['5', 'SIMPLIFICADO'],
  ['6', 'SUBSTITUIÇÃO DO SIMPLIFICADO'],
]);

/** tpServ. 6 to 8 are those of the CT-e OS. */
export const SERVICES: Codes = new Map([
  ['0', 'NORMAL'],
  ['1', 'SUBCONTRATAÇÃO'],
  ['2', 'REDESPACHO'],
  ['3', 'REDESPACHO INTERMEDIÁRIO'],
  ['4', 'SERVIÇO VINCULADO A MULTIMODAL'],
  ['6', 'TRANSPORTE DE PESSOAS'],
  ['7', 'TRANSPORTE DE VALORES'],
  ['8', 'EXCESSO DE BAGAGEM'],
]);

/** toma. */
export const TAKERS: Codes = new Map([
  ['0', 'REMETENTE'],
  ['1', 'EXPEDIDOR'],
  ['2', 'RECEBEDOR'],
  ['3', 'DESTINATÁRIO'],
  ['4', 'OUTROS'],
]);

/** cUnid. */
export const UNITS: Codes = new Map([
  ['00', 'M3'],
  ['01', 'KG'],
  ['02', 'TON'],
  ['03', 'UN'],
  ['04', 'L'],
  ['05', 'MMBTU'],
]);

/** tpMed of a CT-e Simplificado; elsewhere it is a text. */
export const MEASURES: Codes = new Map([
  ['00', 'CUBAGEM DA NF-e'],
  ['01', 'CUBAGEM AFERIDA'],
  ['02', 'PESO BRUTO DA NF-e'],
  ['03', 'PESO BRUTO AFERIDO'],
  ['04', 'PESO CUBADO'],
  ['05', 'PESO BASE DE CÁLCULO'],
  ['06', 'PESO OPERACIONAL'],
  ['07', 'CAIXAS'],
  ['08', 'PALETES'],
  ['09', 'SACAS'],
  ['10', 'CONTAINERS'],
  ['11', 'ROLOS'],
  ['12', 'BOMBONAS'],
  ['13', 'LATAS'],
  ['14', 'LITRAGEM'],
  ['15', 'MILHÃO DE BTU'],
  ['99', 'OUTROS'],
]);

/** CST of the ICMS. */
export const TAX_SITUATIONS: Codes = new Map([
  ['00', 'TRIBUTAÇÃO NORMAL'],
  ['20', 'BASE DE CÁLCULO REDUZIDA'],
  ['40', 'ISENÇÃO'],
  ['41', 'NÃO TRIBUTADA'],
  ['51', 'DIFERIDO'],
  ['60', 'COBRADO POR SUBSTITUIÇÃO TRIBUTÁRIA'],
  ['90', 'OUTROS'],
]);

/** tpDoc of what is neither NF nor NF-e. */
export const OTHER_DOCUMENTS: Codes = new Map([
  ['00', 'Declaração'],
  ['10', 'Dutoviário'],
  ['59', 'CF-e SAT'],
  ['65', 'NFC-e'],
  ['99', 'Outros'],
]);

/** tpDoc of a previous transport document on paper. */
export const PREVIOUS_PAPERS: Codes = new Map([
  ['07', 'ATRE'],
  ['08', 'DTA'],
  ['09', 'Conhecimento aéreo internacional'],
  ['10', 'Carta de porte internacional'],
  ['11', 'Conhecimento avulso'],
  ['12', 'TIF'],
  ['13', 'BL'],
]);

/** respSeg. 0 to 3 ended with layout 2.00. */
export const INSURERS: Codes = new Map([
  ['0', 'REMETENTE'],
  ['1', 'EXPEDIDOR'],
  ['2', 'RECEBEDOR'],
  ['3', 'DESTINATÁRIO'],
  ['4', 'EMITENTE DO CT-e'],
  ['5', 'TOMADOR DO SERVIÇO'],
]);
