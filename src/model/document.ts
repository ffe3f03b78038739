import type { DocumentType } from './words.js';

/** What a document is, decided by its root element (api.md section 4). */
export const DOCUMENT_KINDS = [
  'procNFe',
  'resNFe',
  'procEventoNFe',
  'resEvento',
  'procCTe',
  'procCTeOS',
  'procCTeSimp',
  'procGTVe',
  'procEventoCTe',
  'NFSe',
  'DPS',
  'evento',
  'pedRegEvento',
  'CNC',
  'unknown',
] as const;
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

/** Towards the company, or from it. */
export type Direction = 'received' | 'issued';
/** What a document is worth now, as its events say. */
export const DOCUMENT_STATES = ['authorized', 'denied', 'cancelled', 'replaced', 'blocked', 'unknown'] as const;
export type DocumentState = (typeof DOCUMENT_STATES)[number];
/** Whether the whole document is here, or only its summary. */
export const FULL_XML = ['present', 'awaited', 'overdue', 'not_applicable'] as const;
export type FullXml = (typeof FULL_XML)[number];
/** By which way a document came. */
export type Origin = 'distribution' | 'recovery' | 'reprocess' | 'on_demand' | 'manifestation' | 'import';

/** Somebody named in a document. A foreign party has neither CNPJ nor CPF: then `taxId` is absent and `foreign` is true. */
export interface Party {
  readonly taxId?: string;
  readonly name?: string;
  readonly uf?: string;
  /** State registration (IE), as written, "ISENTO" included. */
  readonly stateRegistration?: string;
  /** Municipal registration (IM), as written. */
  readonly municipalRegistration?: string;
  /** NIF: what a foreign tax authority calls it. */
  readonly foreignTaxId?: string;
  readonly foreign?: boolean;
}

/**
 * Metadata as the API shows it. Every field that the XML does not have is absent. Amounts are decimal strings as written,
 * times RFC 3339 as written (or a calendar date where the layout had no time).
 */
export interface DocumentMetadata {
  readonly uf?: string;
  readonly model?: string;
  readonly number?: string;
  readonly series?: string;
  readonly layout?: string;
  readonly issuedAt?: string;
  readonly total?: string;
  /** NF-e tpNF: `inbound` (0) or `outbound` (1), from the issuer's point of view. */
  readonly operationType?: string;
  /** tpAmb of the document itself. */
  readonly environment?: string;
  /** cStat of the protocol, or cSitNFe of a summary, as written. */
  readonly statusCode?: string;
  readonly protocol?: string;
  readonly authorizedAt?: string;
  readonly digestValue?: string;
  readonly issuer?: Party;
  readonly recipient?: Party;
  readonly carrier?: Party;
  /** autXML: tax IDs allowed to download the document. */
  readonly authorizedThirdParties?: readonly string[];
  /** Fields of further document types (CT-e roles, NFS-e services) go here under their own names. */
  readonly [further: string]: unknown;
}

/** What an event says about a document (`event` of api.md section 4). */
export interface EventInfo {
  /** tpEvento, six digits. */
  readonly type: string;
  readonly description?: string;
  /** nSeqEvento as a number. */
  readonly sequence?: number;
  /** dhEvento as written. */
  readonly occurredAt?: string;
  /** dhRegEvento (dhRecbto in a summary) as written. */
  readonly registeredAt?: string;
  /** Tax ID of the event's author. */
  readonly author?: string;
  readonly protocol?: string;
  /** cStat of the registration (135, 136, 155 mean registered); absent in a summary, which is registered by definition. */
  readonly statusCode?: string;
}

/** A document as decoded: what the XML says, before anything of ours is added. */
export interface DecodedDocument {
  readonly kind: DocumentKind;
  /** Local name of the root element, also for unknown kinds. */
  readonly root: string;
  /** The document's own access key; for an event, the key of the document that it speaks of. Null when there is none. */
  readonly key: string | null;
  readonly metadata: DocumentMetadata;
  readonly event: EventInfo | null;
  /** The state that this document alone implies for its key: a procNFe 100 `authorized`, a registered cancellation `cancelled`; null: says nothing. */
  readonly implies: DocumentState | null;
  /** Oddities worth showing: schema attribute disagrees, check digit wrong, digest differs … Codes with a colon and detail. */
  readonly warnings: readonly string[];
}

/** Why an item could not be decoded. Its bytes stay in the archive. */
export type ItemFailure =
  | 'base64'
  | 'gzip'
  | 'too_large'
  | 'encoding'
  | 'doctype'
  | 'not_well_formed'
  | 'too_deep'
  | 'too_slow'
  | 'empty'
  | 'internal';

/** How the bytes in the archive become the XML. */
export type ItemEncoding = 'base64+gzip' | 'base64' | 'identity';

/** One item of a page: where its bytes stand in the answer, and what they are. Offsets are bytes from the start of the answer. */
export interface PageItem {
  /** Null when the answer gave none or zero (point queries by key). */
  readonly nsu: string | null;
  /** The `schema` attribute as given; a hint only. */
  readonly schema: string | null;
  readonly offset: number;
  readonly length: number;
  readonly encoding: ItemEncoding;
  /** The item's encoded text, exactly `length` bytes of the answer at `offset`. */
  readonly content: Uint8Array;
}

/** An item as it was understood, or why it was not. */
export type DecodedItem =
  | { readonly ok: true; readonly document: DecodedDocument; readonly xmlSha256: string; readonly xmlLength: number }
  | { readonly ok: false; readonly failure: ItemFailure; readonly detail: string };

/** Decodes one item: encoded bytes → XML → metadata. Never throws. */
export type DecodeItem = (
  item: Pick<PageItem, 'content' | 'encoding' | 'schema'>,
  documentType: DocumentType,
) => DecodedItem;
