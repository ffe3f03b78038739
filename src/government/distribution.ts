import type { GovernmentAddresses, ServiceAddresses } from './addresses.js';
import { type CallTerms, termsOf } from './call-terms.js';
import { readDistributionAnswer } from './distribution-answer.js';
import {
  type DistributionQuery,
  type DistributionRequest,
  distDFeInt,
  type RequestLayout,
} from './distribution-request.js';
import { nothingCame } from './no-answer.js';
import { soapContentType, soapEnvelope } from './soap.js';
import type { CallAnswer, GovernmentResponse, Transport } from './types.js';

/**
 * The distribution services of the national environment, which give a company the documents of its interest. NF-e's and CT-e's are one
 * protocol under two names (nfe-cte.md 1a, 1b); what differs is a {@link DistributionWire}.
 */

/** How one of the services is called. */
export interface DistributionWire extends RequestLayout {
  /** Namespace of its operation. */
  readonly wsdl: string;
  readonly operation: string;
  /** Name of the element around the request. */
  readonly data: string;
  readonly address: (addresses: ServiceAddresses) => string;
  /** Requests are archived beside their answers. */
  readonly keepsRequests: boolean;
}

/** Milliseconds for one call, connection included (design.md section 6). */
export const DISTRIBUTION_CALL_LIMIT_MS = 5 * 60_000;
/** 50 documents come to some hundred KB. */
const MAX_ANSWER_BYTES = 10 * 1024 * 1024;

/** One question to a distribution service. */
export interface DistributionCall<Query extends DistributionQuery>
  extends DistributionRequest<Query>,
    Omit<CallTerms, 'limitMs'> {
  /** Milliseconds, connection included; {@link DISTRIBUTION_CALL_LIMIT_MS} if absent. */
  readonly limitMs?: number;
}

/** A distribution service as Malote asks it. */
export interface Distribution<Query extends DistributionQuery = DistributionQuery> {
  /** Requests are archived beside their answers. */
  readonly keepsRequests: boolean;
  /** One call. Whatever happens on the wire is an outcome; it throws for bad input only, before anything is sent. */
  call(call: DistributionCall<Query>): Promise<CallAnswer>;
}

/** What it is made of. */
export interface DistributionParts {
  readonly transport: Transport;
  readonly addresses: GovernmentAddresses;
}

/** One of the two services over this transport. */
export function createDistribution<Query extends DistributionQuery>(
  wire: DistributionWire,
  parts: DistributionParts,
): Distribution<Query> {
  const { wsdl, operation, data, keepsRequests } = wire;
  return {
    keepsRequests,
    async call(call) {
      const message = `<${operation} xmlns="${wsdl}"><${data}>${distDFeInt(wire, call)}</${data}></${operation}>`;
      const request = soapEnvelope(message);
      let raw: GovernmentResponse;
      try {
        raw = await parts.transport({
          url: wire.address(parts.addresses[call.environment]),
          method: 'POST',
          headers: { 'content-type': soapContentType(`${wsdl}/${operation}`) },
          body: request,
          maxAnswerBytes: MAX_ANSWER_BYTES,
          ...termsOf({ ...call, limitMs: call.limitMs ?? DISTRIBUTION_CALL_LIMIT_MS }),
        });
      } catch (error) {
        return nothingCame(error);
      }
      const { contentType, status: httpStatus, body } = raw;
      const read = readDistributionAnswer(body, { contentType, httpStatus, query: call.query });
      return { ...read, raw, ...(keepsRequests && { request }) };
    },
  };
}
