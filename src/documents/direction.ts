import type { Direction, DocumentMetadata } from '../model/document.js';
import type { DocumentType } from '../model/words.js';
import { readerOf } from './registry.js';

/**
 * The metadata fields in which the company stands: `issuer`, `recipient`, `carrier`, `authorizedThirdParties` … Whole tax IDs are
 * compared: a branch is another party than its head office.
 */
export function rolesOf(documentType: DocumentType, metadata: DocumentMetadata, taxId: string): string[] {
  const reader = readerOf(documentType);
  const fields = [...partyFields(documentType), ...(reader?.mentionedFields ?? []), 'authorizedThirdParties'];
  return fields.filter((field) => names(metadata[field], taxId));
}

/**
 * Design section 7: `issued` means that the company issued it and stands in it as nothing else; a note to oneself is a purchase too. Being
 * allowed to download (autXML) is no role. Events and documents of unknown kinds name no issuer: `received`.
 */
export function directionOf(documentType: DocumentType, metadata: DocumentMetadata, taxId: string): Direction {
  const roles = partyFields(documentType).filter((field) => names(metadata[field], taxId));
  return roles.length === 1 && roles[0] === 'issuer' ? 'issued' : 'received';
}

function partyFields(documentType: DocumentType): string[] {
  return ['issuer', ...(readerOf(documentType)?.otherPartyFields ?? [])];
}

/** A party, or a list of tax IDs. */
function names(field: unknown, taxId: string): boolean {
  if (Array.isArray(field)) {
    return field.includes(taxId);
  }
  return typeof field === 'object' && field !== null && 'taxId' in field && field.taxId === taxId;
}
