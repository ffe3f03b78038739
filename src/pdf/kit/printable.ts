/**
 * The fonts that every PDF reader has know the characters of WinAnsi and no others; a PDF that asks for another one shows garbage. So
 * every text of a document is brought to WinAnsi where it enters, before anything is measured.
 */

/** What WinAnsi has at the bytes 0x80 to 0x9F (a blank where it has nothing, or pdfkit no width: Ÿ). The bytes from 0xA0 on are the same as in Unicode. */
const EXTRAS = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ ž ';
const EXTRA_BYTES: ReadonlyMap<number, number> = new Map(
  [...EXTRAS].flatMap((character, at) => (character === ' ' ? [] : [[character.charCodeAt(0), 0x80 + at]])),
);

/** Look-alikes of characters that people paste from word processors and that Unicode does not decompose. */
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map([
  ['‐', '-'],
  ['‑', '-'],
  ['‒', '–'],
  ['―', '—'],
  ['−', '-'],
  ['≤', '<='],
  ['≥', '>='],
  ['≠', '<>'],
  ['→', '->'],
  ['⁄', '/'],
  ['′', "'"],
  ['″', '"'],
  ['⌀', 'Ø'],
  ['∅', 'Ø'],
  ['ı', 'i'],
  ['ł', 'l'],
  ['Ł', 'L'],
]);

const PLAIN = /^[\t\n\r\x20-\x7e\xa1-\xac\xae-\xff]*$/;
/** Nothing to see: joiners, direction marks, soft hyphens and the like; variation selectors; control characters. */
const INVISIBLE = /\p{Cf}|\p{Variation_Selector}|(?![\t\n\r])\p{Cc}/gu;
/** A letter with what is written over or under it. */
const CLUSTER = /[\s\S]\p{M}*/gu;

/** The text in characters of WinAnsi (and line ends). A letter that is not there loses its accent, anything else becomes `?`. */
export function printable(text: string): string {
  return PLAIN.test(text) ? text : text.normalize('NFC').replace(INVISIBLE, '').replace(CLUSTER, nearest);
}

function nearest(cluster: string): string {
  const [first = ''] = cluster;
  if (isPrintable(first)) return first;
  const known = LOOK_ALIKES.get(first);
  if (known !== undefined) return known;
  const parts = first.normalize('NFKD').replace(/\p{M}/gu, '');
  return [...parts].map((part) => (isPrintable(part) ? part : (LOOK_ALIKES.get(part) ?? '?'))).join('');
}

function isPrintable(character: string): boolean {
  return (
    character === '\n' || character === '\r' || character === '\t' || winAnsiByte(character.charCodeAt(0)) !== null
  );
}

/** The byte of a UTF-16 code unit; null when WinAnsi does not have it. */
export function winAnsiByte(code: number): number | null {
  return code < 0x80 || code >= 0xa0 ? (isGlyph(code) ? code : (EXTRA_BYTES.get(code) ?? null)) : null;
}

/** Whether there is a character of its own at this byte of WinAnsi. */
export function isGlyph(byte: number): boolean {
  if (byte >= 0x80 && byte <= 0x9f) return EXTRAS.charAt(byte - 0x80) !== ' ';
  return byte >= 0x20 && byte <= 0xff && byte !== 0x7f && byte !== 0xa0 && byte !== 0xad;
}
