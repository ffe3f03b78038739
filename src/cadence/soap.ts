import type { CaptureState } from '../model/capture-state.js';
import { addNsu, compareNsu, maxNsu, type Nsu, nsuDistance, ZERO_NSU } from '../model/nsu.js';
import { ANSWERED, type Outcome } from '../model/outcome.js';
import {
  ATTENTION_AFTER,
  ATTENTION_RETRY,
  type DistributionRules,
  FAILURE_WAIT_FIRST,
  FAILURE_WAIT_MAX,
  MINUTE,
  PAGE_SIZE,
  STANDSTILL_ALERT,
  scaled,
  UNKNOWN_RETRY,
} from './constants.js';
import { answered, type Cadence, type Circumstances, type JumpedRange, plain, type Step } from './step.js';

type Of<K extends Outcome['kind']> = Extract<Outcome, { kind: K }>;

/** The polling rules shared by the two SOAP distribution services (design.md section 6), over the numbers of one of them. */
export function soapCadence(rules: DistributionRules): Cadence {
  return (before, outcome, circumstances) => {
    const step = decide(rules, before, outcome, circumstances);
    return { ...step, alerts: [...closedBy(before, outcome), ...step.alerts] };
  };
}

function decide(rules: DistributionRules, before: CaptureState, outcome: Outcome, now: Circumstances): Step {
  switch (outcome.kind) {
    case 'documents':
      return afterDocuments(rules, before, outcome, now);
    case 'none':
      return afterNone(rules, before, outcome, now);
    case 'paused':
      return afterPause(rules, before, outcome, now);
    case 'throttled':
      return afterThrottle(rules, before, outcome, now);
    case 'rejected':
      return afterRejection(rules, before, outcome, now);
    case 'certificate_refused':
      return blocked(
        { ...answered(before, outcome.statusCode, now), certificateRefusals: before.certificateRefusals + 1 },
        now.at + scaled(rules.rejectionBlock, before.timeScale),
        'the government refused the certificate',
      );
    case 'unknown':
      return afterUnknown(rules, before, now);
    case 'unreadable':
    case 'not_sent':
      return afterFailure(before, outcome, now);
  }
}

function afterDocuments(
  rules: DistributionRules,
  before: CaptureState,
  outcome: Of<'documents'>,
  now: Circumstances,
): Step {
  const ultNsu = maxNsu(before.ultNsu, outcome.ultNsu);
  const highest = maxNsu(outcome.maxNsu, ultNsu);
  const moved = compareNsu(ultNsu, before.ultNsu) > 0;
  const standstills = moved ? 0 : before.standstills + 1;
  const state: CaptureState = {
    ...answered(before, outcome.statusCode, now),
    ultNsu,
    maxNsu: highest,
    hasPage: before.hasPage || outcome.items > 0,
    standstills,
    run: { pages: before.run.pages + 1, documents: before.run.documents + outcome.items },
  };
  if (moved && compareNsu(ultNsu, highest) < 0) {
    return plain({
      ...state,
      phase: 'querying',
      reason: 'more documents are pending',
      nextQueryAt: now.at,
      lawfulFrom: now.at,
    });
  }
  const drained = queueEmpty(rules, state, now, moved ? 'queue drained' : 'the page did not move the cursor');
  if (standstills !== STANDSTILL_ALERT) return drained;
  return {
    ...drained,
    alerts: [opened('page_without_progress', `${standstills} pages in a row left the cursor at ${ultNsu}`)],
  };
}

function afterNone(rules: DistributionRules, before: CaptureState, outcome: Of<'none'>, now: Circumstances): Step {
  const pointer =
    rules.noneMovesCursor && outcome.ultNsu !== null ? maxNsu(before.ultNsu, outcome.ultNsu) : before.ultNsu;
  // The service said that nothing follows: whatever maxNSU it printed, nothing is pending.
  const state = { ...answered(before, outcome.statusCode, now), ultNsu: pointer, maxNsu: pointer, standstills: 0 };
  const step = queueEmpty(rules, state, now, 'queue empty');
  // Before the first page nothing was promised: what the pointer passes then is no jump.
  return { ...step, jumped: before.hasPage ? passedOver(before.ultNsu, pointer, 'jump') : null };
}

function queueEmpty(rules: DistributionRules, state: CaptureState, now: Circumstances, reason: string): Step {
  const wait = Math.max(rules.emptyQueue, (now.minIntervalMinutes ?? 0) * MINUTE);
  return plain({
    ...state,
    phase: 'waiting',
    reason,
    nextQueryAt: now.at + scaled(wait, state.timeScale),
    lawfulFrom: now.at + scaled(rules.emptyQueue, state.timeScale),
    run: { pages: 0, documents: 0 },
  });
}

function afterPause(rules: DistributionRules, before: CaptureState, outcome: Of<'paused'>, now: Circumstances): Step {
  const until = now.at + scaled(outcome.statusCode === '108' ? rules.pause108 : rules.pause109, before.timeScale);
  const state: CaptureState = {
    ...answered(before, outcome.statusCode, now),
    // The lost page of an unknown call is still out there: remember it through the pause.
    unknowns: before.unknowns,
    phase: 'paused',
    reason: `the service is shut down (${outcome.statusCode})`,
    nextQueryAt: until,
  };
  return { ...plain(state), servicePause: { code: outcome.statusCode, until } };
}

function afterThrottle(
  rules: DistributionRules,
  before: CaptureState,
  outcome: Of<'throttled'>,
  now: Circumstances,
): Step {
  const until = now.at + scaled(rules.throttleBlock, before.timeScale);
  const pointer =
    rules.throttleTellsPointer && outcome.ultNsu !== null ? maxNsu(before.ultNsu, outcome.ultNsu) : before.ultNsu;
  const ownPage = before.unknowns > 0 && nsuDistance(before.ultNsu, pointer) <= BigInt(PAGE_SIZE);
  const state: CaptureState = {
    ...answered(before, outcome.statusCode, now),
    ultNsu: pointer,
    maxNsu: maxNsu(before.maxNsu, pointer),
    quota: rules.throttleSuspendsPointQueries ? suspended(before, until) : before.quota,
  };
  const step = blocked(state, until, `the government answered ${outcome.statusCode}`);
  return {
    ...step,
    jumped: passedOver(before.ultNsu, pointer, ownPage ? 'lost_page' : 'jump'),
    alerts:
      ownPage || !rules.throttleTellsPointer
        ? []
        : [opened('other_consumer', otherConsumer(before.ultNsu, outcome.ultNsu))],
  };
}

function afterRejection(
  rules: DistributionRules,
  before: CaptureState,
  outcome: Of<'rejected'>,
  now: Circumstances,
): Step {
  const until = now.at + scaled(rules.rejectionBlock, before.timeScale);
  const step = blocked(
    answered(before, outcome.statusCode, now),
    until,
    `the government rejected the query (${outcome.statusCode})`,
  );
  if (outcome.statusCode !== '589') return step;
  const detail = `the cursor ${before.ultNsu} is above the government's highest NSU: wrong environment or tax ID, or a database from elsewhere`;
  return { ...step, alerts: [{ ...opened('cursor_ahead', detail), severity: rules.cursorAheadSeverity }] };
}

function afterFailure(before: CaptureState, outcome: Of<'unreadable' | 'not_sent'>, now: Circumstances): Step {
  if (outcome.kind === 'not_sent' && outcome.reason === STOPPING) {
    return plain({ ...before, nextQueryAt: before.nextQueryAt ?? now.at });
  }
  const what = outcome.kind === 'not_sent' ? 'no connection to the government' : 'the answer was not the service’s';
  return failed(before, now, what, 0);
}

function afterUnknown(rules: DistributionRules, before: CaptureState, now: Circumstances): Step {
  // With a page or less pending, the lost answer may have been the last page: the government's hour would run, and a quick try break it.
  const pending = nsuDistance(before.ultNsu, before.maxNsu) > BigInt(PAGE_SIZE);
  const quick = pending && before.unknowns === 0;
  const earliest = quick
    ? now.at + scaled(UNKNOWN_RETRY, before.timeScale)
    : Math.max(now.deadline, now.at) + scaled(rules.emptyQueue, before.timeScale);
  return failed({ ...before, unknowns: before.unknowns + 1 }, now, 'a call was sent and no answer came', earliest);
}

/** Counts a failure, unless the whole service is down, and waits longer each time; never before `earliest`. */
function failed(before: CaptureState, now: Circumstances, reason: string, earliest: number): Step {
  const failures = now.outage ? before.failures : before.failures + 1;
  const lawfulFrom = Math.max(before.lawfulFrom ?? 0, earliest) || null;
  if (failures >= ATTENTION_AFTER) {
    const nextQueryAt = Math.max(earliest, now.at + scaled(ATTENTION_RETRY, before.timeScale));
    const state: CaptureState = {
      ...before,
      failures,
      phase: 'attention',
      reason: `${reason}, ${failures} times in a row`,
      nextQueryAt,
      lawfulFrom,
    };
    return { ...plain(state), alerts: [opened('capture_attention', state.reason)] };
  }
  const wait = Math.min(FAILURE_WAIT_FIRST * 2 ** Math.max(failures - 1, 0), FAILURE_WAIT_MAX);
  const nextQueryAt = Math.max(earliest, now.at + scaled(wait, before.timeScale), before.blockedUntil ?? 0);
  return plain({ ...before, failures, phase: 'backing-off', reason, nextQueryAt, lawfulFrom });
}

/** Reason of a call that was dropped unsent because the process stops: it counts as nothing. */
export const STOPPING = 'stopping';

/** A block is only ever extended. */
function blocked(state: CaptureState, until: number, reason: string): Step {
  const blockedUntil = Math.max(state.blockedUntil ?? 0, until);
  return plain({
    ...state,
    phase: 'blocked',
    reason,
    blockedUntil,
    nextQueryAt: blockedUntil,
    lawfulFrom: blockedUntil,
    run: { pages: 0, documents: 0 },
  });
}

function suspended(state: CaptureState, until: number): CaptureState['quota'] {
  return { ...state.quota, suspendedUntil: Math.max(state.quota.suspendedUntil ?? 0, until) };
}

function passedOver(from: Nsu, to: Nsu, cause: JumpedRange['cause']): JumpedRange | null {
  return compareNsu(to, from) > 0 ? { from: addNsu(from, 1), to, cause } : null;
}

function otherConsumer(ours: Nsu, theirs: Nsu | null): string {
  // Zero is how some answers say that they tell no pointer.
  if (theirs === null || theirs === ZERO_NSU || theirs === ours)
    return `asked from ${ours} at its time and refused: another program seems to query this tax ID`;
  const where = compareNsu(theirs, ours) > 0 ? 'ahead of' : 'behind';
  return `the government's pointer ${theirs} is ${where} ours (${ours}): another program queries this tax ID`;
}

const ORDINARY: ReadonlySet<string> = new Set(['137', '138']);

/** Alerts that this outcome ends. One answer says nothing about another program, which may ask once a night: a day without a sign of it ends that alert. */
function closedBy(before: CaptureState, outcome: Outcome): Step['alerts'] {
  if (!ANSWERED.has(outcome.kind)) return [];
  const over: Step['alerts'][number][] = [];
  if (before.failures >= ATTENTION_AFTER) over.push(closed('capture_attention'));
  if (outcome.kind !== 'documents' && outcome.kind !== 'none') return over;
  // After an ordinary answer it cannot be open: closing costs a statement, which the hot path is spared.
  const ordinary = before.lastAnswer === null || ORDINARY.has(before.lastAnswer.code);
  if (!ordinary) over.push(closed('cursor_ahead'));
  if (before.standstills >= STANDSTILL_ALERT) over.push(closed('page_without_progress'));
  return over;
}

const opened = (code: Step['alerts'][number]['code'], detail: string) => ({ code, open: true, detail });
const closed = (code: Step['alerts'][number]['code']) => ({ code, open: false, detail: '' });
