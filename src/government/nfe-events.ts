import type { EventAuthority } from '../model/manifestation.js';
import type { GovernmentAddresses } from './addresses.js';
import type { EventAnswer } from './event-answer.js';
import { type EventsCall, sendEvents } from './event-call.js';
import { readEventAnswer } from './nfe-event-answer.js';
import { envEvento } from './nfe-event-request.js';
import type { Transport } from './types.js';

export { readEventAnswer } from './nfe-event-answer.js';
export { type NfeEvent, nfeEventId, procEventoNFe, signedNfeEvent } from './nfe-event-request.js';

/** NFeRecepcaoEvento4: takes events about notes, at the AN and at SVRS (nfe-cte.md 1c, 1d). */

const WSDL = 'http://www.portalfiscal.inf.br/nfe/wsdl/NFeRecepcaoEvento4';

/** Its events are `evento` elements, at most as many as the authority takes. */
export interface NfeEventsCall extends EventsCall {
  readonly authority: EventAuthority;
  /** idLote: 1 to 15 digits, ours. */
  readonly lot: string;
}

/** Statements about NF-e, as the AN and SVRS take them. */
export interface NfeEvents {
  /** One call. Whatever happens on the wire is an outcome. */
  send(call: NfeEventsCall): Promise<EventAnswer>;
}

/** NFeRecepcaoEvento4 of the AN and of SVRS over this transport. */
export function createNfeEvents(parts: {
  readonly transport: Transport;
  readonly addresses: GovernmentAddresses;
}): NfeEvents {
  return {
    send(call) {
      const { nfeEvent, nfeEventSvrs } = parts.addresses[call.environment];
      const message = {
        url: call.authority === 'an' ? nfeEvent : nfeEventSvrs,
        wsdl: WSDL,
        operation: 'nfeRecepcaoEventoNF',
        // No wrapper of the operation here, unlike in distribution.
        body: `<nfeDadosMsg xmlns="${WSDL}">${envEvento(call.lot, call.events)}</nfeDadosMsg>`,
      };
      return sendEvents(parts.transport, message, call, readEventAnswer);
    },
  };
}
