import type { GovernmentAddresses } from './addresses.js';
import { type CallTerms, termsOf } from './call-terms.js';
import type { PatientGet } from './patient-get.js';
import { readSefinNote } from './sefin-answer.js';
import type { CallAnswer } from './types.js';

/** Sefin Nacional, which has the notes themselves: one by its key (contract section 2). */

const MAX_ANSWER_BYTES = 5 * 1024 * 1024;

/** One question to Sefin. Its limit is for the whole call, repetitions included. */
export interface SefinCall extends CallTerms {
  /** 50 characters. */
  readonly key: string;
}

/** Sefin Nacional as Malote asks it. */
export interface Sefin {
  /** The note of a key. Whatever happens on the wire is an outcome; `none`: there is none, or not for this company. */
  note(call: SefinCall): Promise<CallAnswer>;
}

/** Sefin Nacional over this transport. */
export function createSefin(parts: { readonly get: PatientGet; readonly addresses: GovernmentAddresses }): Sefin {
  return {
    note: (call) =>
      parts.get(
        {
          url: `${parts.addresses[call.environment].sefin}/nfse/${encodeURIComponent(call.key)}`,
          headers: { accept: 'application/json' },
          newestTls: 'TLSv1.3',
          maxAnswerBytes: MAX_ANSWER_BYTES,
          ...termsOf(call),
        },
        (raw) => readSefinNote(raw.body, raw, call.environment),
      ),
  };
}
