/** What can be wrong with an A1 file (api.md section 2). Stable: clients branch on these. */
export type CertificateProblemCode =
  | 'certificate_password_wrong'
  | 'certificate_unreadable'
  | 'certificate_no_private_key'
  | 'certificate_key_mismatch'
  | 'certificate_expired'
  | 'certificate_not_yet_valid'
  | 'certificate_other_company'
  | 'certificate_hardware_key';

/**
 * A certificate that cannot be used. The message says what is wrong and what to do, for the person who sent the file; it holds
 * no key, no password and no full tax ID, and is never built from a library's error, which can hold all three (case C96).
 */
export class CertificateProblem extends Error {
  override readonly name = 'CertificateProblem';
  constructor(
    readonly code: CertificateProblemCode,
    message: string,
  ) {
    super(message);
  }
}
