import type { X509Certificate } from 'node:crypto';
import { otherNames } from './asn1.js';

/** ICP-Brasil's names for the holder, inside the subject alternative name (engineering.md 6.2). */
const COMPANY_CNPJ = '2.16.76.1.3.3';
/** Positional: birth date (8), CPF (11), NIS (11), RG (15), its issuer (10). */
const PERSON = '2.16.76.1.3.1';
const CPF_AT = [8, 19] as const;

/**
 * CNPJ (14 characters, letters legal) or CPF (11 digits) of the holder. The OIDs decide; the common name `NAME:TAXID` is only
 * the fallback (case C88). The person responsible for a company (OID …3.4) is not the holder. Null: the certificate names neither.
 */
export function holderTaxId(certificate: X509Certificate): string | null {
  const names = otherNames(certificate.raw);
  const cnpj = compact(names.get(COMPANY_CNPJ) ?? '');
  if (isCnpj(cnpj)) return cnpj;
  const cpf = (names.get(PERSON) ?? '').slice(...CPF_AT);
  if (isCpf(cpf)) return cpf;
  const ending = compact(/^CN=.*:([^:]+)$/m.exec(certificate.subject)?.[1] ?? '');
  return isCnpj(ending) || isCpf(ending) ? ending : null;
}

/** The part that must agree between a company and its certificate: 8 characters of a CNPJ, since a certificate serves every branch; the whole of a CPF. */
export function holderRoot(taxId: string): string {
  return taxId.length === 14 ? taxId.slice(0, 8) : taxId;
}

const compact = (text: string) => text.replace(/[\s./-]/g, '').toUpperCase();
const isCnpj = (text: string) => /^[0-9A-Z]{12}[0-9]{2}$/.test(text);
/** Zeros are how the positional block says "none". */
const isCpf = (text: string) => /^[0-9]{11}$/.test(text) && text !== '00000000000';
