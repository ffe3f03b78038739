import { type CaptureState, initialState } from '../model/capture-state.js';
import { addNsu, compareNsu, maxNsu, type Nsu, parseNsu, ZERO_NSU } from '../model/nsu.js';
import type { CaptureKey, CaptureOptions, Environment, Phase } from '../model/words.js';
import { CAPTURE_COLUMNS, type CaptureRow } from './capture-rows.js';
import { captureValues, commitState, lockCapture } from './captures.js';
import { getCompany, lockOrders } from './companies.js';
import { instant, type Transaction } from './database.js';
import { insertGaps } from './gaps.js';

/**
 * What people ask of a capture. Each order locks the row, so it waits for a page being committed and is never lost under it,
 * and raises the revision, so that the workflow notices. None of them ever makes a query come earlier than `not_before`.
 */

export interface EnableOrder {
  readonly capture: CaptureKey;
  /** The options to keep, given those in force ({} for a new capture). */
  readonly options: (current: CaptureOptions) => CaptureOptions;
  readonly now: number;
  /** Divides the cadence's waits, for as long as this run lasts. Default 1. */
  readonly timeScale?: number;
}

/** The enabled capture, or why it cannot be. */
export type EnableAnswer =
  | { readonly ok: true; readonly row: CaptureRow }
  | { readonly ok: false; readonly problem: 'company_unknown' | 'company_deleting' }
  | { readonly ok: false; readonly problem: 'environment_in_use'; readonly environment: Environment };

/** Makes and enables a capture, or changes the options of one that runs. Counts a generation either way. */
export async function enableCapture(tx: Transaction, order: EnableOrder): Promise<EnableAnswer> {
  const { capture, now, timeScale = 1 } = order;
  // The index captures_one_environment is the last defence.
  await lockOrders(tx, capture.companyId);
  const company = await getCompany(tx, capture.companyId);
  if (!company) return { ok: false, problem: 'company_unknown' };
  if (company.deletingAt !== null) return { ok: false, problem: 'company_deleting' };
  const { rows: others } = await tx.query<{ environment: Environment }>(
    `select environment from captures
     where company_id = $1 and document_type = $2 and environment <> $3 and enabled`,
    captureValues(capture),
  );
  if (others[0]) return { ok: false, problem: 'environment_in_use', environment: others[0].environment };

  const current = await lockCapture(tx, capture);
  const options = order.options(current?.options ?? {});
  return {
    ok: true,
    row: current
      ? await reenable(tx, current, options, now, timeScale)
      : await make(tx, capture, options, now, timeScale),
  };
}

async function make(
  tx: Transaction,
  capture: CaptureKey,
  options: CaptureOptions,
  now: number,
  timeScale: number,
): Promise<CaptureRow> {
  const notBefore = notBeforeOf(options);
  const state = goingOn(initialState(startOf(options), timeScale), notBefore, now, 'about to ask for the first time');
  const { rows } = await tx.query<CaptureRow>(
    `insert into captures as c (company_id, document_type, environment, options, state, phase, ult_nsu, max_nsu, not_before, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10) returning ${CAPTURE_COLUMNS}`,
    [
      ...captureValues(capture),
      JSON.stringify(options),
      JSON.stringify(state),
      state.phase,
      state.ultNsu,
      state.maxNsu,
      instant(notBefore),
      instant(now),
    ],
  );
  return existing(rows[0]);
}

async function reenable(
  tx: Transaction,
  row: CaptureRow,
  options: CaptureOptions,
  now: number,
  timeScale: number,
): Promise<CaptureRow> {
  let state = row.state;
  // Until the government was asked, start and first instant are still free to choose; afterwards they are history.
  const asked = row.lastQueryAt !== null || row.callId !== null;
  const notBefore = asked ? latest(row.notBefore, notBeforeOf(options)) : notBeforeOf(options);
  if (!asked) state = { ...state, ultNsu: startOf(options), maxNsu: startOf(options) };
  if (!row.enabled) state = fresh({ ...state, timeScale }, notBefore, now, 'started');
  else if (!asked || notBefore !== row.notBefore) state = goingOn(state, notBefore, now, state.reason);
  await tx.query(
    `update captures set enabled = true, generation = generation + 1, options = $4, not_before = $5,
       held_until = case when enabled then held_until end -- a start after a stop ends a hold of before
     where company_id = $1 and document_type = $2 and environment = $3`,
    [...captureValues(row), JSON.stringify(options), instant(notBefore)],
  );
  return existing(await commitState(tx, row, state, { now }));
}

/** Stops a capture for good: nobody calls any more. Counts a generation. Null: there is no such capture. */
export async function disableCapture(tx: Transaction, capture: CaptureKey, now: number): Promise<CaptureRow | null> {
  const row = await lockCapture(tx, capture);
  if (!row) return null;
  await tx.query(
    `update captures set enabled = false, generation = generation + 1
     where company_id = $1 and document_type = $2 and environment = $3`,
    captureValues(capture),
  );
  return commitState(tx, capture, stopped(row.state), { now });
}

/**
 * A workflow's own stop: only if nobody ordered anything since `generation`. A repeat of a stop that succeeded succeeds.
 * Null: there is no such capture.
 */
export async function closeCapture(
  tx: Transaction,
  capture: CaptureKey,
  generation: number,
  now: number,
): Promise<{ closed: boolean; row: CaptureRow } | null> {
  const row = await lockCapture(tx, capture);
  if (!row) return null;
  if (row.generation !== generation || !row.enabled) return { closed: row.generation === generation, row };
  await tx.query(
    'update captures set enabled = false where company_id = $1 and document_type = $2 and environment = $3',
    captureValues(capture),
  );
  return { closed: true, row: existing(await commitState(tx, capture, stopped(row.state), { now })) };
}

/** A person's hold until an instant (`Infinity`: until further notice), or its end (null). Null: there is no such capture. */
export async function holdCapture(
  tx: Transaction,
  capture: CaptureKey,
  until: number | null,
  now: number,
): Promise<CaptureRow | null> {
  const row = await lockCapture(tx, capture);
  if (!row) return null;
  await writeHold(tx, capture, until);
  const held = until !== null && until > now;
  let state = row.state;
  if (held && !KEPT_UNDER_HOLD.has(state.phase)) state = { ...state, phase: 'paused', reason: 'held by a person' };
  if (!held && isHeldPhase(state)) state = goingOn(state, row.notBefore, now, 'hold ended');
  return commitState(tx, capture, state, { now });
}

/**
 * Leaves `attention` or `disabled`, and ends a hold: counters to zero, `not_before` kept. A stopped capture stays stopped.
 * Null: there is no such capture.
 */
export async function resumeCapture(tx: Transaction, capture: CaptureKey, now: number): Promise<CaptureRow | null> {
  const row = await lockCapture(tx, capture);
  if (!row?.enabled) return row;
  await writeHold(tx, capture, null);
  return commitState(tx, capture, fresh(row.state, row.notBefore, now, 'resumed'), { now });
}

/** Writes the phase that a workflow found itself in. A stopped capture stays stopped. Null: there is no such capture. */
export async function markCapture(
  tx: Transaction,
  capture: CaptureKey,
  phase: Phase,
  reason: string,
  now: number,
): Promise<CaptureRow | null> {
  const row = await lockCapture(tx, capture);
  if (!row?.enabled || (row.phase === phase && row.state.reason === reason)) return row;
  return commitState(tx, capture, { ...row.state, phase, reason }, { now });
}

/** The capture with its new cursor and the one before, or why it cannot be set. */
export type CursorAnswer =
  | { readonly ok: true; readonly row: CaptureRow; readonly before: Nsu }
  | { readonly ok: false; readonly problem: 'unknown' }
  /** Its page would move the cursor on from where it was asked. `until`: by then it has ended. */
  | { readonly ok: false; readonly problem: 'call_in_hand'; readonly until: number };

/**
 * An administrator's cursor, up or down: the one way down. `not_before` is kept. What it passes on the way up becomes a gap that waits for
 * a person's word; a late page of an earlier call is fenced out.
 */
export async function setCursor(tx: Transaction, capture: CaptureKey, nsu: Nsu, now: number): Promise<CursorAnswer> {
  const row = await lockCapture(tx, capture);
  if (!row) return { ok: false, problem: 'unknown' };
  if (row.callDeadline !== null && row.callDeadline > now) {
    return { ok: false, problem: 'call_in_hand', until: row.callDeadline };
  }
  const { ultNsu: before, hasPage } = row.state;
  if (compareNsu(nsu, before) > 0) {
    const status = hasPage ? 'awaiting_confirmation' : 'before_onboarding';
    await insertGaps(tx, capture, [{ from: addNsu(before, 1), to: nsu, status, cause: 'cursor' }], now);
  }
  await tx.query(
    'update captures set distribution_call_id = null where company_id = $1 and document_type = $2 and environment = $3',
    captureValues(capture),
  );
  const state = { ...row.state, ultNsu: nsu, maxNsu: maxNsu(nsu, row.state.maxNsu) };
  return { ok: true, row: existing(await commitState(tx, capture, state, { now })), before };
}

/**
 * The database is older than what a workflow knows: the guard lets nothing pass until {@link restoreCapture}. The revision stays, or it
 * would catch up with the one that gave it away. Null: there is no such capture.
 */
export async function markBehind(
  tx: Transaction,
  capture: CaptureKey,
  reason: string,
  now: number,
): Promise<CaptureRow | null> {
  const { rows } = await tx.query<CaptureRow>(
    `update captures c set behind = true, phase = 'attention', updated_at = $5,
       state = state || jsonb_build_object('phase', 'attention', 'reason', $4::text)
     where company_id = $1 and document_type = $2 and environment = $3 returning ${CAPTURE_COLUMNS}`,
    [...captureValues(capture), reason, instant(now)],
  );
  return rows[0] ?? null;
}

/** More changes than a capture can have made between a backup and its loss. */
const NEWER_THAN_ANY_LOST = 1_000_000;

/**
 * Takes a capture up again whose database is older than it was: from now on the row is the newest truth there is. Calls that were lost with
 * the end of the database are waited out: nothing is asked for `hold` milliseconds, neither in sequence nor for single documents. A call that
 * the database still knows without an end keeps its claim: the next one looks for its answer, which may stand in the object store.
 * Null: there is no such capture.
 */
export async function restoreCapture(
  tx: Transaction,
  capture: CaptureKey,
  { now, hold }: { readonly now: number; readonly hold: number },
): Promise<CaptureRow | null> {
  const row = await lockCapture(tx, capture);
  if (!row) return null;
  await tx.query(
    `update captures set behind = false, revision = revision + ${NEWER_THAN_ANY_LOST}
     where company_id = $1 and document_type = $2 and environment = $3`,
    captureValues(capture),
  );
  const until = now + hold;
  const { quota, nextQueryAt } = row.state;
  const state: CaptureState = {
    ...row.state,
    phase: 'waiting',
    reason: 'restored: calls that the database has lost are waited out',
    nextQueryAt: Math.max(nextQueryAt ?? 0, until),
    lawfulFrom: Math.max(row.state.lawfulFrom ?? 0, until),
    quota: { ...quota, suspendedUntil: Math.max(quota.suspendedUntil ?? 0, until) },
    failures: 0,
    unknowns: 0,
  };
  return commitState(tx, capture, row.enabled ? state : stopped(state), { now, notBefore: until });
}

/** Phases that say more than a hold does. */
const KEPT_UNDER_HOLD: ReadonlySet<Phase> = new Set(['attention', 'disabled', 'stopped']);
const isHeldPhase = (state: CaptureState) => state.phase === 'paused' && state.reason === 'held by a person';

const stopped = (state: CaptureState): CaptureState => ({
  ...state,
  phase: 'stopped',
  reason: 'stopped by a person',
  nextQueryAt: null,
});

/** The state of a capture that goes on as soon as it may. */
function goingOn(state: CaptureState, notBefore: number | null, now: number, reason: string): CaptureState {
  const nextQueryAt = notBefore !== null && notBefore > now ? notBefore : null;
  const blocked = state.blockedUntil !== null && state.blockedUntil > now;
  return { ...state, phase: blocked ? 'blocked' : nextQueryAt === null ? 'querying' : 'waiting', reason, nextQueryAt };
}

function fresh(state: CaptureState, notBefore: number | null, now: number, reason: string): CaptureState {
  const counters = { failures: 0, unknowns: 0, standstills: 0, certificateRefusals: 0 };
  return goingOn({ ...state, ...counters }, notBefore, now, reason);
}

function writeHold(tx: Transaction, capture: CaptureKey, until: number | null) {
  return tx.query(
    'update captures set held_until = $4 where company_id = $1 and document_type = $2 and environment = $3',
    [...captureValues(capture), instant(until)],
  );
}

const startOf = (options: CaptureOptions): Nsu =>
  options.startNsu === undefined ? ZERO_NSU : parseNsu(options.startNsu);
const notBeforeOf = (options: CaptureOptions): number | null =>
  options.notBefore === undefined ? null : new Date(options.notBefore).getTime();
const latest = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : Math.max(a, b));

function existing<T>(row: T | null | undefined): T {
  if (!row) throw new Error('a locked row of captures disappeared');
  return row;
}
