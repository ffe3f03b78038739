/** Parts that events about NF-e and CT-e write alike. */

/** @throws {Error} for anything else: a bug of the caller */
export function authorElement(author: string): string {
  if (/^[0-9A-Z]{12}[0-9]{2}$/.test(author)) return `<CNPJ>${author}</CNPJ>`;
  if (/^[0-9]{11}$/.test(author)) return `<CPF>${author}</CPF>`;
  throw new Error('the tax ID is neither a CNPJ (14 characters) nor a CPF (11 digits)');
}

/** With the offset of Brasília, −03:00 all year since 2019; whole seconds, rounded down: never in the future (577, 578). */
export function brasiliaTime(at: number): string {
  return `${new Date(at - 3 * 3_600_000).toISOString().slice(0, 19)}-03:00`;
}

export const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
