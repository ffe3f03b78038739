import { MANIFESTATION_RULES } from '../../model/manifestation.js';
import { escaped, localTime } from '../documents/text.js';
import type { EventCircumstances, EventRequest, EventsAnswer } from '../events/dialect.js';
import { CTE } from './request.js';

/** xMotivo, in the words of the manual. */
const TEXTS: Readonly<Record<string, string>> = {
  '108': 'Serviço Paralisado Momentaneamente (curto prazo)',
  '109': 'Serviço Paralisado sem Previsão',
  '134': 'Evento registrado e vinculado ao CT-e com alerta para situação do documento',
  '135': 'Evento registrado e vinculado a CT-e',
  '136': 'Evento registrado, mas não vinculado a CT-e',
  '213': 'Rejeição: CNPJ-Base do Autor difere do CNPJ-Base do Certificado Digital',
  '214': 'Rejeição: Tamanho da mensagem excedeu o limite estabelecido',
  '215': 'Rejeição: Falha no schema XML',
  '217': 'Rejeição: CT-e não consta na base de dados da SEFAZ',
  '218': 'Rejeição: CT-e já está cancelado na base de dados da SEFAZ',
  '236': 'Rejeição: Chave de Acesso com dígito verificador inválido',
  '252': 'Rejeição: Ambiente informado diverge do Ambiente de recebimento',
  '290': 'Rejeição: Certificado Assinatura inválido',
  '291': 'Rejeição: Certificado Assinatura Data Validade',
  '297': 'Rejeição: Assinatura difere do calculado',
  '298': 'Rejeição: Assinatura difere do padrão do Projeto',
  '402': 'Rejeição: XML da área de dados com codificação diferente de UTF-8',
  '404': 'Rejeição: Uso de prefixo de namespace não permitido',
  '588': 'Rejeição: Caracteres de edição no início/fim da mensagem ou entre as tags',
  '627': 'Rejeição: CNPJ do autor do evento inválido',
  '628': 'Rejeição: Erro Atributo ID do evento não corresponde a concatenação dos campos',
  '629': 'Rejeição: O tpEvento informado inválido',
  '630': 'Rejeição: Falha no Schema XML específico para o evento',
  '631': 'Rejeição: Duplicidade de evento',
  '634': 'Rejeição: A data do evento não pode ser menor que a data de emissão do CT-e',
  '635': 'Rejeição: A data do evento não pode ser maior que a data do processamento',
  '636': 'Rejeição: O número sequencial do evento é maior que o permitido',
  '677': 'Rejeição: Órgão de recepção do evento inválido',
  '678': 'Rejeição: Consumo Indevido',
  '755': 'Rejeição: Autor do evento prestação do serviço em desacordo deve ser o tomador do serviço do CT-e',
  '787':
    'Rejeição: Data do evento de Prestação do Serviço em desacordo deve ocorrer em até 45 dias da autorização do CT-e',
  '866': 'Rejeição: Protocolo do evento a ser cancelado não existe, não está associado ao CT-e ou já está cancelado',
  '999': 'Rejeição: Erro não catalogado',
};

/** A duplicate names the event that is there. */
export function cteEventText(
  cStat: string,
  event?: EventRequest,
  now?: Pick<EventCircumstances, 'environment' | 'memory'>,
): string {
  const text = TEXTS[cStat] ?? `Rejeição: código ${cStat}`;
  const before = cStat === '631' && event && now ? now.memory.find(now.environment, event.id) : null;
  return before ? `${text}[nProt:${before.protocol}][dhRegEvento:${localTime(before.at)}]` : text;
}

/** retEventoCTe 4.00: one status, of the request and of its event. */
export function writeCteEventAnswer({ environmentCode, cStat, text, answeredAt, events }: EventsAnswer): string {
  const [said] = events;
  const event = said?.event;
  const protocol = said?.protocol ?? null;
  const name = MANIFESTATION_RULES.get(event?.type ?? '')?.description.slice(0, 60) ?? 'Evento';
  const named = event
    ? `<chCTe>${event.key}</chCTe><tpEvento>${event.type}</tpEvento><xEvento>${name}</xEvento><nSeqEvento>${event.sequence}</nSeqEvento>`
    : '';
  const registered =
    protocol === null ? '' : `<dhRegEvento>${localTime(answeredAt)}</dhRegEvento><nProt>${protocol}</nProt>`;
  return (
    `<cteRecepcaoEventoResult xmlns="${CTE}/wsdl/CTeRecepcaoEventoV4"><retEventoCTe xmlns="${CTE}" versao="4.00">` +
    `<infEvento${protocol === null ? '' : ` Id="ID${protocol}"`}><tpAmb>${environmentCode}</tpAmb><verAplic>SIM_CTE_1.0</verAplic>` +
    `<cOrgao>${event?.organ ?? '43'}</cOrgao><cStat>${said?.cStat ?? cStat}</cStat><xMotivo>${escaped(said?.text ?? text)}</xMotivo>` +
    `${named}${registered}</infEvento></retEventoCTe></cteRecepcaoEventoResult>`
  );
}
