import type { CaptureSnapshot } from './capture-state.js';
import type { Nsu } from './nsu.js';
import type { OutcomeKind } from './outcome.js';
import type { PointAsk, PointResult, RecoveryResult } from './point-query.js';
import type { CaptureKey, HostHandler } from './words.js';

/**
 * What workflows and activities say to each other. Ids, instants (milliseconds), NSUs, codes and counts only: everything
 * here can be read in the Temporal UI.
 */

/** Task queues, by the resource that they spend. */
export const TASK_QUEUES = {
  workflows: 'capture',
  nfe: 'nfe',
  cte: 'cte',
  nfse: 'nfse',
  webhooks: 'webhooks',
  background: 'background',
  /** Exports and imports: long steps that take memory and processor, few at a time. */
  bulk: 'bulk',
} as const;

/** Why the guard let no call through. Nothing was asked, nothing counts. */
export type Refusal =
  /** Before the committed `not_before`. */
  | { readonly reason: 'too_early'; readonly until: number }
  /** The service is shut down, or its probe is in the air: wait until then plus a uniform part of the spread (milliseconds). */
  | { readonly reason: 'paused'; readonly until: number; readonly spread: number }
  /** A person holds this capture. */
  | { readonly reason: 'held'; readonly until: number | null }
  /** The revision (or cursor) asked from is behind the committed one: adopt the snapshot. */
  | { readonly reason: 'stale' }
  /** The revision asked from is ahead of the database's: it was restored from the past. Nobody calls until it is repaired. */
  | { readonly reason: 'database_behind' }
  /** No usable certificate. `until`: when the stored one becomes valid. */
  | {
      readonly reason: 'certificate';
      readonly problem: 'missing' | 'expired' | 'not_yet_valid';
      readonly until: number | null;
    }
  /** The row says stopped. */
  | { readonly reason: 'disabled' };

/** What came of a distribution call, or why none was made. */
export type QueryResult =
  | {
      readonly kind: 'committed';
      readonly outcome: OutcomeKind;
      readonly statusCode: string | null;
      readonly documents: number;
      readonly snapshot: CaptureSnapshot;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly snapshot: CaptureSnapshot };

/** Which capture, and whether it is to be enabled. */
export interface OpenCaptureInput {
  readonly capture: CaptureKey;
  /** Given by a start that came through the SDK: enables the row (making it if need be) with these options. Absent: only read. */
  readonly start?: { readonly handler?: HostHandler | null; readonly timeScale?: number };
}

/** Types of the non-retryable failures that a workflow tells apart. */
export const FAILURES = {
  companyUnknown: 'company_unknown',
  environmentInUse: 'environment_in_use',
  leaseTaken: 'lease_taken',
} as const;

/** Short activities on the capture's row. Queue `background`. */
export interface CaptureRowActivities {
  /** @throws ApplicationFailure `company_unknown`, `environment_in_use` (non-retryable) */
  openCapture(input: OpenCaptureInput): Promise<CaptureSnapshot>;
  /** Writes `enabled = false`, phase `stopped`, if `generation` is still the row's. */
  closeCapture(input: {
    capture: CaptureKey;
    generation: number;
  }): Promise<{ closed: boolean; snapshot: CaptureSnapshot }>;
  /** A person's hold or its end (`until: null`). */
  holdCapture(input: { capture: CaptureKey; until: number | 'indefinitely' | null }): Promise<CaptureSnapshot>;
  /** Leaves `attention` or `disabled`: counters to zero, `not_before` kept. */
  resumeCapture(input: { capture: CaptureKey }): Promise<CaptureSnapshot>;
  /** Writes the phase that the workflow found itself in (`handing-over`, `attention` for a host, `database_behind`) and opens or closes the alert. */
  markCapture(input: {
    capture: CaptureKey;
    phase: 'handing-over' | 'attention' | 'waiting';
    reason: string;
    alert?: { code: 'handler_unavailable' | 'database_behind'; open: boolean };
  }): Promise<CaptureSnapshot>;
  /** Up to 50 documents in NSU order: late ones if there are any, else those after `handed_nsu` and up to the cursor. */
  nextHandover(input: { capture: CaptureKey }): Promise<HandoverPage | null>;
  /**
   * Moves `handed_nsu` as the host answered; clamps what is above maxNsu, with an alert. `documents`: the ids that were handed, so that
   * one which came into the page's range meanwhile is handed as late.
   */
  recordHandover(input: {
    capture: CaptureKey;
    page: { ultNsu: Nsu; late?: boolean; documents?: readonly string[] };
    answer: HostAnswer | null;
  }): Promise<CaptureSnapshot>;
}

/** One page as a host sees it: it reads metadata and XML through the API. */
export interface HandoverPage {
  readonly capture: CaptureKey;
  /** Where the host is after this page. */
  readonly ultNsu: Nsu;
  readonly maxNsu: Nsu;
  /** These came later than their neighbours (recovered, decoded again): `ultNsu` is where the host is already. */
  readonly late?: boolean;
  readonly documents: readonly { readonly id: string; readonly nsu: Nsu; readonly kind: string }[];
}

/** What a host's activity may answer: nothing (go on), its own cursor, or stop. */
export type HostAnswer = { readonly ultNsu?: string; readonly stop?: boolean };

/** Government calls. Queue of the document type; the only activities that cost the company anything. */
export interface GovernmentActivities {
  /** One distribution call from `ultNsu`, guarded, archived, decoded and committed. `revision`: the one that the caller's state came with. */
  queryDistribution(input: { capture: CaptureKey; ultNsu: Nsu; revision: number }): Promise<QueryResult>;
  /** One document that somebody asked for: from here if it is here, else by a point query. `requestId`: the row that the answer is written to. */
  queryPoint(input: { capture: CaptureKey; ask: PointAsk; revision: number; requestId?: string }): Promise<PointResult>;
  /** One point query for the recovery item that is due, if one is and a slot is free. */
  recoverNext(input: { capture: CaptureKey; revision: number }): Promise<RecoveryResult>;
}

/** Queue `webhooks`. */
export interface DeliveryActivities {
  /**
   * Sends what is due for one endpoint, for at most about a minute, and says when the next is due.
   * `nextDueAt` null: nothing pending. `gone`: endpoint deleted or disabled, complete.
   */
  deliverDue(input: { endpointId: string }): Promise<{ attempts: number; nextDueAt: number | null; gone: boolean }>;
}

/** Queue `background`; started by the Schedules `housekeeping-minute`, `-hour` and `-day`. */
export interface HousekeepingActivities {
  /**
   * Signal-with-start (signal `wake`, never `start`: a stop must not be undone) for every enabled capture more than 15 minutes
   * overdue, for endpoints with rows due for 30 s, for manifestations due for 2 minutes, and for deletions of companies due for 5. Exports
   * and imports that nothing was heard of for 15 minutes are started again.
   */
  startOverdue(): Promise<{
    captures: number;
    endpoints: number;
    manifestations: number;
    erasures: number;
    exports: number;
    imports: number;
  }>;
  /** Marks summaries whose whole document has not come two days after it was asked for; alerts, and closes alerts that are over. */
  watchAwaitedXml(): Promise<{ overdue: number }>;
  /** Decodes due failed items again, from their archives. */
  decodeFailedItems(): Promise<{ resolved: number; stillFailing: number }>;
  /** Sends webhooks that waited long enough for another document of their key. */
  releaseHeld(): Promise<{ released: number }>;
  /**
   * Opens and closes the alerts that are a matter of time, and closes those whose reason is gone. Every minute: captures that stand
   * still. Every hour: numbering at risk, certificates, deadlines.
   */
  watchAlerts(input: { every: 'minute' | 'hour' }): Promise<{ opened: number }>;
  /** Tells operators by mail, at most one mail. A mail server that fails is no failure of the activity. */
  mailAlerts(): Promise<{ mails: number }>;
  /** Makes the PDFs that are due, for about half a minute: the next run goes on. */
  makePdfs(): Promise<{ made: number; failed: number }>;
  /** Retention: old call log partitions, attempts, outbox bodies; partitions made ahead. */
  sweep(): Promise<{ removed: number }>;
}
