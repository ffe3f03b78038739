import { type EventAuthority, justificationFault, type ManifestationRule } from '../model/manifestation.js';
import type { Environment } from '../model/words.js';
import type { ClientCertificate } from './types.js';
import { signEnveloped } from './xml-signature.js';

/** Layout 1.00 of NFeRecepcaoEvento4 (nfe-cte.md 1c, 1d). Every character is written here and stays as it is: parts of it are signed. */

const NAMESPACE = 'http://www.portalfiscal.inf.br/nfe';

/** cOrgao of who registers. */
const ORGANS: Readonly<Record<EventAuthority, string>> = { an: '91', svrs: '92' };

export interface NfeEvent {
  readonly rule: ManifestationRule;
  readonly environment: Environment;
  /** Of the company that speaks: CNPJ (14 characters) or CPF (11 digits). */
  readonly author: string;
  /** Access key of the note. */
  readonly key: string;
  /** nSeqEvento. */
  readonly sequence: number;
  /** Milliseconds. */
  readonly occurredAt: number;
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
  return (
    `<evento xmlns="${NAMESPACE}" versao="1.00"><infEvento Id="${id}"><cOrgao>${ORGANS[rule.authority]}</cOrgao>` +
    `<tpAmb>${environment === 'production' ? 1 : 2}</tpAmb>${authorElement(author)}<chNFe>${key}</chNFe>` +
    `<dhEvento>${brasiliaTime(occurredAt)}</dhEvento><tpEvento>${rule.type}</tpEvento>` +
    `<nSeqEvento>${sequence}</nSeqEvento><verEvento>1.00</verEvento>` +
    `<detEvento versao="1.00"><descEvento>${rule.description}</descEvento>${detailsOf(event)}</detEvento>` +
    '</infEvento></evento>'
  );
}

function authorElement(author: string): string {
  if (/^[0-9A-Z]{12}[0-9]{2}$/.test(author)) return `<CNPJ>${author}</CNPJ>`;
  if (/^[0-9]{11}$/.test(author)) return `<CPF>${author}</CPF>`;
  throw new Error('the tax ID is neither a CNPJ (14 characters) nor a CPF (11 digits)');
}

function detailsOf({ rule, justification, details }: NfeEvent): string {
  if (rule.justified !== Boolean(justification))
    throw new Error(`xJust is ${rule.justified ? 'missing' : 'forbidden'}`);
  if (justification && justificationFault(justification) !== null) throw new Error('xJust is not of its form');
  if ((rule.class === 'tax_reform') !== Boolean(details)) throw new Error('only Tax Reform events have fields');
  return justification ? `<xJust>${escaped(justification)}</xJust>` : (details ?? '');
}

/** With the offset of Brasília, −03:00 all year since 2019; whole seconds, rounded down: never in the future (577, 578). */
function brasiliaTime(at: number): string {
  return `${new Date(at - 3 * 3_600_000).toISOString().slice(0, 19)}-03:00`;
}

/** Most events in one request: the AN takes 20, SVRS one (NT 2025.002). */
export const EVENTS_IN_ONE: Readonly<Record<EventAuthority, number>> = { an: 20, svrs: 1 };

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

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
