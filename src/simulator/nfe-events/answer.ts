import { MANIFESTATION_RULES } from '../../model/manifestation.js';
import { escaped, localTime } from '../documents/text.js';
import type { AnsweredEvent, EventsAnswer } from '../events/dialect.js';

/** xMotivo, as the national environment words them (without accents). */
const TEXTS: Readonly<Record<string, string>> = {
  '108': 'Servico Paralisado Momentaneamente (curto prazo)',
  '109': 'Servico Paralisado sem Previsao',
  '128': 'Lote de evento processado',
  '135': 'Evento registrado e vinculado a NF-e',
  '136': 'Evento registrado, mas nao vinculado a NF-e',
  '155': 'Evento registrado fora do prazo',
  '213': 'Rejeicao: CNPJ-Base do Autor difere do CNPJ-Base do Certificado Digital',
  '215': 'Rejeicao: Falha no schema XML do lote de eventos',
  '225': 'Rejeicao: Falha no Schema XML do evento',
  '250': 'Rejeicao: Orgao de recepcao do evento invalido',
  '252': 'Rejeicao: Ambiente informado diverge do Ambiente de recebimento',
  '290': 'Rejeicao: Certificado Assinatura invalido',
  '291': 'Rejeicao: Certificado Assinatura Data Validade',
  '297': 'Rejeicao: Assinatura difere do calculado',
  '298': 'Rejeicao: Assinatura difere do padrao do Sistema',
  '402': 'Rejeicao: XML da area de dados com codificacao diferente de UTF-8',
  '404': 'Rejeicao: Uso de prefixo de namespace nao permitido',
  '460': 'Rejeicao: Protocolo do Evento difere do cadastrado',
  '489': 'Rejeicao: CNPJ informado invalido (DV ou zeros)',
  '490': 'Rejeicao: CPF informado invalido (DV ou zeros)',
  '491': 'Rejeicao: O tpEvento informado invalido',
  '493': 'Rejeicao: Evento nao atende o Schema XML especifico',
  '572': 'Rejeicao: Erro Atributo ID do evento nao corresponde a concatenacao dos campos',
  '573': 'Rejeicao: Duplicidade de evento',
  '575': 'Rejeicao: O autor do evento diverge do destinatario da NF-e',
  '577': 'Rejeicao: A data do evento nao pode ser menor que a data de emissao da NF-e',
  '578': 'Rejeicao: A data do evento nao pode ser maior que a data do processamento',
  '588': 'Rejeicao: Caracteres de edicao no inicio/fim da mensagem ou entre as tags',
  '594': 'Rejeicao: O numero de sequencia do evento informado e maior que o permitido',
  '596': 'Rejeicao: Evento apresentado apos o prazo permitido para o evento',
  '650': 'Rejeicao: Evento de Ciencia da Operacao para NF-e Cancelada ou Denegada',
  '651': 'Rejeicao: Evento de Desconhecimento da Operacao para NF-e Cancelada ou Denegada',
  '655': 'Rejeicao: Evento de Ciencia da Operacao informado apos a manifestacao final do destinatario',
  '656': 'Rejeicao: Consumo Indevido',
  '999': 'Rejeicao: Erro nao catalogado',
};

/** xMotivo of an event's answer. */
export const eventStatusText = (cStat: string) => TEXTS[cStat] ?? `Rejeicao: codigo ${cStat}`;

const NFE = 'http://www.portalfiscal.inf.br/nfe';

/**
 * retEnvEvento 1.00.
 *
 * @param wrapper the element around it: the AN and others name it differently
 */
export function writeEventsAnswer(wrapper: string, organ: string, answer: EventsAnswer): string {
  const { lot, environmentCode, cStat, text, events } = answer;
  return (
    `<${wrapper} xmlns="${NFE}/wsdl/NFeRecepcaoEvento4"><retEnvEvento xmlns="${NFE}" versao="1.00">` +
    `<idLote>${lot}</idLote><tpAmb>${environmentCode}</tpAmb><verAplic>SIM_EV_1.0</verAplic><cOrgao>${organ}</cOrgao>` +
    `<cStat>${cStat}</cStat><xMotivo>${escaped(text)}</xMotivo>${events.map((each) => retEvento(organ, answer, each)).join('')}` +
    `</retEnvEvento></${wrapper}>`
  );
}

function retEvento(organ: string, answer: EventsAnswer, { event, cStat, text, protocol }: AnsweredEvent): string {
  const id = protocol === null ? '' : ` Id="ID${protocol}"`;
  const author =
    event.author.length === 11 ? `<CPFDest>${event.author}</CPFDest>` : `<CNPJDest>${event.author}</CNPJDest>`;
  const name = MANIFESTATION_RULES.get(event.type)?.description.slice(0, 60).trim() ?? 'Evento';
  return (
    `<retEvento versao="1.00"><infEvento${id}><tpAmb>${answer.environmentCode}</tpAmb><verAplic>SIM_EV_1.0</verAplic>` +
    `<cOrgao>${organ}</cOrgao><cStat>${cStat}</cStat><xMotivo>${escaped(text)}</xMotivo><chNFe>${event.key}</chNFe>` +
    `<tpEvento>${event.type}</tpEvento><xEvento>${escaped(name)}</xEvento><nSeqEvento>${event.sequence}</nSeqEvento>` +
    `${protocol === null ? '' : author}<dhRegEvento>${localTime(answer.answeredAt)}</dhRegEvento>` +
    `${protocol === null ? '' : `<nProt>${protocol}</nProt>`}</infEvento></retEvento>`
  );
}
