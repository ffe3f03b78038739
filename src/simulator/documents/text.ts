/** What the documents' XML is put together with. */

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes a text as the manual asks issuers to: quotes and apostrophes too. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Cents → `1234.56`. */
export function money(cents: number): string {
  const text = String(cents).padStart(3, '0');
  return `${text.slice(0, -2)}.${text.slice(-2)}`;
}

/** `2026-11-30T10:15:00-03:00`: an instant in milliseconds as a clock `offset` hours from UTC shows it. */
export function localTime(instant: number, offset = -3): string {
  const hours = String(Math.abs(offset)).padStart(2, '0');
  return `${new Date(instant + offset * 3_600_000).toISOString().slice(0, 19)}${offset < 0 ? '-' : '+'}${hours}:00`;
}

/** `<CNPJ>` or `<CPF>`, by length. */
export function taxIdElement(taxId: string): string {
  return taxId.length === 11 ? `<CPF>${taxId}</CPF>` : `<CNPJ>${taxId}</CNPJ>`;
}
