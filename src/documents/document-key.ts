import { type AccessKey, isAccessKey } from './access-key.js';
import { ufByCode } from './uf.js';

/** The key that a document gives of itself, in one place or several. */
export interface DocumentKey {
  readonly key: AccessKey | null;
  /** False when other places give other keys: then nothing that the document says of a state can be trusted to be about this key. */
  readonly agreed: boolean;
  readonly warnings: readonly string[];
}

/**
 * The key that a document gives in several places: the first that has a right check digit. Places that have none, or another key,
 * become warnings, which show a key's last 4 characters only.
 *
 * @param places texts as they stand in the document, the most binding first
 */
export function documentKey(...places: (string | undefined)[]): DocumentKey {
  const given = places.filter((place) => place !== undefined);
  const key = given.find(isAccessKey) ?? null;
  const others = new Set(given.filter((place) => place !== key));
  const warnings = [...others].map((place) =>
    isAccessKey(place)
      ? `key_differs: …${place.slice(-4)} stands beside …${key?.slice(-4)}`
      : `key_invalid: …${place.slice(-4)} is no access key`,
  );
  return {
    key,
    agreed: ![...others].some(isAccessKey),
    warnings: given.length === 0 ? ['key_missing: the document names no key'] : warnings,
  };
}

/** `Id` of an NF-e, CT-e …: a short prefix and the key. `Id` of an event: `ID`, its type, the key, its sequence. */
const KEY_IN_TEXT = /^(?:ID[0-9]{6}([0-9A-Z]{44})[0-9]{2,3}|[A-Za-z]{0,6}([0-9A-Z]{44}))$/;

/**
 * The key of a document that no reader knows. One that begins with no federal unit is passed over: CT-e shown to third parties
 * carry related keys of 44 nines (contract section 1b).
 */
export function searchedKey(texts: readonly string[]): AccessKey | null {
  for (const text of texts) {
    const match = KEY_IN_TEXT.exec(text);
    const key = match?.[1] ?? match?.[2];
    if (key !== undefined && isAccessKey(key) && ufByCode(key.slice(0, 2)) !== undefined) {
      return key;
    }
  }
  return null;
}
