/**
 * The words of Malote as types. Nothing here does anything; every other folder speaks in these terms.
 * The glossary in docs/glossary.md explains each one.
 */

/** The three document types, in the order of the product's history. */
export const DOCUMENT_TYPES = ['nfe', 'cte', 'nfse'] as const;
export type DocumentType = (typeof DOCUMENT_TYPES)[number];

/** `homologation` is the government's test environment (for NFS-e: restricted production). */
export const ENVIRONMENTS = ['production', 'homologation'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** Names one capture: what fetches one document type of one company in one environment. */
export interface CaptureKey {
  readonly companyId: string;
  readonly documentType: DocumentType;
  readonly environment: Environment;
}

/** Where a capture stands, as operators see it (search attribute `CaptureState`, API field `phase`). */
export const PHASES = [
  'querying', // a call is in hand, or the next one follows at once
  'waiting', // the queue is empty
  'blocked', // the government rejected: nothing may be asked before a time
  'paused', // the service is shut down for all, or a person holds this capture
  'backing-off', // communication fails
  'certificate', // no usable certificate, until one is stored
  'handing-over', // a page waits for its host for longer than 15 minutes
  'attention', // stopped until an operator resumes it (one try every 6 hours)
  'disabled', // certificate refused 10 times in a row (NFS-e)
  'stopped', // a person stopped it
] as const;
export type Phase = (typeof PHASES)[number];

/** A host's own activity that pages are handed to, in NSU order, before any further query. */
export interface HostHandler {
  readonly taskQueue: string;
  readonly activity: string;
}

/** Options of a capture (api.md section 2). Every field may be absent: then the default of the rule applies. */
export interface CaptureOptions {
  /** The first page asks for what comes after this NSU. Default 0: whatever the government still has (its last 3 months). */
  readonly startNsu?: string;
  /** RFC 3339 instant before which nothing is asked (when moving from other software). */
  readonly notBefore?: string;
  /** Lengthens the wait after an empty queue; never shortens it. Minutes. */
  readonly minIntervalMinutes?: number;
  readonly handler?: HostHandler | null;
  readonly webhookUrl?: string;
  readonly autoAwareness?: { readonly enabled: boolean; readonly minutesToWait: number };
  readonly eventTypes?: readonly string[] | null;
  readonly interestedParties?: readonly string[] | null;
  readonly captureIssued?: boolean;
  readonly cutoffDate?: string | null;
}

/** Alerts that operations and the customer's system are told about (webhook `capture_alert`). */
export const ALERT_CODES = [
  'certificate_expiring',
  'certificate_expired',
  'capture_attention',
  'capture_disabled',
  'capture_stalled',
  'cursor_ahead',
  'other_consumer',
  'numbering_at_risk',
  'full_xml_overdue',
  'manifestation_deadline',
  'item_failed',
  'gap_too_large',
  'handler_unavailable',
  'endpoint_failing',
  'endpoint_disabled',
  'service_outage',
  'clock_skew',
  'database_behind',
  'same_nsu_other_bytes',
  'page_without_progress',
] as const;
export type AlertCode = (typeof ALERT_CODES)[number];

/** `critical`: documents may be missed until somebody acts. */
export const ALERT_SEVERITIES = ['warning', 'critical'] as const;
export type AlertSeverity = (typeof ALERT_SEVERITIES)[number];

/** Where the delivery of an event to a webhook endpoint stands. `held`: pending at a disabled endpoint. */
export const DELIVERY_STATUSES = ['pending', 'held', 'delivered', 'exhausted', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Where an export stands. */
export const EXPORT_STATUSES = ['pending', 'running', 'done', 'failed', 'cancelled', 'expired'] as const;
export type ExportStatus = (typeof EXPORT_STATUSES)[number];
