import { v7 as uuidv7 } from 'uuid';
import type { AlertCode, AlertSeverity, DocumentType, Environment } from '../model/words.js';
import { documentView, type StoredDocument } from './document-view.js';
import { alertEventName, documentEventName, type EventName } from './events.js';

/** The company as event bodies show it. */
export interface EventCompany {
  readonly id: string;
  readonly taxId: string;
  readonly externalId: string | null;
}

/** An event about to be stored. Its body is made once, when its sequence is known; those are the bytes that every attempt sends. */
export interface PreparedEvent {
  /** The `webhook-id`. */
  readonly id: string;
  readonly type: string;
  readonly action: string;
  readonly documentType: DocumentType | null;
  readonly documentId: string | null;
  readonly body: (sequence: number) => string;
}

/** What an alert tells the customer's system. */
export interface AlertView {
  readonly code: AlertCode;
  /** One English sentence. Nothing secret. */
  readonly detail: string;
  /** Default: `warning`. */
  readonly severity?: AlertSeverity;
  readonly documentType?: DocumentType;
  readonly environment?: Environment;
  /** What else it is about: an endpoint's id, a service, an NSU. */
  readonly subject?: string;
}

/**
 * `evt_` and 32 hexadecimal digits that grow with time. No dot: signatures join id, time and body with dots. The storage reads the
 * digits back as a UUID, so that deliveries sort like their events.
 */
export function newEventId(): string {
  return `evt_${uuidv7().replaceAll('-', '')}`;
}

/** The event that tells of a stored document. `at`: milliseconds, when the page was captured. */
export function documentEvent(document: StoredDocument, company: EventCompany, at: number): PreparedEvent {
  const name = documentEventName({ ...document, eventType: document.event?.type ?? null });
  return prepare(name, company, at, documentView(document), document.documentType, document.id);
}

/** The event that tells of an opened alert. */
export function alertEvent(alert: AlertView, company: EventCompany, at: number): PreparedEvent {
  const { code, severity = 'warning', ...about } = alert;
  return prepare(alertEventName(code), company, at, { code, severity, ...about }, alert.documentType ?? null, null);
}

/** What `POST /v1/webhook-endpoints/{id}/test` sends: signed like any event, stored nowhere. */
export function testBody(id: string, endpointId: string, at: number): string {
  return JSON.stringify({
    id,
    type: 'test',
    action: 'requested',
    createdAt: new Date(at).toISOString(),
    sequence: 0,
    company: null,
    data: { endpointId },
  });
}

function prepare(
  name: EventName,
  company: EventCompany,
  at: number,
  data: object,
  documentType: DocumentType | null,
  documentId: string | null,
): PreparedEvent {
  const id = newEventId();
  const { type, action, ...eventName } = name;
  const createdAt = new Date(at).toISOString();
  const { id: companyId, taxId, externalId } = company;
  return {
    id,
    type,
    action,
    documentType,
    documentId,
    body: (sequence) =>
      JSON.stringify({
        id,
        type,
        action,
        ...eventName,
        createdAt,
        sequence,
        company: { id: companyId, taxId, externalId },
        data,
      }),
  };
}
