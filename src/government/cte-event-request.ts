import { DISAGREEMENT_TYPE, justificationFault } from '../model/manifestation.js';
import { authorElement, brasiliaTime, type EventToSign, environmentCode, escaped } from './event-xml.js';
import type { ClientCertificate } from './types.js';
import { signEnveloped } from './xml-signature.js';

/** Layout 4.00 of CTeRecepcaoEvento (nfe-cte.md 1b). Every character is written here and stays as it is: parts of it are signed. */

const NAMESPACE = 'http://www.portalfiscal.inf.br/cte';

/** A statement of a taker about a CT-e, whose key begins with the UF of its authorizer (cOrgao). */
export interface CteEvent extends EventToSign {
  /** nSeqEvento. */
  readonly sequence: number;
  /** xObs, 15 to 255 characters; only of a disagreement. */
  readonly justification?: string | null;
  /** nProtEvPrestDes; only of a cancellation: the protocol of the disagreement that it takes back. */
  readonly protocol?: string | null;
}

/** The same request has the same Id for ever: sent twice, it is registered once and answered 631. Three digits of sequence since 4.00. */
function cteEventId({ rule, key, sequence }: CteEvent): string {
  return `ID${rule.type}${key}${String(sequence).padStart(3, '0')}`;
}

/**
 * An event, signed, as an `eventoCTe` element that stands alone.
 *
 * @throws {Error} for input that would make an invalid request: a bug of the caller
 */
export function signedCteEvent(event: CteEvent, certificate: ClientCertificate): string {
  const id = cteEventId(event);
  if (!/^ID[0-9]{12}[0-9A-Z]{12}[0-9]{29}$/.test(id)) throw new Error('type, key and sequence make no valid event Id');
  const { rule, environment, author, key, sequence, occurredAt } = event;
  const xml =
    `<eventoCTe xmlns="${NAMESPACE}" versao="4.00"><infEvento Id="${id}"><cOrgao>${key.slice(0, 2)}</cOrgao>` +
    `<tpAmb>${environmentCode(environment)}</tpAmb>${authorElement(author)}<chCTe>${key}</chCTe>` +
    `<dhEvento>${brasiliaTime(occurredAt)}</dhEvento><tpEvento>${rule.type}</tpEvento><nSeqEvento>${sequence}</nSeqEvento>` +
    `<detEvento versaoEvento="4.00">${detailsOf(event)}</detEvento></infEvento></eventoCTe>`;
  return signEnveloped(xml, id, certificate);
}

function detailsOf({ rule, justification, protocol }: CteEvent): string {
  const description = `<descEvento>${rule.description}</descEvento>`;
  if (rule.type === DISAGREEMENT_TYPE) {
    if (!justification || justificationFault(justification) !== null)
      throw new Error('xObs is missing or not of its form');
    return (
      `<evPrestDesacordo>${description}<indDesacordoOper>1</indDesacordoOper>` +
      `<xObs>${escaped(justification)}</xObs></evPrestDesacordo>`
    );
  }
  if (!protocol || !/^[0-9]{15}$/.test(protocol))
    throw new Error('a cancellation names the protocol of the disagreement');
  return `<evCancPrestDesacordo>${description}<nProtEvPrestDes>${protocol}</nProtEvPrestDes></evCancPrestDesacordo>`;
}

/**
 * The registered event as a document of its own: what was signed, and what was answered about it. No namespace is declared above the
 * event, so its signature still holds.
 *
 * @param answer inner XML of `retEventoCTe`
 */
export function procEventoCTe(event: string, answer: string): string {
  return (
    `<procEventoCTe xmlns="${NAMESPACE}" versao="4.00">${event}` +
    `<retEventoCTe xmlns="${NAMESPACE}" versao="4.00">${answer}</retEventoCTe></procEventoCTe>`
  );
}
