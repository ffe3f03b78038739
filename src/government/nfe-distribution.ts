import {
  createDistribution,
  type Distribution,
  type DistributionParts,
  type DistributionWire,
} from './distribution.js';

/** NFeDistribuicaoDFe, layout 1.01 (nfe-cte.md 1a). */
export const NFE_WIRE: DistributionWire = {
  namespace: 'http://www.portalfiscal.inf.br/nfe',
  version: '1.01',
  wsdl: 'http://www.portalfiscal.inf.br/nfe/wsdl/NFeDistribuicaoDFe',
  operation: 'nfeDistDFeInteresse',
  data: 'nfeDadosMsg',
  address: ({ nfeDistribution }) => nfeDistribution,
  keepsRequests: false,
};

/** NFeDistribuicaoDFe over this transport. */
export function createNfeDistribution(parts: DistributionParts): Distribution {
  return createDistribution(NFE_WIRE, parts);
}
