import type { Nsu } from '../../model/nsu.js';

/** What the government remembers about one tax ID in one environment. All instants are milliseconds of the simulator's clock. */
export interface UsageState {
  /** ultNSU of the last answer; null before the first. */
  readonly pointer: Nsu | null;
  /** The NSU that the last page was asked from. */
  readonly lastAskedFrom: Nsu | null;
  /**
   * Where a client would go on from that has not seen the last change: its answer got lost, or another consumer made it. Such a call
   * is refused like any other, but breaks no rule. `any`: the client has seen nothing at all yet.
   */
  readonly excusedFrom: Nsu | 'any' | null;
  /** The refusal that began the block got lost: a call during it breaks no rule. */
  readonly blockUnseen: boolean;
  /** End of the hour after an empty queue; null while there is more to fetch. */
  readonly notBefore: number | null;
  /** End of a block for misuse. */
  readonly blockedUntil: number | null;
  /** The same for point queries, of a service that blocks them apart. */
  readonly pointsBlockedUntil: number | null;
  /** When the point queries that count were answered, within the last hour. */
  readonly points: readonly number[];
  readonly lastDistributionAt: number | null;
}

/** A tax ID that nobody has asked for yet. */
export const UNUSED: UsageState = {
  pointer: null,
  lastAskedFrom: null,
  excusedFrom: null,
  blockUnseen: false,
  notBefore: null,
  blockedUntil: null,
  pointsBlockedUntil: null,
  points: [],
  lastDistributionAt: null,
};

/** What a call can break. */
const RULES = [
  /** Within the hour after 137, or after an answer with ultNSU = maxNSU. */
  'early',
  /** Not from the ultNSU of the last answer. */
  'wrong_ultnsu',
  /** While the tax ID is blocked; begins the hour anew. */
  'during_block',
  /** More than 20 point queries within an hour. */
  'quota',
  /** Two calls of one tax ID in the air at the same time. */
  'concurrent',
  /** The certificate is another company's. */
  'certificate_root',
  /** The request is not as its schema says. */
  'schema',
  /** An event's signature does not verify, or is not made as the manual says. */
  'signature',
  /** The same event rejected for the same reason more than 20 times within an hour. */
  'event_misuse',
] as const;
export type Rule = (typeof RULES)[number];

/** Which of several readings of the norm is enforced. */
export interface RulePolicy {
  /** Which point queries count for the limit: those that return a document, or all of them. */
  readonly pointQueriesCounted: 'returned' | 'all';
  /** Answer a repeat of the last page's request with the same page, instead of refusing it. */
  readonly tolerateRepeat: boolean;
  /** Give no number to documents of a root that has not asked for 60 days. */
  readonly sixtyDays: boolean;
  /** Give the whole note under a new number once its recipient has said that it knows of it. */
  readonly releasesWhole: boolean;
  /** NFS-e: the number that was asked after comes again at the head of its page, as two operators report. */
  readonly adnRepeatsStart: boolean;
}

export const USUAL_POLICY: RulePolicy = {
  pointQueriesCounted: 'returned',
  tolerateRepeat: false,
  sixtyDays: false,
  releasesWhole: true,
  adnRepeatsStart: false,
};

/** In what one service's rules differ from another's. */
export interface Manners {
  /** Each page must be asked from the ultNSU of the last answer; otherwise going on from elsewhere is noted, and answered. */
  readonly demandsPointer: boolean;
  /** Misuse of distribution blocks point queries, and the other way round. */
  readonly blocksTogether: boolean;
}

/** The lengths of time in the rules, divided by the time scale. */
export interface Timing {
  readonly hour: number;
  readonly sixtyDays: number;
}

/** The hour and the 60 days on a time scale, in milliseconds. */
export function timingOf(timeScale: number): Timing {
  return { hour: 3_600_000 / timeScale, sixtyDays: (60 * 86_400_000) / timeScale };
}
