import { holderRoot } from './holder.js';
import type { OpenedCertificate } from './open-a1.js';
import { CertificateProblem } from './problem.js';

/**
 * Checks that a certificate may speak for a company now: same root (a head office's certificate serves its branches; a CPF must be
 * equal), and within its dates, ends included.
 *
 * @param companyTaxId CNPJ or CPF without punctuation
 * @param now milliseconds since 1970
 * @throws {CertificateProblem} other company, expired, not yet valid
 */
export function checkHolder(
  opened: Pick<OpenedCertificate, 'taxId' | 'notBefore' | 'notAfter'>,
  companyTaxId: string,
  now: number,
): void {
  if (holderRoot(opened.taxId) !== holderRoot(companyTaxId)) {
    throw new CertificateProblem(
      'certificate_other_company',
      `The certificate belongs to another tax ID (ending in ${opened.taxId.slice(-4)}). Send the company's own, or one of its head office or a branch.`,
    );
  }
  if (now > opened.notAfter) {
    throw new CertificateProblem(
      'certificate_expired',
      `The certificate expired on ${utc(opened.notAfter)}. Send the renewed one.`,
    );
  }
  if (now < opened.notBefore) {
    throw new CertificateProblem(
      'certificate_not_yet_valid',
      `The certificate is valid only from ${utc(opened.notBefore)}. Send it again then.`,
    );
  }
}

const utc = (at: number) => new Date(at).toISOString();
