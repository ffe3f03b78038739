import type { ManifestationRule } from '../model/manifestation.js';
import type { Environment } from '../model/words.js';

/** What the requests for events about NF-e, CT-e and NFS-e have in common. */

export interface EventToSign {
  readonly rule: ManifestationRule;
  readonly environment: Environment;
  /** Of the company that speaks: CNPJ (14 characters) or CPF (11 digits). */
  readonly author: string;
  /** Access key of the document: 44 characters, of an NFS-e 50. */
  readonly key: string;
  /** Milliseconds. */
  readonly occurredAt: number;
}

/** tpAmb. */
export function environmentCode(environment: Environment): '1' | '2' {
  return environment === 'production' ? '1' : '2';
}

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

/** Text as it stands inside an element or an attribute. */
export const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
