import type { CaptureSnapshot } from '../model/capture-state.js';
import type { NightlyTotals } from '../model/nightly-contract.js';
import type { CaptureKey, HostHandler, Phase } from '../model/words.js';

/**
 * Names and types of everything that can be said to a workflow. No workflow code: the client SDK and the API import this too.
 */

export const WORKFLOW_TYPES = {
  capture: 'capture',
  delivery: 'delivery',
  erasure: 'erasure',
  exportDocuments: 'exportDocuments',
  housekeeping: 'housekeeping',
  importDocuments: 'importDocuments',
  manifestation: 'manifestation',
  nightlyGaps: 'nightlyGaps',
  reprocessArchive: 'reprocessArchive',
} as const;

/** Temporal's id uniqueness is the lock: one open run per id. */
export const captureWorkflowId = (capture: CaptureKey): string =>
  `capture/${capture.documentType}/${capture.environment}/${capture.companyId}`;
export const manifestationWorkflowId = ({ companyId, documentType, environment }: CaptureKey): string =>
  `manifestation/${documentType}/${environment}/${companyId}`;
/** Of the Schedule as well. */
export const NIGHTLY_GAPS_ID = 'nightly-gaps';
export const reprocessWorkflowId = (requestId: string): string => `reprocess/${requestId}`;
export const erasureWorkflowId = (companyId: string): string => `erase/${companyId}`;
export const exportWorkflowId = (exportId: string): string => `export/${exportId}`;
export const importWorkflowId = (importId: string): string => `import/${importId}`;
export const deliveryWorkflowId = (endpointId: string): string => `delivery/${endpointId}`;

/** Names of the signals; `request` is the manifestation workflow's, the others the capture's. */
export const SIGNALS = {
  start: 'start',
  stop: 'stop',
  resume: 'resume',
  pause: 'pause',
  configure: 'configure',
  wake: 'wake',
  request: 'request',
} as const;
/** `progress` is that of exports and imports. */
export const QUERIES = { state: 'state', progress: 'progress' } as const;
/** Of the capture workflow; types in model/point-query.ts. */
export const UPDATES = { queryByNsu: 'queryByNsu', queryByKey: 'queryByKey' } as const;

/** Argument of the capture workflow. `carried` is what continue-as-new passes on. */
export interface CaptureInput {
  readonly capture: CaptureKey;
  readonly carried?: CarriedCapture;
  /** Continue as new at this many events (default 300); tests lower it. */
  readonly historyLimit?: number;
  /** A worker that was silent for so long is dead (default 20 s); tests lower it. Milliseconds. */
  readonly heartbeatTimeout?: number;
}
/** What a capture passes on to its next run. */
export interface CarriedCapture {
  readonly snapshot: CaptureSnapshot;
  readonly handover: {
    readonly failures: number;
    readonly notBefore: number;
    readonly shown: { readonly phase: Phase; readonly reason: string };
  };
  readonly publishedPhase: Phase | null;
  /** No call of recovery before this, in milliseconds. */
  readonly recoveryNotBefore?: number;
}

/** Argument of signal `start`: from the API nothing (the row is written already), from the SDK the options to write. */
export interface StartSignal {
  readonly enable?: { readonly handler?: HostHandler | null };
}
/** Argument of signal `pause`: RFC 3339 instant, or none for an open end. */
export interface PauseSignal {
  readonly until?: string;
}

/** Argument of the delivery workflow. */
export interface DeliveryInput {
  readonly endpointId: string;
  readonly historyLimit?: number;
  /** Looks in vain so far; continue-as-new passes them on. */
  readonly idleLooks?: number;
}
/** Argument of the manifestation workflow. What is to be said stands in the database; this only sends it. */
export interface ManifestationInput {
  readonly capture: CaptureKey;
  readonly historyLimit?: number;
}

/** Argument of the nightly look for missing numbers; nothing to begin with, the rest is what continue-as-new passes on. */
export interface NightlyGapsInput {
  readonly after?: CaptureKey | null;
  readonly totals?: NightlyTotals;
}
/** Argument of the workflow that decodes one archive again. */
export interface ReprocessArchiveInput {
  readonly capture: CaptureKey;
  readonly archiveId: string;
  readonly requestId: string;
}

/** Argument of the workflow that deletes a company. */
export interface ErasureInput {
  readonly companyId: string;
}

/** Argument of the housekeeping workflow: which of its Schedules started it. */
export interface HousekeepingInput {
  readonly every: 'minute' | 'hour' | 'day';
}

/** Answer of query `state`. */
export interface CaptureStateAnswer {
  readonly capture: CaptureKey;
  readonly snapshot: CaptureSnapshot | null;
  /** When the next query really comes, jitter included. Milliseconds, null while none is planned. */
  readonly wakesAt: number | null;
}
