import type { GovernmentAddresses } from './addresses.js';
import type { AdnCall } from './adn.js';
import type { PatientGet } from './patient-get.js';
import { readSefinNote } from './sefin-answer.js';
import type { CallAnswer } from './types.js';

/** Sefin Nacional, which has the notes themselves: one by its key (contract section 2). */

const MAX_ANSWER_BYTES = 5 * 1024 * 1024;

export interface SefinCall extends Omit<AdnCall, 'query' | 'taxId'> {
  /** 50 characters. */
  readonly key: string;
}

export interface Sefin {
  /** The note of a key. Whatever happens on the wire is an outcome; `none`: there is none, or not for this company. */
  note(call: SefinCall): Promise<CallAnswer>;
}

export function createSefin(parts: { readonly get: PatientGet; readonly addresses: GovernmentAddresses }): Sefin {
  return {
    note: (call) =>
      parts.get(
        {
          url: `${parts.addresses[call.environment].sefin}/nfse/${encodeURIComponent(call.key)}`,
          headers: { accept: 'application/json' },
          certificate: call.certificate,
          newestTls: 'TLSv1.3',
          limitMs: call.limitMs,
          maxAnswerBytes: MAX_ANSWER_BYTES,
          ...(call.signal && { signal: call.signal }),
          ...(call.beforeSend && { beforeSend: call.beforeSend }),
        },
        (raw) => readSefinNote(raw.body, raw, call.environment),
      ),
  };
}
