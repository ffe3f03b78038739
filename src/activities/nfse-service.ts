import type { Adn } from '../government/adn.js';
import { type AdnQuery, readAdnAnswer } from '../government/adn-answer.js';
import { silence } from './archive.js';
import type { DistributionQuestion, DistributionService } from './dependencies.js';

/** The ADN as the call needs it. */
export function nfseService(adn: Adn): DistributionService {
  return {
    ask: async ({ capture, point, ultNsu, ...call }) => {
      if (point && 'key' in point) return silence({ kind: 'not_sent', reason: 'the ADN cannot be asked by key' });
      return adn.call({ ...call, environment: capture.environment, query: queryOf({ point, ultNsu }) });
    },
    read: (body, asked) => readAdnAnswer(body, null, { environment: asked.capture.environment, query: queryOf(asked) }),
  };
}

function queryOf({ point, ultNsu }: Pick<DistributionQuestion, 'ultNsu' | 'point'>): AdnQuery {
  return point && 'nsu' in point ? { only: point.nsu } : { after: ultNsu };
}
