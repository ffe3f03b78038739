import type { EventFields } from '../../documents/event-layout.js';
import { isUf } from '../../documents/index.js';
import { nfeEventDetails } from '../../documents/nfe-event-fields.js';
import { type NfeEvents, procEventoNFe, readEventAnswer, signedNfeEvent } from '../../government/nfe-events.js';
import type { EventService } from './event-services.js';

/**
 * The recipient's events about NF-e.
 *
 * @param application our name and version, at most 20 characters: verAplic of Tax Reform events
 */
export function nfeEventService(events: NfeEvents, application: string): EventService {
  return {
    operation: 'nfeRecepcaoEvento',
    sign({ uf, fields, ...event }, certificate) {
      if (!isUf(uf)) throw new Error(`"${uf}" is no UF`);
      const details =
        fields === null
          ? {}
          : { details: nfeEventDetails(event.rule.type, fields as EventFields, { uf, application }) };
      return signedNfeEvent({ ...event, ...details }, certificate);
    },
    send: ({ rule, startedAt, ...call }) => events.send({ ...call, authority: rule.authority, lot: String(startedAt) }),
    read: (body) => readEventAnswer(body, null),
    document: (signed, { xml }) => ({ schema: 'procEventoNFe_v1.00.xsd', xml: procEventoNFe(signed, xml) }),
  };
}
