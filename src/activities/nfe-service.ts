import { isUf, ufCode } from '../documents/index.js';
import { type NfeDistribution, readDistributionAnswer } from '../government/nfe-distribution.js';
import { silence } from './archive.js';
import type { DistributionService } from './dependencies.js';

/** NFeDistribuicaoDFe as the call needs it. */
export function nfeService(distribution: NfeDistribution): DistributionService {
  return {
    ask: async ({ capture, taxId, uf, ultNsu, certificate, limitMs, signal, beforeSend }) => {
      if (!isUf(uf)) return silence({ kind: 'not_sent', reason: `the company's UF "${uf}" is none` });
      return distribution.call({
        environment: capture.environment,
        cUFAutor: ufCode(uf),
        taxId,
        query: { distNSU: ultNsu },
        certificate,
        limitMs,
        signal,
        beforeSend,
      });
    },
    read: (body, { ultNsu }) =>
      readDistributionAnswer(body, { contentType: null, httpStatus: null, query: { distNSU: ultNsu } }),
  };
}
