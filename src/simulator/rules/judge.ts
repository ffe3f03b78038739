import { compareNsu, type Nsu, ZERO_NSU } from '../../model/nsu.js';
import type { Manners, Rule, RulePolicy, Timing, UsageState } from './state.js';
import { MISUSE, STATUS_TEXTS } from './texts.js';

/** Point queries (consNSU and consChNFe together) in a sliding hour: NT 2014.002 item 3.11.4. */
export const POINT_QUERIES_PER_HOUR = 20;

/** What the rules say to a call, before any document is looked for. */
export interface Verdict {
  /** Null: go on. */
  readonly refusal: { readonly cStat: string; readonly text: string; readonly ultNsu: Nsu } | null;
  readonly rule: Rule | null;
  /** One clause for the journal. */
  readonly detail: string | null;
  /** What is remembered afterwards, if the call counts. */
  readonly state: UsageState;
}

interface Circumstances {
  readonly at: number;
  readonly timing: Timing;
  readonly policy: RulePolicy;
  readonly manners: Manners;
}

type Asking = 'pages' | 'points';

/** May `distNSU` be asked from `ultNsu` now? */
export function judgeDistribution(state: UsageState, ultNsu: Nsu, maxNsu: Nsu, now: Circumstances): Verdict {
  const { at } = now;
  const blocked = judgeBlock(state, now, 'pages', state.pointer ?? ZERO_NSU);
  if (blocked !== null) return blocked;

  if (compareNsu(ultNsu, maxNsu) > 0) {
    // The norm attaches no block to this one.
    const refusal = { cStat: '589', text: STATUS_TEXTS['589'], ultNsu: ZERO_NSU };
    return { refusal, rule: 'wrong_ultnsu', detail: 'above the highest NSU', state };
  }
  const { pointer } = state;
  const repeat = ultNsu === state.lastAskedFrom;
  const excused = isExcused(state, ultNsu);
  if (state.notBefore !== null && at < state.notBefore) {
    const detail = `${spell(state.notBefore - at)} too early`;
    return misuse(state, now, 'pages', MISUSE.early, excused ? null : 'early', detail, pointer ?? ZERO_NSU);
  }
  if (pointer !== null && ultNsu !== pointer) {
    if (repeat && now.policy.tolerateRepeat) return { refusal: null, rule: null, detail: 'repeat', state };
    const detail = repeat ? 'repeat of the last request' : `the last answer said ${pointer}`;
    const rule = excused ? null : 'wrong_ultnsu';
    if (!now.manners.demandsPointer) return { refusal: null, rule, detail, state };
    return misuse(state, now, 'pages', MISUSE.wrongNsu, rule, detail, pointer);
  }
  return { refusal: null, rule: null, detail: null, state };
}

/** May a point query be made now? */
export function judgePointQuery(state: UsageState, now: Circumstances): Verdict {
  const blocked = judgeBlock(state, now, 'points', ZERO_NSU);
  if (blocked !== null) return blocked;
  if (recentPoints(state, now).length >= POINT_QUERIES_PER_HOUR) {
    return misuse(
      state,
      now,
      'points',
      MISUSE.quota,
      'quota',
      `${POINT_QUERIES_PER_HOUR} within the hour before`,
      ZERO_NSU,
    );
  }
  return { refusal: null, rule: null, detail: null, state };
}

/** What is remembered after a page (or an empty answer) for a call from `askedFrom`. */
export function afterDistribution(
  state: UsageState,
  answer: { askedFrom: Nsu; ultNsu: Nsu; maxNsu: Nsu },
  now: Circumstances,
): UsageState {
  const drained = compareNsu(answer.ultNsu, answer.maxNsu) >= 0;
  return {
    ...state,
    pointer: answer.ultNsu,
    lastAskedFrom: answer.askedFrom,
    excusedFrom: null,
    notBefore: drained ? now.at + now.timing.hour : null,
    blockedUntil: null,
    lastDistributionAt: now.at,
  };
}

/** What is remembered after a point query that the rules allowed. */
export function afterPointQuery(state: UsageState, returned: boolean, now: Circumstances): UsageState {
  const recent = recentPoints(state, now);
  const counts = returned || now.policy.pointQueriesCounted === 'all';
  return { ...state, points: counts ? [...recent, now.at] : recent };
}

/** What is remembered after any refusal for misuse: the hour begins now. Only one of a page tells the pointer, where the service does. */
export function blocked(state: UsageState, now: Circumstances, asking: Asking = 'pages'): UsageState {
  const until = now.at + now.timing.hour;
  const tells = asking === 'pages' && now.manners.demandsPointer;
  const told = { ...state, blockUnseen: false, ...(tells && { excusedFrom: null }) };
  return isApart(now, asking) ? { ...told, pointsBlockedUntil: until } : { ...told, blockedUntil: until };
}

function isApart({ manners }: Circumstances, asking: Asking): boolean {
  return asking === 'points' && !manners.blocksTogether;
}

/** What is remembered when the answer that brought `state` did not reach the client, which had asked from `askedFrom`. */
export function unseen(state: UsageState, askedFrom: Nsu | null): UsageState {
  return { ...state, excusedFrom: askedFrom ?? 'any', blockUnseen: true };
}

/** What is remembered when another consumer of the same tax ID has fetched up to `ultNsu`. */
export function afterOther(state: UsageState, answer: { ultNsu: Nsu; maxNsu: Nsu }, now: Circumstances): UsageState {
  const { pointer, blockedUntil, blockUnseen, excusedFrom } = state;
  const moved = afterDistribution(state, { askedFrom: pointer ?? answer.ultNsu, ...answer }, now);
  // The real client repeats nothing, and knows what it knew before.
  return {
    ...unseen(moved, excusedFrom === null ? pointer : excusedFrom === 'any' ? null : excusedFrom),
    lastAskedFrom: null,
    blockedUntil,
    blockUnseen,
  };
}

function isExcused(state: UsageState, ultNsu: Nsu): boolean {
  return state.excusedFrom === 'any' || state.excusedFrom === ultNsu;
}

function judgeBlock(state: UsageState, now: Circumstances, asking: Asking, ultNsu: Nsu): Verdict | null {
  const until = isApart(now, asking) ? state.pointsBlockedUntil : state.blockedUntil;
  if (until === null || now.at >= until) return null;
  const detail = `${spell(until - now.at)} before the end of the block`;
  return misuse(state, now, asking, MISUSE.early, state.blockUnseen ? null : 'during_block', detail, ultNsu);
}

function misuse(
  state: UsageState,
  now: Circumstances,
  asking: Asking,
  text: string,
  rule: Rule | null,
  detail: string,
  ultNsu: Nsu,
): Verdict {
  return { refusal: { cStat: '656', text, ultNsu }, rule, detail, state: blocked(state, now, asking) };
}

function recentPoints(state: UsageState, now: Circumstances): readonly number[] {
  return state.points.filter((point) => point > now.at - now.timing.hour);
}

function spell(milliseconds: number): string {
  return milliseconds >= 60_000 ? `${Math.round(milliseconds / 60_000)} min` : `${(milliseconds / 1000).toFixed(1)} s`;
}
