import type {
  Direction,
  DocumentKind,
  DocumentMetadata,
  DocumentState,
  EventInfo,
  FullXml,
  Origin,
} from '../model/document.js';
import { answerDeadlines } from '../model/manifestation.js';
import type { Nsu } from '../model/nsu.js';
import { hasPrintedForm } from '../model/printed-form.js';
import type { DocumentType, Environment } from '../model/words.js';

/** The part of a stored document that customers see. */
export interface StoredDocument {
  readonly id: string;
  readonly companyId: string;
  readonly documentType: DocumentType;
  readonly environment: Environment;
  readonly kind: DocumentKind;
  readonly root: string;
  readonly schema: string | null;
  readonly nsu: Nsu | null;
  readonly key: string | null;
  readonly direction: Direction;
  readonly state: DocumentState;
  readonly fullXml: FullXml;
  /** Milliseconds. */
  readonly capturedAt: number;
  readonly origin: Origin;
  /** Milliseconds. */
  readonly authorizedAt?: number | null;
  readonly metadata: DocumentMetadata;
  readonly event: EventInfo | null;
  readonly warnings: readonly string[];
  readonly xmlSha256: string;
  readonly suppressed: string | null;
  readonly awarenessSkipped?: string | null;
}

/** A document as JSON (api.md section 4), the same in the API and in webhooks. */
export interface DocumentView {
  readonly id: string;
  readonly companyId: string;
  readonly documentType: DocumentType;
  readonly kind: DocumentKind;
  /** Local name of the root element; only where the kind is `unknown`. */
  readonly root?: string;
  readonly schema?: string;
  /** 15 digits; absent when the document came without one. */
  readonly nsu?: string;
  readonly environment: Environment;
  /** Access key; for an event, of the document that it speaks of. */
  readonly key?: string;
  readonly direction: Direction;
  readonly state: DocumentState;
  readonly fullXml: FullXml;
  /** RFC 3339, UTC. */
  readonly capturedAt: string;
  readonly origin: Origin;
  readonly metadata: DocumentMetadata;
  readonly event: EventInfo | null;
  /** Oddities found when decoding; absent when there were none. */
  readonly warnings?: readonly string[];
  /** Lower-case hex, of the XML as `links.xml` gives it. */
  readonly xmlSha256: string;
  /** Why no webhook was sent; null when one was or will be. */
  readonly suppressed: string | null;
  /** Of a summary: why no automatic Awareness is sent for it; absent when one is, or when nobody asked for it. */
  readonly awarenessSkipped?: string;
  /** Of a received NF-e: until when its recipient's statements count as made in time. RFC 3339, UTC; absent where its authorization is not known. */
  readonly manifestationDeadlines?: { readonly awareness: string; readonly conclusive: string };
  /** Paths of this API; `pdf` only where there is a printed form. */
  readonly links: { readonly self: string; readonly xml: string; readonly pdf?: string; readonly events: string };
}

/** Fields that a document does not have are left out; `event` and `suppressed` are null instead, as the contract shows them. */
export function documentView(document: StoredDocument): DocumentView {
  const self = `/v1/documents/${document.id}`;
  return {
    id: document.id,
    companyId: document.companyId,
    documentType: document.documentType,
    kind: document.kind,
    ...(document.kind === 'unknown' && { root: document.root }),
    ...(document.schema !== null && { schema: document.schema }),
    ...(document.nsu !== null && { nsu: document.nsu }),
    environment: document.environment,
    ...(document.key !== null && { key: document.key }),
    direction: document.direction,
    state: document.state,
    fullXml: document.fullXml,
    capturedAt: new Date(document.capturedAt).toISOString(),
    origin: document.origin,
    metadata: document.metadata,
    event: document.event,
    ...(document.warnings.length > 0 && { warnings: document.warnings }),
    xmlSha256: document.xmlSha256,
    suppressed: document.suppressed,
    ...(document.awarenessSkipped && { awarenessSkipped: document.awarenessSkipped }),
    ...deadlines(document),
    links: {
      self,
      xml: `${self}/xml`,
      ...(hasPrintedForm(document.kind, document.event?.type ?? null) && { pdf: `${self}/pdf` }),
      events: `${self}/events`,
    },
  };
}

function deadlines({ kind, direction, authorizedAt }: StoredDocument): Pick<DocumentView, 'manifestationDeadlines'> {
  if (direction !== 'received' || (kind !== 'procNFe' && kind !== 'resNFe') || authorizedAt == null) return {};
  const { awareness, conclusive } = answerDeadlines(authorizedAt);
  return {
    manifestationDeadlines: {
      awareness: new Date(awareness).toISOString(),
      conclusive: new Date(conclusive).toISOString(),
    },
  };
}
