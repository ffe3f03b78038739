import { ufCode } from '../../documents/uf.js';
import type { Note } from './note.js';
import { SeededRandom, seededBytes } from './random.js';
import { dummySignature } from './signature.js';
import { escaped, localTime, taxIdElement } from './text.js';

/** One event about a note: what its summary and its full form agree on. */
export interface EventFacts {
  /** tpEvento. */
  readonly type: string;
  /** As it is written in xEvento. */
  readonly description: string;
  readonly sequence: number;
  /** Access key of the note that it speaks of. */
  readonly key: string;
  /** Tax ID of its author. */
  readonly author: string;
  /** cOrgao: 91 national environment, or a UF's code. */
  readonly organ: string;
  readonly at: number;
  readonly registeredAt: number;
  readonly utcOffset: number;
  readonly protocol: string;
  /** cStat of the registration. */
  readonly status: '135' | '136' | '155';
  /** Content of detEvento after descEvento. */
  readonly details: string;
  readonly environmentCode: '1' | '2';
}

interface EventKind {
  readonly description: string;
  /** Another spelling for descEvento, where the layout forbids the accents that xEvento has. */
  readonly descEvento?: string;
  readonly author: 'issuer' | 'recipient' | 'carrier';
  readonly national?: true;
  readonly details: (note: Note, random: SeededRandom) => string;
}

const none = () => '';

/** The conditions of use that the layout of the correction letter prescribes word by word. */
const CORRECTION_TERMS =
  'A Carta de Correcao e disciplinada pelo paragrafo 1o-A do art. 7o do Convenio S/N, de 15 de dezembro de 1970 e pode ser utilizada para regularizacao de erro ocorrido na emissao de documento fiscal, desde que o erro nao esteja relacionado com: I - as variaveis que determinam o valor do imposto tais como: base de calculo, aliquota, diferenca de preco, quantidade, valor da operacao ou da prestacao; II - a correcao de dados cadastrais que implique mudanca do remetente ou do destinatario; III - a data de emissao ou de saida.';

const KINDS: Readonly<Record<string, EventKind>> = {
  '110110': {
    description: 'Carta de Correção',
    descEvento: 'Carta de Correcao',
    author: 'issuer',
    details: () =>
      `<xCorrecao>Onde se le volumes 2, leia-se volumes 3</xCorrecao><xCondUso>${CORRECTION_TERMS}</xCondUso>`,
  },
  '110111': {
    description: 'Cancelamento',
    author: 'issuer',
    details: (note) => `<nProt>${note.protocol}</nProt><xJust>Pedido desfeito pelo comprador antes da saida</xJust>`,
  },
  '210200': { description: 'Confirmacao da Operacao', author: 'recipient', national: true, details: none },
  '210210': { description: 'Ciencia da Operacao', author: 'recipient', national: true, details: none },
  '210220': { description: 'Desconhecimento da Operacao', author: 'recipient', national: true, details: none },
  '210240': {
    description: 'Operacao nao Realizada',
    author: 'recipient',
    national: true,
    details: () => '<xJust>Mercadoria devolvida na entrega por avaria</xJust>',
  },
  '610600': {
    description: 'CT-e Autorizado para NF-e',
    author: 'carrier',
    national: true,
    details: (note, random) =>
      `<CTe><chCTe>${note.key.slice(0, 20)}57${random.digits(22)}</chCTe><nProt>${random.digits(15)}</nProt></CTe>`,
  },
  '610610': { description: 'MDF-e Autorizado com CT-e', author: 'carrier', national: true, details: none },
  '610554': { description: 'Registro de Passagem Automático', author: 'carrier', details: none },
};

/** Types that come about a note that the company received, carries or may read; and about one of its own. */
export const EVENTS_ABOUT_OTHERS = ['110111', '110110', '610600', '610610', '610554'] as const;
/** Events that come to who issued the note. */
export const EVENTS_ABOUT_OWN = ['210200', '210210', '210240', '210220', '610600'] as const;

/** An event about `note`, made from the seed. `type` may be one that nobody knows: it becomes a well-formed event of that type. */
export function makeEvent(seed: string, note: Note, type: string, receivedAt: number): EventFacts {
  const random = new SeededRandom(seed);
  const kind = KINDS[type] ?? {
    description: 'Evento Ainda Desconhecido',
    author: 'issuer' as const,
    national: true as const,
    details: () => '<xNovo>conteudo de um layout futuro</xNovo>',
  };
  const registeredAt = receivedAt - random.between(1, 120) * 1000;
  const organ = kind.national === true ? '91' : ufCode(note.issuer.place.uf);
  const year = localTime(registeredAt, note.utcOffset).slice(2, 4);
  return {
    type,
    description: kind.description,
    sequence: type === '110110' ? random.between(1, 3) : 1,
    key: note.key,
    author: authorOf(kind, note),
    organ,
    at: registeredAt - random.between(1, 90) * 1000,
    registeredAt,
    utcOffset: note.utcOffset,
    protocol: `${organ === '91' ? '891' : `1${organ}`}${year}${random.digits(10)}`,
    status: type === '110111' ? random.weighted([['135', 9] as const, ['155', 1] as const]) : '135',
    details: `<descEvento>${kind.descEvento ?? kind.description}</descEvento>${kind.details(note, random)}`,
    environmentCode: note.environmentCode,
  };
}

function authorOf(kind: EventKind, note: Note): string {
  if (kind.author === 'recipient' && note.recipient !== 'foreign') return note.recipient.taxId;
  if (kind.author === 'carrier' && note.carrier !== null) return note.carrier.taxId;
  return note.issuer.taxId;
}

const STATUS_TEXT = {
  '135': 'Evento registrado e vinculado a NF-e',
  '136': 'Evento registrado, mas nao vinculado a NF-e',
  '155': 'Cancelamento homologado fora de prazo',
} as const;

/** procEventoNFe 1.00: the event with its registration. */
export function procEventoNfe(event: EventFacts): string {
  const id = `ID${event.type}${event.key}${String(event.sequence).padStart(2, '0')}`;
  const digest = seededBytes(`digest/${id}/${event.at}`, 20).toString('base64');
  return (
    '<procEventoNFe xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00">' +
    '<evento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00">' +
    `<infEvento Id="${id}"><cOrgao>${event.organ}</cOrgao><tpAmb>${event.environmentCode}</tpAmb>` +
    `${taxIdElement(event.author)}<chNFe>${event.key}</chNFe>` +
    `<dhEvento>${localTime(event.at, event.utcOffset)}</dhEvento><tpEvento>${event.type}</tpEvento>` +
    `<nSeqEvento>${event.sequence}</nSeqEvento><verEvento>1.00</verEvento>` +
    `<detEvento versao="1.00">${event.details}</detEvento></infEvento>` +
    `${dummySignature(id, digest, event.author)}</evento>` +
    '<retEvento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00">' +
    `<infEvento Id="ID${event.protocol}"><tpAmb>${event.environmentCode}</tpAmb><verAplic>AN_SIM_1.0</verAplic>` +
    `<cOrgao>${event.organ}</cOrgao><cStat>${event.status}</cStat><xMotivo>${STATUS_TEXT[event.status]}</xMotivo>` +
    `<chNFe>${event.key}</chNFe><tpEvento>${event.type}</tpEvento><xEvento>${escaped(event.description)}</xEvento>` +
    `<nSeqEvento>${event.sequence}</nSeqEvento>` +
    `<dhRegEvento>${localTime(event.registeredAt, event.utcOffset)}</dhRegEvento><nProt>${event.protocol}</nProt>` +
    '</infEvento></retEvento></procEventoNFe>'
  );
}
