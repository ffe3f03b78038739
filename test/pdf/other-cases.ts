import type { DocumentKind } from '../../src/model/document.js';
import type { Situation } from '../../src/pdf/index.js';
import { type NoteParts, procNfe, SELLER, sampleKey, sampleNote, write, type Xml } from './nfe-sample.js';

/** Receipts of NFC-e, and correction letters. */
export interface OtherCase {
  readonly name: string;
  readonly kind: DocumentKind;
  readonly xml: string;
  readonly situation: Situation;
  readonly sheets: number;
  /** Texts that must be on the page. */
  readonly texts: readonly string[];
  /** What its codes must say. */
  readonly codes: readonly string[];
}

const AUTHORIZED: Situation = { state: 'authorized' };
const LOOKUP = 'https://consulta.exemplo.gov.br/nfce';

function receipt(
  name: string,
  note: NoteParts,
  texts: readonly string[],
  more: { sheets?: number; situation?: Situation; protocol?: null } = {},
): OtherCase {
  const key = note['@Id'].slice(3);
  const qrCode = `${LOOKUP}?p=${key}|3|1`;
  const xml = procNfe(note, more.protocol === null ? null : {}, { qrCode, urlChave: LOOKUP });
  const { sheets = 1, situation = AUTHORIZED } = more;
  return { name, kind: 'procNFe', xml, situation, sheets, texts, codes: [qrCode] };
}

const consumerNote = sampleNote({ items: 4, model: '65', allTaxes: true });
const unnamed: NoteParts = {
  ...consumerNote,
  dest: undefined as unknown as Xml,
  pag: {
    detPag: [
      { tPag: '01', vPag: '50.00' },
      { tPag: '17', vPag: '1234520.00' },
      { tPag: '99', xPag: 'Vale da firma', vPag: '1.00' },
    ],
    vTroco: '3.11',
  },
};
const offline = sampleNote({ items: 2, model: '65', emission: '9', ordinary: false });
const inTest: NoteParts = { ...consumerNote, ide: { ...consumerNote.ide, tpAmb: '2' } };

const CORRECTION = Array.from({ length: 40 }, (_, at) => `Linha ${at + 1}: onde se lê A leia-se B.`)
  .join(' ')
  .slice(0, 1000);
const TERMS =
  `Condições de uso inventadas para a amostra. ${'A correção não muda valores nem pessoas. '.repeat(20)}`.trim();

export interface LetterOptions {
  readonly correction?: string;
  readonly terms?: string;
  readonly type?: string;
  readonly cStat?: string;
  readonly key?: string;
}

export function correctionLetterXml(options: LetterOptions = {}): string {
  const { correction = CORRECTION, terms = TERMS, type = '110110', cStat = '135', key = sampleKey() } = options;
  return write('procEventoNFe', {
    '@versao': '1.00',
    evento: {
      infEvento: {
        '@Id': `ID${type}${key}02`,
        cOrgao: '35',
        tpAmb: '1',
        CNPJ: SELLER,
        chNFe: key,
        dhEvento: '2026-12-05T10:11:12-03:00',
        tpEvento: type,
        nSeqEvento: '2',
        verEvento: '1.00',
        detEvento: { descEvento: 'Carta de Correção', xCorrecao: correction, xCondUso: terms },
      },
    },
    retEvento: {
      infEvento: {
        tpAmb: '1',
        cStat,
        xMotivo: 'Evento registrado e vinculado a NF-e',
        chNFe: key,
        dhRegEvento: '2026-12-05T10:11:15-03:00',
        nProt: '135260000012345',
      },
    },
  });
}

function letter(name: string, options: LetterOptions, sheets: number, texts: readonly string[]): OtherCase {
  const { key = sampleKey() } = options;
  return {
    name,
    kind: 'procEventoNFe',
    xml: correctionLetterXml(options),
    situation: AUTHORIZED,
    sheets,
    texts,
    codes: [key],
  };
}

export const OTHER_CASES: readonly OtherCase[] = [
  receipt('receipt', consumerNote, [
    'CONSUMIDOR',
    'Compradora Fictícia',
    'NFC-e nº 000.004.711',
    'VALOR A PAGAR R$',
    '1.234.567,89',
    'Boleto bancário',
    '135260000004711',
  ]),
  receipt('receipt for nobody in particular', unnamed, [
    'CONSUMIDOR NÃO IDENTIFICADO',
    'Dinheiro',
    'Pix dinâmico',
    '99 - Vale da firma',
    'Troco R$',
    '3,11',
  ]),
  receipt('offline receipt', offline, ['EMITIDA EM CONTINGÊNCIA - PENDENTE DE AUTORIZAÇÃO', 'SEM VALOR FISCAL'], {
    protocol: null,
    situation: { state: 'unknown' },
  }),
  receipt('receipt of the test environment', inTest, ['EMITIDA EM AMBIENTE DE HOMOLOGAÇÃO - SEM VALOR FISCAL']),
  receipt(
    '990 items on a receipt',
    sampleNote({ items: 990, model: '65', ordinary: false }),
    ['COD-0001', 'COD-0990', 'Qtd. total de itens', '990'],
    { sheets: 4 },
  ),
  letter('correction letter', {}, 1, [
    'CARTA DE CORREÇÃO ELETRÔNICA',
    'Linha 1: onde se lê A leia-se B.',
    '135260000012345',
    '05/12/2026 10:11:15',
  ]),
  letter('long correction letter', { terms: 'Condição de uso. '.repeat(1500) }, 3, [
    'FOLHA 3/3',
    'CONDIÇÕES DE USO (CONTINUAÇÃO)',
  ]),
  letter('refused correction letter', { cStat: '493' }, 1, ['SEM VALOR FISCAL']),
];
