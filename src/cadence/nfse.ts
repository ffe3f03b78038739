import type { CaptureState } from '../model/capture-state.js';
import { compareNsu, maxNsu } from '../model/nsu.js';
import { isHeldBack, type Outcome } from '../model/outcome.js';
import { MINUTE, SECOND, STANDSTILL_ALERT, scaled } from './constants.js';
import type { PointCadence } from './point.js';
import { STOPPING } from './soap.js';
import { answered, type Cadence, type Circumstances, plain, type Step } from './step.js';

/**
 * The polling rules of the ADN (design.md section 6, column NFS-e). The manual names one of them only, an hour after "no more documents";
 * the others come from what operators measured (contract section 1.6). An ADN query is not rationed like a SOAP one, but a 429 is.
 */
export const NFSE_RULES = {
  /** Whole exchange with its repetitions. Never scaled. */
  callLimit: MINUTE,
  /** Between two pages of one certificate: half a second was refused, one second was not, six were chosen by the most careful. */
  pacing: 2 * SECOND,
  /** So many pages make a run … */
  runPages: 50,
  /** … and then it rests. A wait of this length ends a run, whatever it was for. */
  runRest: 30 * SECOND,
  emptyQueue: 60 * MINUTE,
  /** HTTP 429, which mostly comes without Retry-After. */
  throttled: 60 * MINUTE,
  /** REJEICAO: of a run that captured nothing, else of one that was going well. */
  rejectedIdle: 10 * MINUTE,
  rejectedBusy: 30 * SECOND,
  certificateMissing: 60 * MINUTE,
  certificateRefused: 60 * MINUTE,
  /** The refusal of a certificate that disables the capture. */
  refusalsToDisable: 10,
  failureFirst: MINUTE,
  failureMax: 60 * MINUTE,
} as const;

type Of<K extends Outcome['kind']> = Extract<Outcome, { kind: K }>;

const NO_RUN = { pages: 0, documents: 0 } as const;

/** The rules over the numbers above. Alerts that are over close before others open. */
export const nfseCadence: Cadence = (before, outcome, now) => {
  const step = decide(before, outcome, now);
  return { ...step, alerts: [...closedBy(before, step.state), ...step.alerts] };
};

function decide(before: CaptureState, outcome: Outcome, now: Circumstances): Step {
  switch (outcome.kind) {
    case 'documents':
      return afterDocuments(before, outcome, now);
    case 'none':
      return queueEmpty({ ...answered(before, outcome.statusCode, now), standstills: 0 }, now, 'queue empty');
    case 'throttled': {
      const wait = Math.max(outcome.retryAfterMs ?? NFSE_RULES.throttled, NFSE_RULES.pacing);
      return blocked(answered(before, outcome.statusCode, now), wait, now, 'the government asked to slow down (429)');
    }
    case 'rejected':
    // No 108 or 109 is known here: whatever says so is a refusal like others.
    case 'paused': {
      const wait = before.run.documents === 0 ? NFSE_RULES.rejectedIdle : NFSE_RULES.rejectedBusy;
      const reason = `the government rejected the query (${outcome.statusCode})`;
      return blocked(answered(before, outcome.statusCode, now), wait, now, reason);
    }
    case 'certificate_refused':
      return afterRefusal(before, outcome, now);
    case 'unreadable':
    case 'not_sent':
    case 'unknown':
      return afterFailure(before, outcome, now);
  }
}

/** The service tells no maxNSU: after a page there is always a next one, until it says that there is none. */
function afterDocuments(before: CaptureState, outcome: Of<'documents'>, now: Circumstances): Step {
  const ultNsu = maxNsu(before.ultNsu, outcome.ultNsu);
  const moved = compareNsu(ultNsu, before.ultNsu) > 0;
  const standstills = moved ? 0 : before.standstills + 1;
  const pages = before.run.pages + 1;
  const state: CaptureState = {
    ...answered(before, outcome.statusCode, now),
    ultNsu,
    maxNsu: maxNsu(before.maxNsu, ultNsu),
    hasPage: true,
    standstills,
    run: { pages, documents: before.run.documents + outcome.items },
  };
  if (!moved) {
    const step = queueEmpty(state, now, 'the page did not move the cursor');
    if (standstills !== STANDSTILL_ALERT) return step;
    const detail = `${standstills} pages in a row left the cursor at ${ultNsu}`;
    return { ...step, alerts: [{ code: 'page_without_progress', open: true, detail }] };
  }
  const rests = pages >= NFSE_RULES.runPages;
  const nextQueryAt = now.at + scaled(rests ? NFSE_RULES.runRest : NFSE_RULES.pacing, before.timeScale);
  return plain({
    ...state,
    phase: 'querying',
    reason: rests ? `${pages} pages in a row` : 'more documents may be pending',
    nextQueryAt,
    lawfulFrom: nextQueryAt,
    run: rests ? NO_RUN : state.run,
  });
}

function queueEmpty(state: CaptureState, now: Circumstances, reason: string): Step {
  const wait = Math.max(NFSE_RULES.emptyQueue, (now.minIntervalMinutes ?? 0) * MINUTE);
  return plain({
    ...state,
    maxNsu: state.ultNsu,
    phase: 'waiting',
    reason,
    nextQueryAt: now.at + scaled(wait, state.timeScale),
    lawfulFrom: now.at + scaled(NFSE_RULES.emptyQueue, state.timeScale),
    run: NO_RUN,
  });
}

/** Refused again and again, a certificate is the wrong one or revoked: people must look, and the service is left alone meanwhile. */
function afterRefusal(before: CaptureState, outcome: Of<'certificate_refused'>, now: Circumstances): Step {
  const certificateRefusals = before.certificateRefusals + 1;
  const state = { ...answered(before, outcome.statusCode, now), certificateRefusals };
  const step = blocked(state, NFSE_RULES.certificateRefused, now, 'the government refused the certificate');
  if (certificateRefusals < NFSE_RULES.refusalsToDisable) return step;
  const reason = `the government refused the certificate ${certificateRefusals} times in a row`;
  return {
    ...step,
    state: { ...step.state, phase: 'disabled', reason },
    alerts: [{ code: 'capture_disabled', open: true, detail: reason, severity: 'critical' }],
  };
}

/** Counts a failure, unless the whole service is down or nothing was sent because of failures before. What the call could mend by asking again, it has tried. */
function afterFailure(
  before: CaptureState,
  outcome: Of<'unreadable' | 'not_sent' | 'unknown'>,
  now: Circumstances,
): Step {
  if (outcome.kind === 'not_sent' && outcome.reason === STOPPING) {
    return plain({ ...before, nextQueryAt: before.nextQueryAt ?? now.at });
  }
  const held = isHeldBack(outcome);
  const failures = now.outage || held ? before.failures : before.failures + 1;
  const unknowns = outcome.kind === 'unknown' ? before.unknowns + 1 : before.unknowns;
  const wait = Math.min(NFSE_RULES.failureFirst * 2 ** Math.max(failures - 1, 0), NFSE_RULES.failureMax);
  const nextQueryAt = Math.max(now.at + scaled(wait, before.timeScale), before.blockedUntil ?? 0);
  const reason = held
    ? outcome.reason
    : {
        not_sent: 'no connection to the government',
        unreadable: 'the answer was not the service’s',
        unknown: 'a call was sent and no answer came',
      }[outcome.kind];
  return plain({ ...before, failures, unknowns, phase: 'backing-off', reason, nextQueryAt, run: NO_RUN });
}

/** @param wait milliseconds, before time scale */
function blocked(state: CaptureState, wait: number, now: Circumstances, reason: string): Step {
  const blockedUntil = Math.max(state.blockedUntil ?? 0, now.at + scaled(wait, state.timeScale));
  return plain({
    ...state,
    phase: 'blocked',
    reason,
    blockedUntil,
    nextQueryAt: blockedUntil,
    lawfulFrom: blockedUntil,
    run: wait >= NFSE_RULES.runRest ? NO_RUN : state.run,
  });
}

/** Alerts that are over. */
function closedBy(before: CaptureState, after: CaptureState): Step['alerts'] {
  const over = (count: 'certificateRefusals' | 'standstills', limit: number) =>
    before[count] >= limit && after[count] === 0;
  const codes = [
    ...(over('certificateRefusals', NFSE_RULES.refusalsToDisable) ? (['capture_disabled'] as const) : []),
    ...(over('standstills', STANDSTILL_ALERT) ? (['page_without_progress'] as const) : []),
  ];
  return codes.map((code) => ({ code, open: false, detail: '' }));
}

/** Phases that say more than a block does. */
const KEPT: ReadonlySet<CaptureState['phase']> = new Set(['attention', 'certificate', 'disabled', 'stopped']);

/** A single number asked for: only a 429 concerns the sequence too, since it counts the questions of both. */
export const nfsePointCadence: PointCadence = (before, outcome, at) => {
  if (outcome.kind !== 'throttled') return { state: before, servicePause: null, alerts: [] };
  const { state, servicePause, alerts } = nfseCadence(before, outcome, { at, deadline: at });
  const shown = KEPT.has(before.phase) ? { phase: before.phase, reason: before.reason } : {};
  return { state: { ...state, ...shown }, servicePause, alerts };
};
