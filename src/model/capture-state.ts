import type { Nsu } from './nsu.js';
import { maxNsu, nsuDistance, ZERO_NSU } from './nsu.js';
import type { HostHandler, Phase } from './words.js';

/**
 * Everything that decides a capture's next step. Kept in two places that must agree: `captures.state` (committed with every
 * answer) and the capture workflow (carried over by continue-as-new). Where they differ the committed one wins.
 * All instants are milliseconds since 1970 (UTC), all counters are "in a row".
 */
export interface CaptureState {
  /** Shape of this object; a reader that does not know it must refuse it. */
  readonly version: 1;
  /** Last NSU searched: the cursor. */
  readonly ultNsu: Nsu;
  /** Highest NSU known to exist; never below `ultNsu`. */
  readonly maxNsu: Nsu;
  /** False until the first page was committed: what lies before that page is no gap. */
  readonly hasPage: boolean;
  readonly phase: Phase;
  /** One short English clause that says why the phase is what it is ("queue empty"). Nothing personal. */
  readonly reason: string;
  /** Earliest instant of the next query, before jitter. Null: at once. */
  readonly nextQueryAt: number | null;
  /**
   * Earliest instant that the government's rules allow. `nextQueryAt` may be later (back-off, the customer's interval), never
   * earlier; a person who resumes a capture shortens a wait down to here. Null: nothing forbids a query.
   */
  readonly lawfulFrom: number | null;
  /** End of a rejection's block; only ever extended. */
  readonly blockedUntil: number | null;
  readonly quota: {
    /** Instants at which granted point queries were answered, within the sliding hour. */
    readonly grants: readonly number[];
    readonly suspendedUntil: number | null;
  };
  /** Communication failures: not sent, unreadable, unknown. */
  readonly failures: number;
  /** Unknown outcomes: the second one waits the full empty-queue time. */
  readonly unknowns: number;
  /** Pages that did not move the cursor. */
  readonly standstills: number;
  /** Refusals of the certificate by the service (NFS-e: the 10th disables). */
  readonly certificateRefusals: number;
  /** Last answer: code and instant. Its text stays in the database. */
  readonly lastAnswer: { readonly code: string; readonly at: number } | null;
  /** Pages and documents that came without a rest of at least 30 s between them. */
  readonly run: { readonly pages: number; readonly documents: number };
  /** Divides the cadence's waits; 1 in production. Fixed when the run starts. */
  readonly timeScale: number;
}

/** State of a capture that has never asked anything. */
export function initialState(startNsu: Nsu = ZERO_NSU, timeScale = 1): CaptureState {
  return {
    version: 1,
    ultNsu: startNsu,
    maxNsu: startNsu,
    hasPage: false,
    phase: 'querying',
    reason: 'about to ask for the first time',
    nextQueryAt: null,
    lawfulFrom: null,
    blockedUntil: null,
    quota: { grants: [], suspendedUntil: null },
    failures: 0,
    unknowns: 0,
    standstills: 0,
    certificateRefusals: 0,
    lastAnswer: null,
    run: { pages: 0, documents: 0 },
    timeScale,
  };
}

/** `maxNsu − ultNsu`, never negative. */
export function lag(state: Pick<CaptureState, 'ultNsu' | 'maxNsu'>): number {
  return Number(nsuDistance(state.ultNsu, maxNsu(state.ultNsu, state.maxNsu)));
}

/** The committed truth about a capture, as activities hand it to the workflow. Ids, instants and codes only. */
export interface CaptureSnapshot {
  readonly state: CaptureState;
  /** Counts the committed changes of the row. The guard tells "stale" and "database behind" by it, not by the cursor. */
  readonly revision: number;
  readonly enabled: boolean;
  /** Counts the starts and stops asked for by people; a workflow's own stop only counts for the generation it saw. */
  readonly generation: number;
  readonly handler: HostHandler | null;
  /** How far the host has taken documents; meaningless without a handler. */
  readonly handedNsu: Nsu;
  /** Documents at or below `handedNsu` came after the host had taken that; absent in states of older versions. */
  readonly late?: boolean;
  /** A person's hold: until an instant, or 'indefinitely'. */
  readonly heldUntil: number | 'indefinitely' | null;
  /** When the first pending recovery item is due, in milliseconds. Null: none is pending. */
  readonly recovery: { readonly nextAt: number } | null;
  /** For search attributes and the details line: last 4 characters of the tax ID, and the UF. */
  readonly taxIdEnding: string;
  readonly uf: string;
}
