import { amount, rate } from '../kit/formats.js';

/** Values as the DANFSe writes them. As in kit/formats.ts, what does not look like its kind is printed as it stands. */

const DECIMAL = /^-?\d+(\.\d+)?$/;

/** `1234.50` → `R$ 1.234,50`. */
export function money(text: string): string {
  return DECIMAL.test(text) ? `R$ ${amount(text)}` : text;
}

/**
 * Sum of the amounts that are there, without rounding; empty when none is, or when one of them is no amount. NT 008 defines some boxes as
 * sums of fields; nothing else on any page is calculated.
 */
export function sum(texts: readonly string[]): string {
  const amounts = texts.filter((text) => text !== '');
  if (amounts.length === 0 || !amounts.every((text) => DECIMAL.test(text))) return '';
  const decimals = Math.max(2, ...amounts.map((text) => text.split('.')[1]?.length ?? 0));
  const total = amounts.reduce((whole, text) => {
    const [units = '', fraction = ''] = text.split('.');
    return whole + BigInt(units + fraction.padEnd(decimals, '0'));
  }, 0n);
  const digits = String(total < 0n ? -total : total).padStart(decimals + 1, '0');
  return `${total < 0n ? '-' : ''}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** `0.10`, nothing, `2.00` → `0,10% / - / 2,00%`; empty when none is there. */
export function rates(texts: readonly string[]): string {
  return texts.every((text) => text === '') ? '' : texts.map((text) => rate(text) || '-').join(' / ');
}

/** `010101` → `01.01.01`. */
export function nationalCode(text: string): string {
  return text.replace(/^(\d\d)(\d\d)(\d\d)$/, '$1.$2.$3');
}

/** `115022000` → `1.1502.20.00`. */
export function nbsCode(text: string): string {
  return text.replace(/^(\d)(\d{4})(\d\d)(\d\d)$/, '$1.$2.$3.$4');
}

/** `01001000` → `01.001-000`. */
export function dottedPostalCode(text: string): string {
  return text.replace(/^(\d\d)(\d{3})(\d{3})$/, '$1.$2-$3');
}

/** No more than `length` characters of it, then `…`: NT 008 says how much of a field is printed. */
export function limited(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length).trimEnd()}…` : text;
}

/** The same for a text in paragraphs, counted together. */
export function limitedAll(paragraphs: readonly string[], length: number): string[] {
  let left = length;
  return paragraphs.flatMap((paragraph) => {
    if (left < 0) return [];
    const shown = limited(paragraph, left);
    left -= paragraph.length;
    return [shown];
  });
}
