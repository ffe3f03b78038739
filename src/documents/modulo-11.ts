/**
 * Modulo 11 as Brazil's registries use it: each character counts as its ASCII code minus 48 (so `A` is 17, not 10: case C49), weights
 * grow from 2 at the rightmost character, and a remainder of 0 or 1 gives the digit 0.
 *
 * @param text characters `0`–`9` and `A`–`Z` only
 * @param highestWeight weights run 2 … highestWeight and then begin again at 2
 */
export function modulo11(text: string, highestWeight: number): string {
  let sum = 0;
  let weight = 2;
  for (let at = text.length - 1; at >= 0; at--) {
    sum += (text.charCodeAt(at) - 48) * weight;
    weight = weight === highestWeight ? 2 : weight + 1;
  }
  const remainder = sum % 11;
  return remainder < 2 ? '0' : String(11 - remainder);
}
