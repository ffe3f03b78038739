import type { Nsu } from '../model/nsu.js';
import type { GovernmentAddresses } from './addresses.js';
import { type AdnContext, readAdnAnswer } from './adn-answer.js';
import { type CallTerms, termsOf } from './call-terms.js';
import type { PatientGet } from './patient-get.js';
import type { CallAnswer } from './types.js';

/** The national repository of NFS-e (ADN) as taxpayers ask it (contract section 1). */

/** 50 notes come to some hundred KB. */
const MAX_ANSWER_BYTES = 10 * 1024 * 1024;

/** One question to the ADN. Its limit is for the whole call, repetitions included. */
export interface AdnCall extends AdnContext, CallTerms {
  /** Whose documents: CNPJ or CPF. */
  readonly taxId: string;
}

/** The ADN as Malote asks it. */
export interface Adn {
  /** One call. Whatever happens on the wire is an outcome. */
  call(call: AdnCall): Promise<CallAnswer>;
}

/** The ADN over this transport. */
export function createAdn(parts: { readonly get: PatientGet; readonly addresses: GovernmentAddresses }): Adn {
  return {
    call: (call) =>
      parts.get(
        {
          url: `${parts.addresses[call.environment].adn}${adnPath(call)}`,
          // Without it the service may answer in XML; what it says of its own content type is not relied on.
          headers: { accept: 'application/json' },
          newestTls: 'TLSv1.3',
          maxAnswerBytes: MAX_ANSWER_BYTES,
          ...termsOf(call),
        },
        (raw) => readAdnAnswer(raw.body, raw, call),
      ),
  };
}

/**
 * The NSU is a plain integer, and exclusive: always the last one seen, never one more. `lote` is always sent, because without it single
 * documents came in spite of its default.
 */
export function adnPath(call: Pick<AdnCall, 'query' | 'taxId' | 'certificate'>): string {
  const { query } = call;
  if ('events' in query) return `/NFSe/${encodeURIComponent(query.events)}/Eventos`;
  const [nsu, lote]: [Nsu, boolean] = 'after' in query ? [query.after, true] : [query.only, false];
  return `/DFe/${BigInt(nsu)}?lote=${lote}${branch(call)}`;
}

/** A root's certificate reads a branch's documents by naming it. Left out otherwise: an empty one fails, and so does a CPF's (E2242). */
function branch({ taxId, certificate: { holderTaxId } }: Pick<AdnCall, 'taxId' | 'certificate'>): string {
  const isBranch = taxId.length === 14 && holderTaxId?.length === 14 && holderTaxId !== taxId;
  return isBranch ? `&cnpjConsulta=${encodeURIComponent(taxId)}` : '';
}
