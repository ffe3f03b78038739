import type { AlertSeverity } from '../model/words.js';

/** Durations in milliseconds, before time scale and jitter. Each rule names its source; docs/rules.md lists them all. */
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

/** The numbers that tell one SOAP distribution service from another. */
export interface DistributionRules {
  /** Whole exchange, connection included. Maintainers of every library raise the usual 30 s (case C16). */
  readonly callLimit: number;
  /** After 137, or when ultNSU reached maxNSU. NT 2014.002 item 3.11.4: one hour. */
  readonly emptyQueue: number;
  /** After a 656, counted from its arrival: one hour, and a minute for the difference of clocks. */
  readonly throttleBlock: number;
  /** After any other rejection. */
  readonly rejectionBlock: number;
  /** 108: shut down for a moment. */
  readonly pause108: number;
  /** 109: shut down without a forecast. */
  readonly pause109: number;
  /** CT-e: a 137 may carry a further pointer. NF-e: a 137 never moves the cursor (case C01). */
  readonly noneMovesCursor: boolean;
  /** NF-e: a 656 on distribution also forbids point queries; CT-e counts them apart. */
  readonly throttleSuspendsPointQueries: boolean;
  /** NF-e: a 656 tells the pointer to go on from (NT 2014.002 v1.14), and with it whether another program asks for the tax ID. */
  readonly throttleTellsPointer: boolean;
  /** Of the alert after a 589: the cursor is above the highest NSU that exists. */
  readonly cursorAheadSeverity: AlertSeverity;
}

/** NF-e, NT 2014.002 v1.40. The hour of the norm and two minutes, since an early call costs another hour. */
export const NFE_RULES: DistributionRules = {
  callLimit: 5 * MINUTE,
  emptyQueue: 62 * MINUTE,
  throttleBlock: 61 * MINUTE,
  rejectionBlock: 60 * MINUTE,
  pause108: 5 * MINUTE,
  pause109: 20 * MINUTE,
  noneMovesCursor: false,
  throttleSuspendsPointQueries: true,
  throttleTellsPointer: true,
  cursorAheadSeverity: 'warning',
};

/**
 * CT-e, NT 2015.002 v1.05, which names no hour after an empty queue: NF-e's is kept, without its two minutes, since operators saw this
 * service forgive early calls (contract section 1b). Its NSUs, its blocks and its point queries are counted apart from NF-e's.
 */
export const CTE_RULES: DistributionRules = {
  callLimit: 5 * MINUTE,
  emptyQueue: 60 * MINUTE,
  throttleBlock: 61 * MINUTE,
  rejectionBlock: 60 * MINUTE,
  pause108: 5 * MINUTE,
  pause109: 20 * MINUTE,
  noneMovesCursor: true,
  throttleSuspendsPointQueries: false,
  throttleTellsPointer: false,
  cursorAheadSeverity: 'critical',
};

/** A communication failure waits 1, 2, 4, 8, 16, then 30 minutes. */
export const FAILURE_WAIT_FIRST = 1 * MINUTE;
export const FAILURE_WAIT_MAX = 30 * MINUTE;
/** The tenth failure in a row stops the capture for operators, but for one try every six hours. */
export const ATTENTION_AFTER = 10;
export const ATTENTION_RETRY = 6 * HOUR;
/** One quick try after a first unknown outcome, if more documents were pending. */
export const UNKNOWN_RETRY = 2 * MINUTE;
/** Pages in a row that leave the cursor where it was until an alert opens; each ends the chain. */
export const STANDSTILL_ALERT = 3;
/** Most documents in one answer (NT 2014.002: loteDistDFeInt holds 1 to 50). */
export const PAGE_SIZE = 50;
/** A lease outlives its call's limit by this much. */
export const LEASE_GRACE = 30 * SECOND;
/** An outage: this many captures of one service failed within the window, and none was answered. */
export const OUTAGE_CAPTURES = 5;
export const OUTAGE_WINDOW = 10 * MINUTE;
/** An outage pauses its service for so long; each probe in vain doubles it up to the most. */
export const OUTAGE_PAUSE_FIRST = 5 * MINUTE;
export const OUTAGE_PAUSE_MAX = 30 * MINUTE;
/** Random part added to every wait: up to a tenth, at most three minutes. */
const JITTER_SHARE = 0.1;
const JITTER_MAX = 3 * MINUTE;

/**
 * A wait on a time scale: divided and rounded up, so that scaling never makes a wait end early.
 *
 * @param scale ≥ 1; 60 turns an hour into a minute
 */
export function scaled(duration: number, scale: number): number {
  return Math.ceil(duration / scale);
}

/**
 * What is added to a wait so that captures spread out. Late, never early.
 *
 * @param random in [0, 1), from the workflow's own deterministic source
 */
export function jitter(wait: number, random: number): number {
  return Math.round(Math.min(Math.max(wait, 0) * JITTER_SHARE, JITTER_MAX) * random);
}
