import { modulo11 } from './modulo-11.js';

/**
 * Tax IDs: CNPJ (14 characters; letters are legal in the first 12 since July 2026) and CPF (11 digits). Always strings: a CNPJ that
 * begins with 0 must keep it (case C18), and letters must survive (case C49).
 */

declare const taxIdBrand: unique symbol;
/** A tax ID without punctuation whose check digits are right. */
export type TaxId = string & { readonly [taxIdBrand]: true };

export type TaxIdKind = 'cnpj' | 'cpf';

/** What is wrong with it, in the order in which it is looked at. */
export type TaxIdProblem = 'not_text' | 'length' | 'lower_case' | 'characters' | 'same_digit' | 'check_digits';

/** Thrown for an input that is no tax ID. The message shows at most its last 4 characters. */
export class InvalidTaxId extends Error {
  override readonly name = 'InvalidTaxId';
  constructor(
    readonly problem: TaxIdProblem,
    message: string,
  ) {
    super(message);
  }
}

const PUNCTUATION = /[\s./-]/g;
const CNPJ = /^[0-9A-Z]{12}[0-9]{2}$/;
const CNPJ_ANY_CASE = /^[0-9A-Za-z]{12}[0-9]{2}$/;
const CPF = /^[0-9]{11}$/;

/**
 * Reads a tax ID from outside. Punctuation (`.`, `-`, `/`, blanks) is removed; lower-case letters are refused, because turning them
 * into upper case silently would hide a wrong field (call {@link normalizeTaxId} first where that is wanted).
 *
 * @throws {InvalidTaxId}
 */
export function parseTaxId(input: unknown): TaxId {
  if (typeof input !== 'string') {
    throw new InvalidTaxId(
      'not_text',
      'A tax ID must be a string: as a number it would lose leading zeros and letters',
    );
  }
  const text = input.replace(PUNCTUATION, '');
  if (text.length !== 14 && text.length !== 11) {
    throw new InvalidTaxId(
      'length',
      `Tax ID has ${text.length} characters: expected 14 (CNPJ) or 11 (CPF), punctuation not counted`,
    );
  }
  const kind = taxIdKind(text);
  if (!(kind === 'cnpj' ? CNPJ : CPF).test(text)) {
    if (CNPJ_ANY_CASE.test(text)) {
      throw new InvalidTaxId('lower_case', `${shown(text)} has lower-case letters: send it in upper case`);
    }
    throw new InvalidTaxId(
      'characters',
      kind === 'cnpj'
        ? `${shown(text)} is no CNPJ: expected 12 digits or letters A–Z and then 2 digits`
        : `${shown(text)} is no CPF: expected 11 digits`,
    );
  }
  // A row of one digit satisfies the arithmetic but is issued to nobody: it is what people type to get past a form.
  if (/^(.)\1*$/.test(text)) {
    throw new InvalidTaxId('same_digit', `${shown(text)} is one digit repeated: nobody has this tax ID`);
  }
  const right = kind === 'cnpj' ? cnpjCheckDigits(text.slice(0, 12)) : cpfCheckDigits(text.slice(0, 9));
  if (text.slice(-2) !== right) {
    throw new InvalidTaxId('check_digits', `${shown(text)} has wrong check digits: compare it with the original`);
  }
  return text as TaxId;
}

/** Whether {@link parseTaxId} would accept the input as it is. */
export function isTaxId(input: unknown): boolean {
  try {
    parseTaxId(input);
    return true;
  } catch {
    return false;
  }
}

/** Without punctuation and in upper case. Checks nothing. */
export function normalizeTaxId(input: string): string {
  return input.replace(PUNCTUATION, '').toUpperCase();
}

/** By length alone: a CPF has 11 characters. */
export function taxIdKind(taxId: string): TaxIdKind {
  return taxId.length === 11 ? 'cpf' : 'cnpj';
}

/** What all branches of one company share: the first 8 characters of a CNPJ (as a string, letters included); a CPF is its own root. */
export function taxIdRoot(taxId: string): string {
  return taxIdKind(taxId) === 'cnpj' ? taxId.slice(0, 8) : taxId;
}

/** The 2 check digits that follow the first 12 characters (digits or `A`–`Z`) of a CNPJ. */
export function cnpjCheckDigits(first12: string): string {
  const first = modulo11(first12, 9);
  return first + modulo11(first12 + first, 9);
}

/** The 2 check digits that follow the first 9 digits of a CPF. Weights go on to 11 here and never begin again. */
export function cpfCheckDigits(first9: string): string {
  const first = modulo11(first9, 11);
  return first + modulo11(first9 + first, 11);
}

function shown(taxId: string): string {
  return `Tax ID …${taxId.slice(-4)}`;
}
