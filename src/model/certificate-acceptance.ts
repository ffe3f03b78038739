import type { Environment } from './words.js';

/** Whether the government lets a certificate in. Null: it did not say, or nobody asked. */
export interface CertificateAcceptance {
  readonly accepted: boolean | null;
  /** Short, for people; no addresses, nothing secret. */
  readonly reason: string;
}

/** Asks the government without a query, so that it counts against nothing. Never throws. */
export type CheckCertificate = (
  certificate: { readonly keyPem: string; readonly chainPem: string; readonly thumbprint: string },
  environment: Environment,
) => Promise<CertificateAcceptance>;
