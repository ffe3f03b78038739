import type { EventAuthority } from '../model/manifestation.js';
import type { Environment } from '../model/words.js';
import type { GovernmentAddresses } from './addresses.js';
import { type ReadEventAnswer, readEventAnswer } from './nfe-event-answer.js';
import { envEvento } from './nfe-event-request.js';
import { nothingCame } from './no-answer.js';
import { soapContentType, soapEnvelope } from './soap.js';
import type { CallAnswer, ClientCertificate, GovernmentResponse, Transport } from './types.js';

export { type EventResult, readEventAnswer } from './nfe-event-answer.js';
export { EVENTS_IN_ONE, type NfeEvent, nfeEventId, procEventoNFe, signedNfeEvent } from './nfe-event-request.js';

/** NFeRecepcaoEvento4: takes events about notes, at the AN and at SVRS (nfe-cte.md 1c, 1d). */

const WSDL = 'http://www.portalfiscal.inf.br/nfe/wsdl/NFeRecepcaoEvento4';
const ACTION = `${WSDL}/nfeRecepcaoEventoNF`;
/** Twenty answers about events come to some 20 KB. */
const MAX_ANSWER_BYTES = 1024 * 1024;

export interface NfeEventsCall {
  readonly authority: EventAuthority;
  readonly environment: Environment;
  /** idLote: 1 to 15 digits, ours. */
  readonly lot: string;
  /** Signed `evento` elements, at most {@link EVENTS_IN_ONE}. They are sent to the letter. */
  readonly events: readonly string[];
  readonly certificate: ClientCertificate;
  /** Milliseconds, connection included. */
  readonly limitMs: number;
  readonly signal?: AbortSignal;
  /** See {@link GovernmentRequest.beforeSend}. */
  readonly beforeSend?: () => void;
}

/** How a call ended, and what was answered about each event. */
export type EventAnswer = CallAnswer & Pick<ReadEventAnswer, 'results'>;

export interface NfeEvents {
  /** One call. Whatever happens on the wire is an outcome. */
  send(call: NfeEventsCall): Promise<EventAnswer>;
}

export function createNfeEvents(parts: {
  readonly transport: Transport;
  readonly addresses: GovernmentAddresses;
}): NfeEvents {
  return {
    async send(call) {
      const { nfeEvent, nfeEventSvrs } = parts.addresses[call.environment];
      let raw: GovernmentResponse;
      try {
        raw = await parts.transport({
          url: call.authority === 'an' ? nfeEvent : nfeEventSvrs,
          method: 'POST',
          headers: { 'content-type': soapContentType(ACTION) },
          // No wrapper of the operation here, unlike in distribution.
          body: soapEnvelope(`<nfeDadosMsg xmlns="${WSDL}">${envEvento(call.lot, call.events)}</nfeDadosMsg>`),
          certificate: call.certificate,
          limitMs: call.limitMs,
          maxAnswerBytes: MAX_ANSWER_BYTES,
          ...(call.signal && { signal: call.signal }),
          ...(call.beforeSend && { beforeSend: call.beforeSend }),
        });
      } catch (error) {
        return { ...nothingCame(error), results: [] };
      }
      return { ...readEventAnswer(raw.body, raw), raw };
    },
  };
}
