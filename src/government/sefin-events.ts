import type { GovernmentAddresses } from './addresses.js';
import { type CallTerms, termsOf } from './call-terms.js';
import { nothingCame } from './no-answer.js';
import type { PatientGet } from './patient-get.js';
import { packedXml, readRegistered, readRegistration } from './sefin-answer.js';
import type { CallAnswer, GovernmentResponse, Transport } from './types.js';

/** Events about NFS-e at Sefin Nacional (nfse.md 2.2): registered by POST, read back by GET. */

/** An event comes to some KB. */
const MAX_ANSWER_BYTES = 1024 * 1024;

interface Exchange extends CallTerms {
  /** Of the note: 50 characters. */
  readonly key: string;
}

/** A statement about a note that is sent. */
export interface Registration extends Exchange {
  /** The signed pedRegEvento, sent to the letter. */
  readonly request: string;
}

/** A statement that is asked after. */
export interface ReadBack extends Exchange {
  /** Six digits. */
  readonly type: string;
  readonly sequence: number;
}

/** Statements about NFS-e, as Sefin Nacional takes and tells them. */
export interface SefinEvents {
  /**
   * Sends one request, once. `documents`: registered, and the item is the event. `rejected`: certainly not registered. After `unknown` and
   * `unreadable` (every 5xx, whatever it says) it may be registered or not: read it back before it is sent again.
   */
  register(call: Registration): Promise<CallAnswer>;
  /** `documents`: it is registered, and the item is the event. `none`: it is not. Anything else does not say. */
  readBack(call: ReadBack): Promise<CallAnswer>;
}

/** Events at Sefin Nacional over this transport. */
export function createSefinEvents(parts: {
  readonly transport: Transport;
  readonly get: PatientGet;
  readonly addresses: GovernmentAddresses;
}): SefinEvents {
  const eventsOf = ({ environment, key }: Exchange) =>
    `${parts.addresses[environment].sefin}/nfse/${encodeURIComponent(key)}/eventos`;
  const wire = (call: Exchange) => ({
    ...termsOf(call),
    newestTls: 'TLSv1.3' as const,
    maxAnswerBytes: MAX_ANSWER_BYTES,
  });
  return {
    async register(call) {
      let raw: GovernmentResponse;
      try {
        raw = await parts.transport({
          ...wire(call),
          url: eventsOf(call),
          method: 'POST',
          headers: { accept: 'application/json', 'content-type': 'application/json; charset=utf-8' },
          body: Buffer.from(JSON.stringify({ pedidoRegistroEventoXmlGZipB64: packedXml(call.request) })),
        });
      } catch (error) {
        return nothingCame(error);
      }
      return { ...readRegistration(raw.body, raw, call.environment), raw };
    },
    readBack: (call) =>
      parts.get(
        {
          ...wire(call),
          url: `${eventsOf(call)}/${call.type}/${call.sequence}`,
          headers: { accept: 'application/json' },
        },
        (raw) => readRegistered(raw.body, raw, call.environment),
      ),
  };
}
