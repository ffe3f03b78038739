import type { Nsu } from '../model/nsu.js';
import type { Environment } from '../model/words.js';
import { environmentCode } from './event-xml.js';

/** What every distribution service can be asked: the documents after an NSU, or the one of an NSU, which is a point query. */
export type NsuQuery = { readonly distNSU: Nsu } | { readonly consNSU: Nsu };
/** NF-e can be asked for by their access keys too: another point query. */
export type DistributionQuery = NsuQuery | { readonly consChNFe: string };

/** A question of one company. */
export interface DistributionRequest<Query extends DistributionQuery = DistributionQuery> {
  readonly environment: Environment;
  /** IBGE code of the company's UF, two digits. */
  readonly cUFAutor: string;
  /** CNPJ (14 characters) or CPF (11 digits), without punctuation. */
  readonly taxId: string;
  readonly query: Query;
}

/** What the two services write differently. */
export interface RequestLayout {
  readonly namespace: string;
  readonly version: string;
}

/**
 * The distDFeInt element, exactly as the services want it: no declaration, no prefix (404), no white space, NSUs of 15 digits (215).
 *
 * @throws {Error} for input that would make an invalid request: a bug of the caller
 */
export function distDFeInt(
  layout: RequestLayout,
  { environment, cUFAutor, taxId, query }: DistributionRequest,
): string {
  if (!/^[1-5][0-9]$/.test(cUFAutor)) throw new Error(`"${cUFAutor.slice(0, 10)}" is no IBGE code of a UF`);
  return (
    `<distDFeInt xmlns="${layout.namespace}" versao="${layout.version}">` +
    `<tpAmb>${environmentCode(environment)}</tpAmb><cUFAutor>${cUFAutor}</cUFAutor>` +
    `${taxIdElement(taxId)}${queryElement(query)}</distDFeInt>`
  );
}

function taxIdElement(taxId: string): string {
  if (/^[0-9A-Z]{12}[0-9]{2}$/.test(taxId)) return `<CNPJ>${taxId}</CNPJ>`;
  if (/^[0-9]{11}$/.test(taxId)) return `<CPF>${taxId}</CPF>`;
  throw new Error('the tax ID is neither a CNPJ (14 characters) nor a CPF (11 digits)');
}

function queryElement(query: DistributionQuery): string {
  if ('distNSU' in query) return `<distNSU><ultNSU>${query.distNSU}</ultNSU></distNSU>`;
  if ('consNSU' in query) return `<consNSU><NSU>${query.consNSU}</NSU></consNSU>`;
  if (!/^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/.test(query.consChNFe))
    throw new Error('the access key has no 44 characters of its form');
  return `<consChNFe><chNFe>${query.consChNFe}</chNFe></consChNFe>`;
}
