import type { CertificateAcceptance, CheckCertificate } from '../model/certificate-acceptance.js';
import type { GovernmentAddresses } from './addresses.js';
import { type GovernmentResponse, type Transport, TransportFailure } from './types.js';

/** Somebody waits for the answer of an upload. */
const LIMIT_MS = 10_000;
const LARGEST_DESCRIPTION = 1_000_000;

/** What fronts answer to a certificate that they do not take: IIS 403, nginx 495 and 496. */
const REFUSALS: ReadonlySet<number> = new Set([403, 495, 496]);

/**
 * Fetches the description (`?wsdl`) of the NF-e distribution service, which its front gives to nobody without a certificate that it
 * accepts. It is no query: no rule counts it.
 */
export function createCertificateCheck({
  transport,
  addresses,
}: {
  readonly transport: Transport;
  readonly addresses: GovernmentAddresses;
}): CheckCertificate {
  return async (certificate, environment) => {
    try {
      return judged(
        await transport({
          url: `${addresses[environment].nfeDistribution}?wsdl`,
          method: 'GET',
          headers: { accept: 'text/xml' },
          body: null,
          certificate,
          limitMs: LIMIT_MS,
          maxAnswerBytes: LARGEST_DESCRIPTION,
        }),
      );
    } catch (error) {
      if (!(error instanceof TransportFailure)) return unknown('the transport failed without saying why');
      return error.stage === 'certificate_refused'
        ? { accepted: false, reason: `the government refused the connection (${error.reason})` }
        : unknown(error.reason);
    }
  };
}

function judged({ status, body }: GovernmentResponse): CertificateAcceptance {
  if (REFUSALS.has(status))
    return { accepted: false, reason: `the government refused the certificate (HTTP ${status})` };
  const isDescription = status === 200 && /<(\w+:)?definitions[\s>]/.test(Buffer.from(body).toString('latin1'));
  return isDescription
    ? { accepted: true, reason: 'the government let the certificate in' }
    : unknown(`HTTP ${status}`);
}

const unknown = (why: string): CertificateAcceptance => ({
  accepted: null,
  reason: `the government did not say (${why})`,
});
