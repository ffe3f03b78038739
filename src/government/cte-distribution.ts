import {
  createDistribution,
  type Distribution,
  type DistributionParts,
  type DistributionWire,
} from './distribution.js';
import type { NsuQuery } from './distribution-request.js';

/**
 * CTeDistribuicaoDFe, layout 1.00 (nfe-cte.md 1b). Unlike NF-e's it cannot be asked by key, and it demands cUFAutor, which we send to
 * both. Its answers have been seen in NF-e's namespace: names are matched without.
 */
export const CTE_WIRE: DistributionWire = {
  namespace: 'http://www.portalfiscal.inf.br/cte',
  version: '1.00',
  wsdl: 'http://www.portalfiscal.inf.br/cte/wsdl/CTeDistribuicaoDFe',
  operation: 'cteDistDFeInteresse',
  data: 'cteDadosMsg',
  address: ({ cteDistribution }) => cteDistribution,
  keepsRequests: true,
};

/** CTeDistribuicaoDFe over this transport. */
export function createCteDistribution(parts: DistributionParts): Distribution<NsuQuery> {
  return createDistribution(CTE_WIRE, parts);
}
