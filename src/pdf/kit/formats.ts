/**
 * Values of the XML as people read them. Only punctuation is added: no value is calculated, rounded or completed, and one that does not
 * look like its kind is printed as it stands. Nothing here is a number or a Date: both would alter what was written.
 */

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/** `1234.50` → `1.234,50`. */
export function amount(text: string): string {
  return decimal(text, (decimals) => decimals);
}

/** `15.0000` → `15,00`, `0.8500000000` → `0,85`, `0.125` → `0,125`: without the zeros behind the second decimal. */
export function quantity(text: string): string {
  return decimal(text, (decimals) => decimals.replace(/(?<=^..)(\d*?)0+$/, '$1'));
}

/** `18.0000` → `18,00%`. */
export function rate(text: string): string {
  return DECIMAL.test(text) ? `${quantity(text)}%` : text;
}

/** Whether it is there and not zero. */
export function isSome(text: string): boolean {
  return text !== '' && !/^-?0+(\.0+)?$/.test(text);
}

function decimal(text: string, decimalsOf: (decimals: string) => string): string {
  const [, sign, whole, decimals] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return text;
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, '.');
  const shown = decimalsOf(decimals ?? '');
  return `${sign}${grouped}${shown === '' ? '' : `,${shown}`}`;
}

const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d:\d\d(?::\d\d)?))?/;

/** Date of a timestamp, by the clock that wrote it: `2026-12-03T05:48:00-03:00` → `03/12/2026`. */
export function date(timestamp: string): string {
  const [, year, month, day] = TIMESTAMP.exec(timestamp) ?? [];
  return year === undefined ? timestamp : `${day}/${month}/${year}`;
}

/** Time of day of a timestamp, by the clock that wrote it; empty when it has none. */
export function timeOfDay(timestamp: string): string {
  return TIMESTAMP.exec(timestamp)?.[4] ?? '';
}

/** `dd/mm/yyyy hh:mm:ss` of an instant as the document gives it, in its own offset. */
export function dateAndTime(timestamp: string): string {
  return `${date(timestamp)} ${timeOfDay(timestamp)}`.trim();
}

/** CNPJ (letters included) or CPF with its punctuation. */
export function taxId(text: string): string {
  if (/^[0-9A-Z]{14}$/.test(text)) return text.replace(/^(..)(...)(...)(....)(..)$/, '$1.$2.$3/$4-$5');
  if (/^\d{11}$/.test(text)) return text.replace(/^(...)(...)(...)(..)$/, '$1.$2.$3-$4');
  return text;
}

/** A CEP with its hyphen; anything else as it stands. */
export function postalCode(text: string): string {
  return /^\d{8}$/.test(text) ? `${text.slice(0, 5)}-${text.slice(5)}` : text;
}

/** Area code and number, when there are 10 or 11 digits. */
export function phone(text: string): string {
  return text.replace(/^(\d\d)(\d{4,5})(\d{4})$/, '($1) $2-$3');
}

/** An access key in groups of 4. */
export function inGroups(key: string): string {
  return key.replace(/....(?=.)/g, '$& ');
}

/** `317270` → `000.317.270`, as number of a note. */
export function documentNumber(text: string): string {
  return /^\d{1,9}$/.test(text) ? text.padStart(9, '0').replace(/^(...)(...)(...)$/, '$1.$2.$3') : text;
}

/** `1` → `001`. */
export function seriesNumber(text: string): string {
  return /^\d{1,3}$/.test(text) ? text.padStart(3, '0') : text;
}

/** The texts that are there, with a separator between each two. */
export function joined(texts: readonly string[], separator: string): string {
  return texts.filter((text) => text !== '').join(separator);
}

/** `label: value`, or nothing without a value. */
export function labelled(label: string, value: string): string {
  return value === '' ? '' : joined([label, value], ': ');
}
