import type { Environment } from '../model/words.js';
import type { GovernmentAddresses } from './addresses.js';

/**
 * Where events about a CT-e are sent: to the authorizer of the CT-e's own UF, the first two digits of its key; another one answers that
 * the organ is wrong (contract section 1b).
 */

type Addresses = Readonly<Record<Environment, string>>;

const SVRS: Addresses = {
  production: 'https://cte.svrs.rs.gov.br/ws/CTeRecepcaoEventoV4/CTeRecepcaoEventoV4.asmx',
  homologation: 'https://cte-homologacao.svrs.rs.gov.br/ws/CTeRecepcaoEventoV4/CTeRecepcaoEventoV4.asmx',
};

/** Authorizes for SP, and as SVSP for three others. */
const SP: Addresses = {
  production: 'https://nfe.fazenda.sp.gov.br/CTeWS/WS/CTeRecepcaoEventoV4.asmx',
  homologation: 'https://homologacao.nfe.fazenda.sp.gov.br/CTeWS/WS/CTeRecepcaoEventoV4.asmx',
};

const AUTHORIZERS: Readonly<Record<string, Addresses>> = {
  ...forEach('AC AL AM BA CE DF ES GO MA PA PB PI RJ RN RO RS SC SE TO', SVRS),
  ...forEach('SP AP PE RR', SP),
  MG: {
    production: 'https://cte.fazenda.mg.gov.br/cte/services/CTeRecepcaoEventoV4',
    homologation: 'https://hcte.fazenda.mg.gov.br/cte/services/CTeRecepcaoEventoV4',
  },
  MS: {
    production: 'https://producao.cte.ms.gov.br/ws/CTeRecepcaoEventoV4',
    homologation: 'https://homologacao.cte.ms.gov.br/ws/CTeRecepcaoEventoV4',
  },
  MT: {
    production: 'https://cte.sefaz.mt.gov.br/ctews2/services/CTeRecepcaoEventoV4',
    homologation: 'https://homologacao.sefaz.mt.gov.br/ctews2/services/CTeRecepcaoEventoV4',
  },
  PR: {
    production: 'https://cte.fazenda.pr.gov.br/cte4/CTeRecepcaoEventoV4',
    homologation: 'https://homologacao.cte.fazenda.pr.gov.br/cte4/CTeRecepcaoEventoV4',
  },
};

/**
 * @param uf of the CT-e, two letters
 * @returns null for letters that are no UF
 */
export function cteEventAddress(addresses: GovernmentAddresses, environment: Environment, uf: string): string | null {
  return addresses[environment].cteEvent ?? AUTHORIZERS[uf]?.[environment] ?? null;
}

function forEach(ufs: string, addresses: Addresses): Record<string, Addresses> {
  return Object.fromEntries(ufs.split(' ').map((uf) => [uf, addresses]));
}
