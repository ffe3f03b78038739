import { ufCode } from '../../../documents/uf.js';
import { SeededRandom, seededBytes } from '../random.js';
import { dummySignature } from '../signature.js';
import { localTime, taxIdElement } from '../text.js';
import type { Freight } from './freight.js';

interface EventKind {
  readonly description: string;
  /** Element below detEvento; the description is its first child. */
  readonly element: string;
  readonly author: 'issuer' | 'taker';
  readonly details: (freight: Freight) => string;
}

const CORRECTION_TERMS =
  'A Carta de Correcao e disciplinada pelo Art. 58-B do CONVENIO/SINIEF 06/89: Fica permitida a utilizacao de carta de correcao, para regularizacao de erro ocorrido na emissao de documentos fiscais relativos a prestacao de servico de transporte, desde que o erro nao esteja relacionado com: I - as variaveis que determinam o valor do imposto tais como: base de calculo, aliquota, diferenca de preco, quantidade, valor da prestacao;II - a correcao de dados cadastrais que implique mudanca do emitente, tomador, remetente ou do destinatario;III - a data de emissao ou de saida.';

const KINDS: Readonly<Record<string, EventKind>> = {
  '110110': {
    description: 'Carta de Correcao',
    element: 'evCCeCTe',
    author: 'issuer',
    details: () =>
      '<infCorrecao><grupoAlterado>compl</grupoAlterado><campoAlterado>xObs</campoAlterado><valorAlterado>Entregar pela manha</valorAlterado></infCorrecao>' +
      `<xCondUso>${CORRECTION_TERMS}</xCondUso>`,
  },
  '110111': {
    description: 'Cancelamento',
    element: 'evCancCTe',
    author: 'issuer',
    // The cancelled document's protocol, which is not the event's.
    details: ({ protocol }) => `<nProt>${protocol}</nProt><xJust>Servico desfeito antes do inicio da prestacao</xJust>`,
  },
  '110160': {
    description: 'Registro Multimodal',
    element: 'evRegMultimodal',
    author: 'issuer',
    details: () => '<xRegistro>Entregue ao transportador seguinte</xRegistro>',
  },
  '610110': {
    description: 'Prestacao do Servico em Desacordo',
    element: 'evPrestDesacordo',
    author: 'taker',
    details: () => '<indDesacordoOper>1</indDesacordoOper><xObs>Valor do frete diferente do combinado</xObs>',
  },
  /** Written by the authorizer when an MDF-e names the CT-e. */
  '310610': { description: 'MDF-e Autorizado', element: 'evCTeAutorizadoMDFe', author: 'issuer', details: () => '' },
  /** Written by the authorizer when a substitute is authorized. */
  '240140': { description: 'CT-e de Substituicao', element: 'evCTeSubstituicao', author: 'issuer', details: () => '' },
};

/** The types that are made up. */
export const CTE_EVENT_TYPES = Object.keys(KINDS);

/** procEventoCTe 4.00: an event about a transport with its registration. `type` may be one that nobody knows. */
export function procEventoCte(seed: string, freight: Freight, type: string, receivedAt: number): string {
  const random = new SeededRandom(seed);
  const kind = KINDS[type] ?? {
    description: 'Evento Ainda Desconhecido',
    element: 'evNovo',
    author: 'issuer',
    details: () => '<xNovo>conteudo de um layout futuro</xNovo>',
  };
  const organ = ufCode(freight.issuer.place.uf);
  const sequence = type === '110110' ? random.between(1, 3) : 1;
  const registeredAt = receivedAt - random.between(1, 120) * 1000;
  const happenedAt = registeredAt - random.between(1, 90) * 1000;
  const author = kind.author === 'taker' ? freight.taker.taxId : freight.issuer.taxId;
  const id = `ID${type}${freight.key}${String(sequence).padStart(3, '0')}`;
  const digest = seededBytes(`digest/${id}/${happenedAt}`, 20).toString('base64');
  const year = localTime(registeredAt, freight.utcOffset).slice(2, 4);
  return (
    '<procEventoCTe xmlns="http://www.portalfiscal.inf.br/cte" versao="4.00"><eventoCTe versao="4.00">' +
    `<infEvento Id="${id}"><cOrgao>${organ}</cOrgao><tpAmb>${freight.environmentCode}</tpAmb>${taxIdElement(author)}` +
    `<chCTe>${freight.key}</chCTe><dhEvento>${localTime(happenedAt, freight.utcOffset)}</dhEvento><tpEvento>${type}</tpEvento>` +
    `<nSeqEvento>${sequence}</nSeqEvento><detEvento versaoEvento="4.00"><${kind.element}><descEvento>${kind.description}</descEvento>` +
    `${kind.details(freight)}</${kind.element}></detEvento></infEvento>${dummySignature(id, digest, author)}</eventoCTe>` +
    `<retEventoCTe versao="4.00"><infEvento><tpAmb>${freight.environmentCode}</tpAmb><verAplic>SIM_1.0</verAplic><cOrgao>${organ}</cOrgao>` +
    `<cStat>135</cStat><xMotivo>Evento registrado e vinculado a CT-e</xMotivo><chCTe>${freight.key}</chCTe><tpEvento>${type}</tpEvento>` +
    `<xEvento>${kind.description}</xEvento><nSeqEvento>${sequence}</nSeqEvento><dhRegEvento>${localTime(registeredAt, freight.utcOffset)}</dhRegEvento>` +
    `<nProt>1${organ}${year}${random.digits(10)}</nProt></infEvento></retEventoCTe></procEventoCTe>`
  );
}
