/** xMotivo for each cStat of the distribution service, as the national environment words them (without accents). */
export const STATUS_TEXTS = {
  '108': 'Servico Paralisado Momentaneamente (curto prazo)',
  '109': 'Servico Paralisado sem Previsao',
  '137': 'Nenhum documento localizado',
  '138': 'Documento(s) localizado(s)',
  '214': 'Rejeicao: Tamanho da mensagem excedeu o limite estabelecido',
  '215': 'Rejeicao: Falha no Schema XML',
  '217': 'Rejeicao: NF-e nao consta na base de dados da SEFAZ',
  '236': 'Rejeicao: Chave de Acesso com digito verificador invalido',
  '239': 'Rejeicao: Versao do arquivo XML nao suportada',
  '252': 'Rejeicao: Ambiente informado diverge do Ambiente de recebimento',
  '402': 'Rejeicao: XML da area de dados com codificacao diferente de UTF-8',
  '404': 'Rejeicao: Uso de prefixo de namespace nao permitido',
  '472': 'Rejeicao: CPF consultado difere do CPF do Certificado Digital',
  '473': 'Rejeicao: Certificado Transmissor sem CNPJ ou CPF',
  '489': 'Rejeicao: CNPJ informado invalido (DV ou zeros)',
  '490': 'Rejeicao: CPF informado invalido (DV ou zeros)',
  '589': 'Rejeicao: Numero do NSU informado superior ao maior NSU da base de dados do Ambiente Nacional',
  '593': 'Rejeicao: CNPJ-Base consultado difere do CNPJ-Base do Certificado Digital',
  '614': 'Rejeicao: Chave de Acesso invalida (Codigo UF invalido)',
  '616': 'Rejeicao: Chave de Acesso invalida (Mes menor que 1 ou maior que 12)',
  '617': 'Rejeicao: Chave de Acesso invalida (CNPJ/CPF zerado ou digito invalido)',
  '618': 'Rejeicao: Chave de Acesso invalida (modelo diferente de 55)',
  '619': 'Rejeicao: Chave de Acesso invalida (numero NF = 0)',
  '632': 'Rejeicao: Solicitacao fora de prazo, a NF-e nao esta mais disponivel para download',
  '640': 'Rejeicao: CNPJ/CPF do interessado nao possui permissao para consultar esta NF-e',
  '641': 'Rejeicao: NF-e indisponivel para o emitente',
  '653': 'Rejeicao: NF-e Cancelada, arquivo indisponivel para download',
  '654': 'Rejeicao: NF-e Denegada, arquivo indisponivel para download',
  '999': 'Rejeicao: Erro nao catalogado',
} as const;

/** The three texts of 656. They say what was wrong, and clients must not rely on that. */
export const MISUSE = {
  early:
    'Rejeicao: Consumo Indevido (Deve ser aguardado 1 hora para efetuar nova solicitacao caso nao existam mais documentos a serem pesquisados. Tente apos 1 hora)',
  wrongNsu: 'Rejeicao: Consumo Indevido (Deve ser utilizado o ultNSU nas solicitacoes subsequentes. Tente apos 1 hora)',
  quota: 'Rejeicao: Consumo Indevido (Ultrapassou o limite de 20 consultas por hora. Tente apos 1 hora)',
} as const;

/** The text for a code, also for one that the service does not have. */
export function statusText(cStat: string): string {
  return cStat === '656'
    ? MISUSE.wrongNsu
    : ((STATUS_TEXTS as Record<string, string>)[cStat] ?? `Rejeicao: codigo ${cStat}`);
}
