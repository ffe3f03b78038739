/**
 * NSU: the place of a document in the government's queue for one tax ID at one service. Always a string of exactly 15 digits, because it is a
 * cursor that must survive every trip through JSON; arithmetic goes through bigint, never through a float.
 */

declare const nsuBrand: unique symbol;
export type Nsu = string & { readonly [nsuBrand]: true };

/** Before the first document. */
export const ZERO_NSU = '000000000000000' as Nsu;

/** Thrown for an input that is no NSU. The message says what was wrong and what is expected. */
export class InvalidNsu extends Error {
  override readonly name = 'InvalidNsu';
}

/**
 * Reads an NSU from outside: 1 to 15 digits as a string (surrounding blanks allowed), a bigint, or a safe integer.
 *
 * @throws {InvalidNsu} for anything else; it never falls back to another NSU (docs/rules.md, case C12).
 */
export function parseNsu(input: unknown): Nsu {
  if (typeof input === 'number' && !Number.isSafeInteger(input)) {
    throw new InvalidNsu(`NSU ${input} is no safe integer: send it as a string of 1 to 15 digits`);
  }
  const text =
    typeof input === 'string'
      ? input.trim()
      : typeof input === 'number' || typeof input === 'bigint'
        ? String(input)
        : '';
  if (!/^[0-9]{1,15}$/.test(text)) {
    throw new InvalidNsu(`${describe(input)} is no NSU: expected 1 to 15 digits`);
  }
  return text.padStart(15, '0') as Nsu;
}

/** As {@link parseNsu}, but `null` instead of an error. For fields of government answers, where absence is ordinary. */
export function tryParseNsu(input: unknown): Nsu | null {
  try {
    return parseNsu(input);
  } catch {
    return null;
  }
}

/** Negative, zero or positive, like a sort function. 15-digit strings order as text. */
export function compareNsu(a: Nsu, b: Nsu): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The later of two. Of one length, texts compare like numbers. */
export function maxNsu(a: Nsu, b: Nsu): Nsu {
  return a >= b ? a : b;
}

/** `nsu + by`. Never below zero; above 15 digits is an error. */
export function addNsu(nsu: Nsu, by: number | bigint): Nsu {
  const sum = BigInt(nsu) + BigInt(by);
  return sum < 0n ? ZERO_NSU : parseNsu(sum);
}

/** How many numbers lie between: `to − from`, as a bigint. */
export function nsuDistance(from: Nsu, to: Nsu): bigint {
  return BigInt(to) - BigInt(from);
}

function describe(input: unknown): string {
  if (input === null || input === undefined || input === '') return 'nothing';
  return typeof input === 'string' ? `"${input.slice(0, 40)}"` : typeof input;
}
