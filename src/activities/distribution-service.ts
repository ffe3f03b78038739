import { isUf, ufCode } from '../documents/index.js';
import type { Distribution } from '../government/distribution.js';
import { readDistributionAnswer } from '../government/distribution-answer.js';
import type { NsuQuery } from '../government/distribution-request.js';
import { silence } from './archive.js';
import type { DistributionService } from './dependencies.js';

/** A distribution service of the government as the call needs it. */
export function distributionService(distribution: Distribution<NsuQuery>): DistributionService {
  return {
    keepsRequests: distribution.keepsRequests,
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
