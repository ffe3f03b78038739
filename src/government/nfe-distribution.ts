import type { GovernmentAddresses } from './addresses.js';
import { readDistributionAnswer } from './nfe-distribution-answer.js';
import { buildDistributionRequest, type DistributionRequest } from './nfe-distribution-request.js';
import { nothingCame } from './no-answer.js';
import { soapContentType, soapEnvelope } from './soap.js';
import type { CallAnswer, ClientCertificate, GovernmentResponse, Transport } from './types.js';

export { readDistributionAnswer } from './nfe-distribution-answer.js';
export {
  buildDistributionRequest,
  type DistributionQuery,
  type DistributionRequest,
} from './nfe-distribution-request.js';

/** NFeDistribuicaoDFe, layout 1.01: the service that gives a company the NF-e documents of its interest (nfe-cte.md 1a). */

/** Milliseconds for one call, connection included (design.md section 6). */
export const NFE_CALL_LIMIT_MS = 5 * 60_000;
/** 50 documents come to some hundred KB. */
const MAX_ANSWER_BYTES = 10 * 1024 * 1024;

const WSDL = 'http://www.portalfiscal.inf.br/nfe/wsdl/NFeDistribuicaoDFe';
const ACTION = `${WSDL}/nfeDistDFeInteresse`;

export interface NfeDistributionCall extends DistributionRequest {
  readonly certificate: ClientCertificate;
  readonly signal?: AbortSignal;
  /** Milliseconds; {@link NFE_CALL_LIMIT_MS} if absent. */
  readonly limitMs?: number;
  /** See {@link GovernmentRequest.beforeSend}. */
  readonly beforeSend?: () => void;
}

export interface NfeDistribution {
  /** One call. Whatever happens on the wire is an outcome; it throws for bad input only, before anything is sent. */
  call(call: NfeDistributionCall): Promise<CallAnswer>;
}

export function createNfeDistribution(parts: {
  readonly transport: Transport;
  readonly addresses: GovernmentAddresses;
}): NfeDistribution {
  return {
    async call(call) {
      const message = `<nfeDistDFeInteresse xmlns="${WSDL}"><nfeDadosMsg>${buildDistributionRequest(call)}</nfeDadosMsg></nfeDistDFeInteresse>`;
      let raw: GovernmentResponse;
      try {
        raw = await parts.transport({
          url: parts.addresses[call.environment].nfeDistribution,
          method: 'POST',
          headers: { 'content-type': soapContentType(ACTION) },
          body: soapEnvelope(message),
          certificate: call.certificate,
          limitMs: call.limitMs ?? NFE_CALL_LIMIT_MS,
          maxAnswerBytes: MAX_ANSWER_BYTES,
          ...(call.signal && { signal: call.signal }),
          ...(call.beforeSend && { beforeSend: call.beforeSend }),
        });
      } catch (error) {
        return nothingCame(error);
      }
      const { contentType, status: httpStatus, body } = raw;
      return { ...readDistributionAnswer(body, { contentType, httpStatus, query: call.query }), raw };
    },
  };
}
