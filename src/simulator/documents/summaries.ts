import type { EventFacts } from './event.js';
import type { Note } from './note.js';
import { escaped, localTime, money, taxIdElement } from './text.js';

// Real summaries declare the two unused prefixes before the default namespace.
const NAMESPACES =
  'xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns="http://www.portalfiscal.inf.br/nfe"';

/** resNFe 1.01: what a recipient gets of a note before saying that it knows of it. */
export function resNfe(note: Note): string {
  const { issuer } = note;
  return (
    `<resNFe ${NAMESPACES} versao="1.01"><chNFe>${note.key}</chNFe>${taxIdElement(issuer.taxId)}` +
    `<xNome>${escaped(issuer.name)}</xNome><IE>${issuer.stateRegistration ?? 'ISENTO'}</IE>` +
    `<dhEmi>${localTime(note.issuedAt, note.utcOffset)}</dhEmi><tpNF>${note.operation}</tpNF>` +
    `<vNF>${money(note.totalCents)}</vNF>${note.situation === '2' ? '' : `<digVal>${note.digest}</digVal>`}` +
    `<dhRecbto>${localTime(note.authorizedAt, note.utcOffset)}</dhRecbto><nProt>${note.protocol}</nProt>` +
    `<cSitNFe>${note.situation}</cSitNFe></resNFe>`
  );
}

/** resEvento 1.01. */
export function resEvento(event: EventFacts): string {
  return (
    `<resEvento ${NAMESPACES} versao="1.01"><cOrgao>${event.organ}</cOrgao>${taxIdElement(event.author)}` +
    `<chNFe>${event.key}</chNFe><dhEvento>${localTime(event.at, event.utcOffset)}</dhEvento>` +
    `<tpEvento>${event.type}</tpEvento><nSeqEvento>${event.sequence}</nSeqEvento>` +
    `<xEvento>${escaped(event.description)}</xEvento>` +
    `<dhRecbto>${localTime(event.registeredAt, event.utcOffset)}</dhRecbto><nProt>${event.protocol}</nProt></resEvento>`
  );
}
