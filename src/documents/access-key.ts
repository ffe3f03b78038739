import { modulo11 } from './modulo-11.js';
import { ufByCode } from './uf.js';

/**
 * Access keys of NF-e, NFC-e, CT-e and their kin: 44 characters, letters legal in positions 7 to 18 since July 2026 (case C49).
 *
 *     cUF 2 · year and month 4 · tax ID 14 · model 2 · series 3 · number 9 · tpEmis 1 · cNF 8 · check digit 1
 */

declare const accessKeyBrand: unique symbol;
/** An access key whose check digit is right. */
export type AccessKey = string & { readonly [accessKeyBrand]: true };

/** What is wrong with it, in the order in which it is looked at. */
export type AccessKeyProblem = 'not_text' | 'length' | 'characters' | 'check_digit';

/** Thrown for an input that is no access key. The message shows at most its last 4 characters. */
export class InvalidAccessKey extends Error {
  override readonly name = 'InvalidAccessKey';
  constructor(
    readonly problem: AccessKeyProblem,
    message: string,
  ) {
    super(message);
  }
}

/** What an access key is made of. */
export interface AccessKeyParts {
  /** IBGE code of the issuer's federal unit, `35`. */
  readonly ufCode: string;
  /** `YYMM` of issue. */
  readonly yearMonth: string;
  /** 14 characters; a CPF stands here behind three zeros. Not always the issuer's: some series carry a tax office's own (contract section 5). */
  readonly taxId: string;
  /** `55` NF-e, `65` NFC-e, `57` CT-e, `67` CT-e OS, `64` GTV-e. */
  readonly model: string;
  /** 3 digits. */
  readonly series: string;
  /** 9 digits. */
  readonly number: string;
  /** tpEmis, 1 digit. */
  readonly emissionType: string;
  /** cNF, 8 digits. */
  readonly randomCode: string;
}

const KEY = /^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/;

/** Whether the text is an access key exactly as written: 44 characters, right check digit. */
export function isAccessKey(text: string): text is AccessKey {
  return KEY.test(text) && text.slice(43) === accessKeyCheckDigit(text.slice(0, 43));
}

/**
 * Reads an access key from outside; blanks, as printed on paper between groups of four, are removed.
 *
 * @throws {InvalidAccessKey}
 */
export function parseAccessKey(input: unknown): AccessKey {
  const form = { length: 44, expected: 'expected 44', pattern: KEY, letters: '7 to 18', isValid: isAccessKey };
  return readKey(input, form) as AccessKey;
}

/** What a kind of access key looks like, and how its faults are told. */
interface KeyForm {
  readonly length: number;
  readonly expected: string;
  readonly pattern: RegExp;
  /** The positions where letters are legal. */
  readonly letters: string;
  /** Asked last, of a text of the right form: whether the check digit is right as well. */
  readonly isValid: (text: string) => boolean;
}

/** @throws {InvalidAccessKey} with the first thing that is wrong */
export function readKey(input: unknown, form: KeyForm): string {
  if (typeof input !== 'string') {
    throw new InvalidAccessKey(
      'not_text',
      `An access key must be a string: a number cannot hold ${form.length} digits`,
    );
  }
  const text = input.replace(/\s/g, '');
  if (text.length !== form.length) {
    throw new InvalidAccessKey('length', `Access key has ${text.length} characters: ${form.expected}`);
  }
  if (!form.pattern.test(text)) {
    throw new InvalidAccessKey(
      'characters',
      `Access key …${text.slice(-4)} has a character out of place: expected digits, and upper-case letters only in positions ${form.letters}`,
    );
  }
  if (!form.isValid(text)) {
    throw new InvalidAccessKey(
      'check_digit',
      `Access key …${text.slice(-4)} has a wrong check digit: compare it with the original`,
    );
  }
  return text;
}

/** Takes a key apart. */
export function accessKeyParts(key: AccessKey): AccessKeyParts {
  return {
    ufCode: key.slice(0, 2),
    yearMonth: key.slice(2, 6),
    taxId: key.slice(6, 20),
    model: key.slice(20, 22),
    series: key.slice(22, 25),
    number: key.slice(25, 34),
    emissionType: key.slice(34, 35),
    randomCode: key.slice(35, 43),
  };
}

/**
 * Puts a key together and adds its check digit. Short numbers are padded with zeros, and so is a CPF.
 *
 * @throws {InvalidAccessKey} when a part does not fit its place
 */
export function buildAccessKey(parts: AccessKeyParts): AccessKey {
  const first43 =
    parts.ufCode +
    parts.yearMonth +
    parts.taxId.padStart(14, '0') +
    parts.model +
    parts.series.padStart(3, '0') +
    parts.number.padStart(9, '0') +
    parts.emissionType +
    parts.randomCode.padStart(8, '0');
  return parseAccessKey(first43 + accessKeyCheckDigit(first43));
}

/** The check digit that follows the first 43 characters. */
export function accessKeyCheckDigit(first43: string): string {
  return modulo11(first43, 9);
}

/** What a key alone tells about its document; the number and series without their leading zeros, as people write them. */
export function keyMetadata(key: AccessKey): { uf?: string; model: string; series: string; number: string } {
  const { ufCode, model, series, number } = accessKeyParts(key);
  const uf = ufByCode(ufCode);
  return {
    ...(uf && { uf }),
    model,
    series: series.replace(/^0+(?=.)/, ''),
    number: number.replace(/^0+(?=.)/, ''),
  };
}
