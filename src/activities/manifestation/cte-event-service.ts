import { ufByCode } from '../../documents/index.js';
import { type CteEvents, procEventoCTe, readCteEventAnswer, signedCteEvent } from '../../government/cte-events.js';
import { DISAGREEMENT_PROTOCOL } from '../../model/manifestation.js';
import type { EventService } from './event-services.js';

/** The taker's events about CT-e, each sent to the authorizer of its CT-e. */
export function cteEventService(events: CteEvents): EventService {
  return {
    operation: 'cteRecepcaoEvento',
    sign({ fields, justification, rule, ...event }, certificate) {
      const protocol = fields?.[DISAGREEMENT_PROTOCOL];
      return signedCteEvent(
        {
          ...event,
          rule,
          justification: rule.justified ? justification : null,
          protocol: typeof protocol === 'string' ? protocol : null,
        },
        certificate,
      );
    },
    send: ({ key, ...call }) => events.send({ ...call, uf: ufByCode(key.slice(0, 2)) ?? '' }),
    read: (body) => readCteEventAnswer(body, null),
    document: (signed, { xml }) => ({ schema: 'procEventoCTe_v4.00.xsd', xml: procEventoCTe(signed, xml) }),
  };
}
