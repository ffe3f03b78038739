import { justificationFault } from '../model/manifestation.js';
import { authorElement, brasiliaTime, type EventToSign, environmentCode, escaped } from './event-xml.js';
import type { ClientCertificate } from './types.js';
import { signEnveloped } from './xml-signature.js';

/**
 * The request for an event about an NFS-e (pedRegEvento 1.01, nfse.md 2.4). Every character is written here and stays as it is: parts of
 * it are signed, and the schema compares descriptions to the letter. No prefixes (E1228).
 */

const NAMESPACE = 'http://www.sped.fazenda.gov.br/nfse';

/** A statement of a taker about an NFS-e. */
export interface NfseEvent extends EventToSign {
  /** verAplic: our name and version, 1 to 20 characters. */
  readonly application: string;
  /** cMotivo; only for rules that have reasons. */
  readonly reasonCode?: string | null;
  /** xMotivo, 15 to 255 characters. */
  readonly reason?: string | null;
}

/** Key and type are all of it: the same statement has the same Id for ever, so it is registered once (E0802). */
export function nfseEventId({ rule, key }: Pick<NfseEvent, 'rule' | 'key'>): string {
  return `PRE${key}${rule.type}`;
}

/**
 * A request, signed, as a document that stands alone. RSA-SHA1 and inclusive C14N, as with NF-e: the schema prescribes nothing, and this is
 * what the senders use whose statements are known to have been taken (contract sections 2.5 and 2.6).
 *
 * @throws {Error} for input that would make an invalid request: a bug of the caller
 */
export function signedNfseEvent(event: NfseEvent, certificate: ClientCertificate): string {
  const id = nfseEventId(event);
  return signEnveloped(requestElement(id, event), id, certificate);
}

function requestElement(id: string, event: NfseEvent): string {
  const { rule, environment, author, key, occurredAt, application } = event;
  if (!/^PRE[0-9]{9}[0-9A-Z]{14}[0-9]{33}$/.test(id)) throw new Error('key and type make no valid Id of a request');
  if (!/^[!-ÿ]([ -ÿ]{0,18}[!-ÿ])?$/.test(application)) throw new Error('verAplic is not of its form');
  return (
    `<pedRegEvento xmlns="${NAMESPACE}" versao="1.01"><infPedReg Id="${id}"><tpAmb>${environmentCode(environment)}</tpAmb>` +
    `<verAplic>${escaped(application)}</verAplic><dhEvento>${brasiliaTime(occurredAt)}</dhEvento>${authorElement(author).replaceAll(/(CNPJ|CPF)>/g, '$1Autor>')}` +
    `<chNFSe>${key}</chNFSe><e${rule.type}><xDesc>${rule.description}</xDesc>${reasonOf(event)}</e${rule.type}>` +
    '</infPedReg></pedRegEvento>'
  );
}

function reasonOf({ rule, reasonCode, reason }: NfseEvent): string {
  const { reasons } = rule;
  if (!reasons) {
    if (reasonCode || reason) throw new Error('only a rejection has a reason');
    return '';
  }
  if (!reasonCode || !reasons.codes.includes(reasonCode)) throw new Error('cMotivo is not of its form');
  if (!reason && reasonCode === reasons.explained) throw new Error('xMotivo is missing');
  if (reason && justificationFault(reason) !== null) throw new Error('xMotivo is not of its form');
  return `<cMotivo>${reasonCode}</cMotivo>${reason ? `<xMotivo>${escaped(reason)}</xMotivo>` : ''}`;
}
