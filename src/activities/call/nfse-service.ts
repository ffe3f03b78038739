import type { Adn } from '../../government/adn.js';
import { type AdnQuery, readAdnAnswer } from '../../government/adn-answer.js';
import type { Sefin } from '../../government/sefin.js';
import { readSefinNote } from '../../government/sefin-answer.js';
import type { DistributionQuestion, DistributionService } from '../dependencies.js';
import { silence } from './archive.js';

/** The ADN, and Sefin for single notes, as the call needs them. */
export function nfseService(adn: Adn, sefin: Sefin): DistributionService {
  return {
    ask: async ({ capture, point, onDemand, ultNsu, ...call }) => {
      const { environment } = capture;
      if (point && 'key' in point) return silence({ kind: 'not_sent', reason: 'the ADN cannot be asked by key' });
      if (onDemand && 'note' in onDemand) return sefin.note({ ...call, environment, key: onDemand.note });
      return adn.call({ ...call, environment, query: queryOf({ point, onDemand, ultNsu }) });
    },
    read: (body, asked) => {
      const { environment } = asked.capture;
      if (asked.onDemand && 'note' in asked.onDemand) return readSefinNote(body, null, environment);
      return readAdnAnswer(body, null, { environment, query: queryOf(asked) });
    },
  };
}

function queryOf({ point, onDemand, ultNsu }: Pick<DistributionQuestion, 'ultNsu' | 'point' | 'onDemand'>): AdnQuery {
  if (onDemand && 'events' in onDemand) return { events: onDemand.events };
  return point && 'nsu' in point ? { only: point.nsu } : { after: ultNsu };
}
