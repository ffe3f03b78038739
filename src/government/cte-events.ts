import type { GovernmentAddresses } from './addresses.js';
import { cteEventAddress } from './cte-event-addresses.js';
import { readCteEventAnswer } from './cte-event-answer.js';
import type { EventAnswer } from './event-answer.js';
import { type EventsCall, sendEvents } from './event-call.js';
import type { Transport } from './types.js';

export { readCteEventAnswer } from './cte-event-answer.js';
export { type CteEvent, procEventoCTe, signedCteEvent } from './cte-event-request.js';

/** CTeRecepcaoEventoV4: takes events about CT-e, each at the authorizer of the CT-e's UF (nfe-cte.md 1b). */

const WSDL = 'http://www.portalfiscal.inf.br/cte/wsdl/CTeRecepcaoEventoV4';

/** One event, an `eventoCTe` element. */
export interface CteEventCall extends EventsCall {
  /** Of the CT-e, two letters. */
  readonly uf: string;
}

/** Statements about CT-e, as their authorizers take them. */
export interface CteEvents {
  /**
   * One call. Whatever happens on the wire is an outcome.
   *
   * @throws {Error} for letters that are no UF, or more than one event: a bug of the caller; nothing is sent
   */
  send(call: CteEventCall): Promise<EventAnswer>;
}

/** CTeRecepcaoEventoV4 of every authorizer over this transport. */
export function createCteEvents(parts: {
  readonly transport: Transport;
  readonly addresses: GovernmentAddresses;
}): CteEvents {
  return {
    async send(call) {
      const url = cteEventAddress(parts.addresses, call.environment, call.uf);
      if (url === null || call.events.length !== 1) throw new Error('one event goes to the authorizer of one UF');
      const message = {
        url,
        wsdl: WSDL,
        operation: 'cteRecepcaoEvento',
        // As it is: unlike the reception of CT-e, that of events takes no compressed message.
        body: `<cteDadosMsg xmlns="${WSDL}">${call.events.join('')}</cteDadosMsg>`,
      };
      return sendEvents(parts.transport, message, call, readCteEventAnswer);
    },
  };
}
