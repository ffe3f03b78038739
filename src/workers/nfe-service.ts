import type { DistributionService } from '../activities/index.js';
import { isUf, ufCode } from '../documents/index.js';
import type { GovernmentAddresses } from '../government/addresses.js';
import { createNfeDistribution, readDistributionAnswer } from '../government/nfe-distribution.js';
import type { Transport } from '../government/types.js';
import { ZERO_NSU } from '../model/nsu.js';

/** NFeDistribuicaoDFe as the government call needs it. */
export function nfeService(transport: Transport, addresses: GovernmentAddresses): DistributionService {
  const service = createNfeDistribution({ transport, addresses });
  return {
    ask: ({ capture, taxId, uf, ultNsu, ...call }) => {
      if (!isUf(uf)) throw new Error(`"${uf}" is no UF`);
      return service.call({
        ...call,
        environment: capture.environment,
        cUFAutor: ufCode(uf),
        taxId,
        query: { distNSU: ultNsu },
      });
    },
    // From the archive: which NSU was asked from does not change how an answer is read.
    read: (body) => readDistributionAnswer(body, { contentType: null, httpStatus: null, query: { distNSU: ZERO_NSU } }),
  };
}
