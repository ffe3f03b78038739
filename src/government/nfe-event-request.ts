import { type EventAuthority, justificationFault } from '../model/manifestation.js';
import { authorElement, brasiliaTime, type EventToSign, environmentCode, escaped } from './event-xml.js';
import type { ClientCertificate } from './types.js';
import { signEnveloped } from './xml-signature.js';

/** Layout 1.00 of NFeRecepcaoEvento4 (nfe-cte.md 1c, 1d). Every character is written here and stays as it is: parts of it are signed. */

const NAMESPACE = 'http://www.portalfiscal.inf.br/nfe';

/** cOrgao of who registers. */
const ORGANS: { readonly [authority in EventAuthority]?: string } = { an: '91', svrs: '92' };

/** A statement about a note. */
export interface NfeEvent extends EventToSign {
  /** nSeqEvento. */
  readonly sequence: number;
  /** 15 to 255 characters; only for rules that ask for it. */
  readonly justification?: string | null;
  /** XML that follows descEvento; only for Tax Reform events. */
  readonly details?: string;
}

/** The same request has the same Id for ever: sent twice, it is registered once and answered 573 (case C59). */
export function nfeEventId({ rule, key, sequence }: Pick<NfeEvent, 'rule' | 'key' | 'sequence'>): string {
  return `ID${rule.type}${key}${String(sequence).padStart(2, '0')}`;
}

/**
 * An event, signed, as an `evento` element that stands alone.
 *
 * @throws {Error} for input that would make an invalid request: a bug of the caller
 */
export function signedNfeEvent(event: NfeEvent, certificate: ClientCertificate): string {
  const id = nfeEventId(event);
  return signEnveloped(eventElement(id, event), id, certificate);
}

function eventElement(id: string, event: NfeEvent): string {
  const { rule, environment, author, key, sequence, occurredAt } = event;
  if (!/^ID[0-9]{12}[0-9A-Z]{12}[0-9]{28}$/.test(id)) throw new Error('type, key and sequence make no valid event Id');
  const organ = ORGANS[rule.authority];
  if (!organ) throw new Error('the event is not one about NF-e');
  return (
    `<evento xmlns="${NAMESPACE}" versao="1.00"><infEvento Id="${id}"><cOrgao>${organ}</cOrgao>` +
    `<tpAmb>${environmentCode(environment)}</tpAmb>${authorElement(author)}<chNFe>${key}</chNFe>` +
    `<dhEvento>${brasiliaTime(occurredAt)}</dhEvento><tpEvento>${rule.type}</tpEvento>` +
    `<nSeqEvento>${sequence}</nSeqEvento><verEvento>1.00</verEvento>` +
    `<detEvento versao="1.00"><descEvento>${rule.description}</descEvento>${detailsOf(event)}</detEvento>` +
    '</infEvento></evento>'
  );
}

function detailsOf({ rule, justification, details }: NfeEvent): string {
  if (rule.justified !== Boolean(justification))
    throw new Error(`xJust is ${rule.justified ? 'missing' : 'forbidden'}`);
  if (justification && justificationFault(justification) !== null) throw new Error('xJust is not of its form');
  if ((rule.class === 'tax_reform') !== Boolean(details)) throw new Error('only Tax Reform events have fields');
  return justification ? `<xJust>${escaped(justification)}</xJust>` : (details ?? '');
}

/**
 * The request around signed events, whose characters stay as they are.
 *
 * @param lot idLote: 1 to 15 digits, ours
 */
export function envEvento(lot: string, events: readonly string[]): string {
  return `<envEvento xmlns="${NAMESPACE}" versao="1.00"><idLote>${lot}</idLote>${events.join('')}</envEvento>`;
}

/**
 * The registered event as a document of its own: what was signed, and what was answered about it. No namespace is declared above the
 * event, so its signature still holds.
 *
 * @param answer inner XML of the event's `retEvento`
 */
export function procEventoNFe(event: string, answer: string): string {
  return (
    `<procEventoNFe xmlns="${NAMESPACE}" versao="1.00">${event}` +
    `<retEvento xmlns="${NAMESPACE}" versao="1.00">${answer}</retEvento></procEventoNFe>`
  );
}
