/** Codes of the layout as the DANFSe prints them, in the words of the official schemas. A code that is not here is printed as it stands. */
type Texts = Readonly<Record<string, string>>;

/** The words of a code; one that is not known stands for itself. */
export function textOf(texts: Texts, code: string): string {
  return Object.hasOwn(texts, code) ? (texts[code] ?? code) : code;
}

/** ambGer. */
export const GENERATORS: Texts = { 1: 'Prefeitura', 2: 'Sistema Nacional da NFS-e' };

/** tpAmb. */
export const ENVIRONMENTS: Texts = { 1: 'Produção', 2: 'Homologação' };

/** tpEmit. */
export const EMITTERS: Texts = { 1: 'Prestador', 2: 'Tomador', 3: 'Intermediário' };

/** cStat, which never changes: a cancelled note still says 100. */
export const STATUSES: Texts = {
  100: 'NFS-e Gerada',
  101: 'NFS-e de Substituição Gerada',
  102: 'NFS-e de Decisão Judicial ou Administrativa',
  103: 'NFS-e Avulsa',
  107: 'NFS-e MEI',
};

/** finNFSe. */
export const PURPOSES: Texts = { 0: 'NFS-e regular' };

/** opSimpNac. */
export const SIMPLES: Texts = {
  1: 'Não Optante',
  2: 'Optante - Microempreendedor Individual (MEI)',
  3: 'Optante - Microempresa ou Empresa de Pequeno Porte (ME/EPP)',
};

/** regApTribSN: which of the taxes are assessed inside Simples Nacional, and which outside. */
export const SIMPLES_REGIMES: Texts = {
  1: 'Tributos federais e municipal pelo SN',
  2: 'Tributos federais pelo SN e ISSQN por fora do SN',
  3: 'Tributos federais e municipal por fora do SN',
};

/** tribISSQN. */
export const ISSQN_KINDS: Texts = {
  1: 'Operação Tributável',
  2: 'Imunidade',
  3: 'Exportação de Serviço',
  4: 'Não Incidência',
};

/** regEspTrib. */
export const SPECIAL_REGIMES: Texts = {
  0: 'Nenhum',
  1: 'Ato Cooperado (Cooperativa)',
  2: 'Estimativa',
  3: 'Microempresa Municipal',
  4: 'Notário ou Registrador',
  5: 'Profissional Autônomo',
  6: 'Sociedade de Profissionais',
  9: 'Outros',
};

/** tpImunidade: the letters of article 150, VI of the constitution. */
export const IMMUNITIES: Texts = {
  0: 'Tipo não informado na nota de origem',
  1: 'Patrimônio, renda ou serviços, uns dos outros (CF 150, VI, a)',
  2: 'Templos de qualquer culto (CF 150, VI, b)',
  3: 'Partidos, sindicatos, educação e assistência social (CF 150, VI, c)',
  4: 'Livros, jornais, periódicos e o papel (CF 150, VI, d)',
  5: 'Fonogramas e videofonogramas (CF 150, VI, e)',
};

/** tpSusp. */
export const SUSPENSIONS: Texts = {
  1: 'Exigibilidade Suspensa por Decisão Judicial',
  2: 'Exigibilidade Suspensa por Processo Administrativo',
};

/** tpBM. */
export const BENEFITS: Texts = {
  1: 'Isenção',
  2: 'Redução da BC em percentual',
  3: 'Redução da BC em valor',
  4: 'Alíquota Diferenciada',
};

/** tpRetISSQN. */
export const ISSQN_WITHHOLDINGS: Texts = {
  1: 'Não Retido',
  2: 'Retido pelo Tomador',
  3: 'Retido pelo Intermediário',
};

/** tpRetPisCofins. */
export const SOCIAL_WITHHOLDINGS: Texts = {
  0: 'PIS/COFINS/CSLL Não Retidos',
  1: 'PIS/COFINS Retidos',
  2: 'PIS/COFINS Não Retidos',
  3: 'PIS/COFINS/CSLL Retidos',
  4: 'PIS/COFINS Retidos, CSLL Não Retido',
  5: 'PIS Retido, COFINS/CSLL Não Retido',
  6: 'COFINS Retido, PIS/CSLL Não Retido',
  7: 'PIS Não Retido, COFINS/CSLL Retidos',
  8: 'PIS/COFINS Não Retidos, CSLL Retido',
  9: 'COFINS Não Retido, PIS/CSLL Retidos',
};
