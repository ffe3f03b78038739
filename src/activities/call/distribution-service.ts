import { isUf, ufCode } from '../../documents/index.js';
import type { Distribution } from '../../government/distribution.js';
import { readDistributionAnswer } from '../../government/distribution-answer.js';
import type { DistributionQuery } from '../../government/distribution-request.js';
import type { DistributionQuestion, DistributionService } from '../dependencies.js';
import { silence } from './archive.js';

/** A distribution service of the government as the call needs it. The guard lets no query by key through to one that knows none. */
export function distributionService(distribution: Distribution): DistributionService {
  return {
    keepsRequests: distribution.keepsRequests,
    ask: async ({ capture, taxId, uf, ultNsu, point, certificate, limitMs, signal, beforeSend }) => {
      if (!isUf(uf)) return silence({ kind: 'not_sent', reason: `the company's UF "${uf}" is none` });
      return distribution.call({
        environment: capture.environment,
        cUFAutor: ufCode(uf),
        taxId,
        query: queryOf({ ultNsu, point }),
        certificate,
        limitMs,
        signal,
        beforeSend,
      });
    },
    read: (body, asked) => readDistributionAnswer(body, { contentType: null, httpStatus: null, query: queryOf(asked) }),
  };
}

function queryOf({ ultNsu, point }: Pick<DistributionQuestion, 'ultNsu' | 'point'>): DistributionQuery {
  if (!point) return { distNSU: ultNsu };
  return 'nsu' in point ? { consNSU: point.nsu } : { consChNFe: point.key };
}
