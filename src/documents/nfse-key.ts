import { readKey } from './access-key.js';
import type { DocumentKey } from './document-key.js';
import { modulo11 } from './modulo-11.js';
import { ufByCode } from './uf.js';

/**
 * Access keys of national NFS-e: 50 characters, letters legal in positions 10 to 23 since August 2026.
 *
 *     municipality 7 · generator 1 · tax ID kind 1 · tax ID 14 · number 13 · year and month 4 · random 9 · check digit 1
 *
 * The tax ID is the emitter's, who is not always the provider (tpEmit), and the official pattern of the XSD puts the letters elsewhere
 * than real keys do (contract section 3): so only the shape is demanded of what the government sends, and a wrong check digit is a warning.
 */
const KEY = /^[0-9]{9}[0-9A-Z]{14}[0-9]{27}$/;
const LENGTH = 50;

/** Whether the text has the shape of an NFS-e key; its check digit is another question. */
export function isNfseKey(text: string): boolean {
  return KEY.test(text);
}

/** The check digit that follows the first 49 characters. */
export function nfseKeyCheckDigit(first49: string): string {
  return modulo11(first49, 9);
}

function hasRightCheckDigit(key: string): boolean {
  return key.slice(LENGTH - 1) === nfseKeyCheckDigit(key.slice(0, LENGTH - 1));
}

/**
 * Reads an NFS-e key from outside, where a wrong check digit is most likely a slip of the pen; blanks are removed.
 *
 * @throws {InvalidAccessKey}
 */
export function parseNfseKey(input: unknown): string {
  return readKey(input, {
    length: LENGTH,
    expected: "an NFS-e's has 50",
    pattern: KEY,
    letters: '10 to 23',
    isValid: hasRightCheckDigit,
  });
}

/** The key that a document gives in several places: the first of the right shape. Warnings show its last 4 characters only. */
export function nfseDocumentKey(...places: (string | undefined)[]): Omit<DocumentKey, 'key'> & { key: string | null } {
  const given = places.filter((place) => place !== undefined);
  const key = given.find(isNfseKey) ?? null;
  const others = [...new Set(given.filter((place) => place !== key))];
  const warnings = others.map((place) =>
    isNfseKey(place)
      ? `key_differs: …${place.slice(-4)} stands beside …${key?.slice(-4)}`
      : `key_invalid: …${place.slice(-4)} is no access key`,
  );
  if (given.length === 0) warnings.push('key_missing: the document names no key');
  if (key !== null && !hasRightCheckDigit(key)) warnings.push(`key_check_digit: …${key.slice(-4)} has another one`);
  return { key, agreed: !others.some(isNfseKey), warnings };
}

/** What the key alone tells. The number is absent where a municipality writes zeros. */
export function nfseKeyMetadata(key: string): { uf?: string; municipality: string; number?: string } {
  const uf = ufByCode(key.slice(0, 2));
  const number = key.slice(23, 36).replace(/^0+/, '');
  return { ...(uf && { uf }), municipality: key.slice(0, 7), ...(number && { number }) };
}

/** `Id` of a note, an event or the request for one begins with a word of three letters; what follows the key in it does not matter. */
const KEY_IN_TEXT = /^(?:[A-Z]{3})?([0-9]{9}[0-9A-Z]{14}[0-9]{27})/;

/** The key of a document that no reader knows. */
export function searchedNfseKey(texts: readonly string[]): { key: string | null; metadata: Record<string, string> } {
  const key = texts.map((text) => KEY_IN_TEXT.exec(text)?.[1]).find((found) => found !== undefined) ?? null;
  return { key, metadata: key === null ? {} : nfseKeyMetadata(key) };
}
