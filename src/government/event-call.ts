import { type CallTerms, termsOf } from './call-terms.js';
import type { EventAnswer, ReadEventAnswer } from './event-answer.js';
import { nothingCame } from './no-answer.js';
import { soapContentType, soapEnvelope } from './soap.js';
import type { GovernmentResponse, Transport } from './types.js';

/** What every call that registers events is given. */
export interface EventsCall extends CallTerms {
  /** Signed, each by itself. They are sent to the letter. */
  readonly events: readonly string[];
}

/** Where and what is sent. */
interface EventsMessage {
  readonly url: string;
  /** Namespace of the service. */
  readonly wsdl: string;
  readonly operation: string;
  /** What stands in the SOAP body. */
  readonly body: string;
}

/** Twenty answers about events come to some 20 KB. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** One call. Whatever happens on the wire is an outcome. */
export async function sendEvents(
  transport: Transport,
  { url, wsdl, operation, body }: EventsMessage,
  call: EventsCall,
  read: (bytes: Uint8Array, http: GovernmentResponse) => ReadEventAnswer,
): Promise<EventAnswer> {
  let raw: GovernmentResponse;
  try {
    raw = await transport({
      url,
      method: 'POST',
      headers: { 'content-type': soapContentType(`${wsdl}/${operation}`) },
      body: soapEnvelope(body),
      maxAnswerBytes: MAX_ANSWER_BYTES,
      ...termsOf(call),
    });
  } catch (error) {
    return { ...nothingCame(error), results: [] };
  }
  return { ...read(raw.body, raw), raw };
}
