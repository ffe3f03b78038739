import type { Direction, DocumentKind } from '../model/document.js';
import type { AlertCode, DocumentType } from '../model/words.js';

/** The types of events, in the order of docs/webhooks.md. Customers filter endpoints by them. */
export const EVENT_TYPES = [
  'product_invoice_inbound',
  'product_invoice_inbound_summary',
  'transportation_invoice_inbound',
  'service_invoice_inbound',
  'capture_alert',
] as const;
type EventType = (typeof EVENT_TYPES)[number];

/** How an event is named to customers. */
export interface EventName {
  readonly type: EventType;
  readonly action: string;
  /** Second name that NFS-e events carry besides type and action. */
  readonly eventName?: string;
}

/** What naming an event needs to know of a document. */
export interface NamedDocument {
  readonly documentType: DocumentType;
  readonly kind: DocumentKind;
  readonly direction: Direction;
  /** tpEvento; null for what is no event. */
  readonly eventType: string | null;
}

/** The statements that a recipient makes about an NF-e: confirmation, awareness, ignorance, operation not carried out. */
const RECIPIENT_STATEMENTS: ReadonlySet<string> = new Set(['210200', '210210', '210220', '210240']);

const TYPE_OF: Readonly<Record<DocumentType, EventType>> = {
  nfe: 'product_invoice_inbound',
  cte: 'transportation_invoice_inbound',
  nfse: 'service_invoice_inbound',
};

/**
 * The name of the event that tells of a stored document (design.md section 8). The kind decides; what is of no known kind goes out
 * under its document type with an action of its own, so that nobody takes it for an invoice (case C30).
 */
export function documentEventName(document: NamedDocument): EventName {
  switch (document.kind) {
    case 'procNFe':
      return { type: 'product_invoice_inbound', action: issuedAction(document.direction) };
    case 'procEventoNFe':
      return {
        type: 'product_invoice_inbound',
        action: RECIPIENT_STATEMENTS.has(document.eventType ?? '')
          ? 'input_event_raised_successfully'
          : 'event_raised_successfully',
      };
    case 'resNFe':
      return { type: 'product_invoice_inbound_summary', action: 'issued_successfully' };
    case 'resEvento':
      return { type: 'product_invoice_inbound_summary', action: 'event_raised_successfully' };
    case 'procCTe':
    case 'procCTeOS':
    case 'procCTeSimp':
    case 'procGTVe':
      return { type: 'transportation_invoice_inbound', action: issuedAction(document.direction) };
    case 'procEventoCTe':
      return { type: 'transportation_invoice_inbound', action: 'event_raised_successfully' };
    case 'NFSe':
      return {
        type: 'service_invoice_inbound',
        action: issuedAction(document.direction),
        eventName:
          document.direction === 'issued' ? 'inbound.serviceInvoice.issued' : 'inbound.serviceInvoice.received',
      };
    case 'evento':
    case 'pedRegEvento':
      return {
        type: 'service_invoice_inbound',
        action: 'event_raised_successfully',
        eventName: 'inbound.serviceInvoice.event.received',
      };
    case 'DPS':
    case 'CNC':
    case 'unknown':
      return { type: TYPE_OF[document.documentType], action: 'unknown_document_received' };
  }
}

/** The event that an alert raises. */
export function alertEventName(code: AlertCode): EventName {
  return { type: 'capture_alert', action: code };
}

function issuedAction(direction: Direction): string {
  return direction === 'issued' ? 'outbound_successfully' : 'issued_successfully';
}
