import { ApplicationFailure } from '@temporalio/activity';
import { cadenceOf, LEASE_GRACE, scaled } from '../../cadence/index.js';
import type { ClientCertificate } from '../../government/types.js';
import type { Refusal } from '../../model/activity-contract.js';
import type { CaptureSnapshot, CaptureState } from '../../model/capture-state.js';
import type { PointRefusal } from '../../model/point-query.js';
import type { CaptureKey } from '../../model/words.js';
import { type CallRow, findCalls, type NewCall } from '../../storage/calls.js';
import { markBehind } from '../../storage/capture-orders.js';
import { type CaptureRow, snapshotOf } from '../../storage/capture-rows.js';
import { commitState, lockCapture } from '../../storage/captures.js';
import {
  type CertificateRow,
  takeTurn,
  type UsableCertificate,
  usableCertificate,
} from '../../storage/certificates.js';
import { type CompanyRow, getCompany } from '../../storage/companies.js';
import type { Transaction } from '../../storage/database.js';
import { archiveKey } from '../../storage/object-store/index.js';
import { getService, type ServiceKey, type ServiceRow, takeProbe } from '../../storage/services.js';
import type { ActivityDependencies } from '../dependencies.js';
import { captureUnknown, leaseTaken, scaleMismatch } from '../failures.js';
import { Announcements } from '../page/announcements.js';
import type { RememberedCall } from './call-memory.js';
import { type Mark, mark } from './call-watch.js';
import { pauseLength, type Verdict } from './guard.js';
import { serviceOf } from './service-pause.js';

/** The steps that the beginning of a distribution call and of a point call have in common. */

const DAY = 86_400_000;
/** A refused capture looks again this soon while another one's probe is in the air. */
const PROBE_PATIENCE = 30_000;

/** The capture under its lock, and the instant that decides. */
export interface Opening {
  readonly tx: Transaction;
  readonly row: CaptureRow;
  readonly company: CompanyRow;
  readonly now: number;
  readonly recordedAt: Mark;
}

/** @throws ApplicationFailure `company_unknown` (non-retryable) */
export async function openLocked(deps: ActivityDependencies, tx: Transaction, capture: CaptureKey): Promise<Opening> {
  const row = await lockCapture(tx, capture);
  if (!row) throw captureUnknown('capture');
  // Read now, not before: waiting for the lock takes time.
  const now = await deps.clock.now(tx);
  const recordedAt = mark();
  const company = await getCompany(tx, row.companyId);
  if (!company) throw captureUnknown('company');
  return { tx, row, company, now, recordedAt };
}

/** The calls that may come before this one. */
export interface EarlierCalls {
  /** From an earlier attempt of this activity: it is settled, never called again. */
  readonly own: CallRow | null;
  /** The one that begun last, of any kind. */
  readonly last: CallRow | null;
  readonly lastDistribution: CallRow | null;
}

/** Finds the rows of this activity and of the capture's last calls. The log is searched from two days before the oldest of them. */
export async function earlierCalls(
  { tx, row, now }: Opening,
  callId: string,
  remembered: RememberedCall | null = null,
): Promise<EarlierCalls> {
  const known = [row.callDeadline, row.lastQueryAt, remembered?.startedAt];
  const since = Math.min(now, ...known.map((at) => at ?? now)) - 2 * DAY;
  const ids = [callId, row.callId, row.distributionCallId].filter((id) => id !== null);
  const calls = new Map((await findCalls(tx, ids, since)).map((call) => [call.id, call]));
  return {
    own: calls.get(callId) ?? null,
    last: calls.get(row.callId ?? '') ?? null,
    lastDistribution: calls.get(row.distributionCallId ?? '') ?? null,
  };
}

/** @throws ApplicationFailure `lease_taken` (retryable) while another call of the tax ID is in the air */
export function refuseUnderLease({ row, now }: Opening): void {
  if (row.callDeadline !== null && row.callDeadline > now) throw leaseTaken(row.callDeadline - now);
}

/** No call: why, and the state that the workflow goes on from. */
export interface Refused<R> {
  readonly kind: 'refused';
  readonly refusal: R;
  readonly snapshot: CaptureSnapshot;
  /** Endpoints to wake. */
  readonly wake: readonly string[];
}

/** A refusal with the state as the row has it now. */
export function refused<R>(
  { row, company }: Pick<Opening, 'row' | 'company'>,
  refusal: R,
  wake: readonly string[] = [],
): Refused<R> {
  return { kind: 'refused', refusal, snapshot: snapshotOf(row, company), wake };
}

/** A call that the guard lets through. */
export interface Admitted {
  readonly kind: 'admitted';
  readonly opening: Opening;
  readonly certificate: CertificateRow;
  /** When the certificate's next turn is (milliseconds); null: it is ours. */
  readonly turn: number | null;
}

/**
 * What follows from the guard's verdict, in the same order for every call: a refusal that lasts is written down, a usable certificate ends
 * the phase of that name, and only a worker of the capture's own scale takes the certificate's turn.
 *
 * @param ours the worker's time scale
 * @throws ApplicationFailure `time_scale_mismatch` (retryable)
 */
export async function heed<R extends Refusal | PointRefusal>(
  opening: Opening,
  verdict: Verdict<R>,
  { certificate }: { readonly certificate: UsableCertificate },
  ours: number,
): Promise<Admitted | Refused<R | CertificateRefusal | BehindRefusal>> {
  const { refusal } = verdict;
  if (refusal?.reason === 'certificate') return refuseForCertificate(opening, refusal);
  if (refusal?.reason === 'database_behind') return refuseAsBehind(opening);
  const current = certificate.ok ? { ...opening, row: await leaveCertificatePhase(opening) } : opening;
  if (!('certificate' in verdict)) return refused(current, verdict.refusal);
  requireScale(opening, ours);
  const turn = await nextTurn(opening, verdict.certificate);
  return { kind: 'admitted', opening: current, certificate: verdict.certificate, turn };
}

type CertificateRefusal = Extract<Refusal, { reason: 'certificate' }>;
type BehindRefusal = Extract<Refusal, { reason: 'database_behind' }>;

/** Says so in the row, and to the customer once: the capture goes on by itself as soon as a usable certificate is stored. */
async function refuseForCertificate(
  { tx, row, company, now }: Opening,
  given: CertificateRefusal,
): Promise<Refused<CertificateRefusal>> {
  const { certificateRetry } = cadenceOf(row.documentType);
  const retryAt = certificateRetry === undefined ? null : now + scaled(certificateRetry, row.state.timeScale);
  const refusal = retryAt === null ? given : { ...given, until: Math.min(given.until ?? retryAt, retryAt) };
  const reason = `certificate ${refusal.problem.replaceAll('_', ' ')}`;
  if (row.phase === 'certificate' && row.state.reason === reason) return refused({ row, company }, refusal);
  const marked = await commitState(tx, row, { ...row.state, phase: 'certificate', reason }, { now });
  const announcements = new Announcements(tx, row, company, now);
  await announcements.open('certificate_expired', `no call is made: ${reason}`, 'company', 'critical');
  return refused({ row: marked ?? row, company }, refusal, await announcements.publish());
}

/**
 * Writes down that the database is older than what a workflow knows, so that nobody calls any more whatever they know, and tells once.
 * The revision stays: raised, it could catch up with the one that gave it away.
 */
async function refuseAsBehind(opening: Opening): Promise<Refused<BehindRefusal>> {
  const { tx, row, company, now } = opening;
  const refusal = { reason: 'database_behind' } as const;
  if (row.behind && row.phase === 'attention') return refused(opening, refusal);
  const reason = 'the database is older than this capture: run malote verify --repair';
  const marked = await markBehind(tx, row, reason, now);
  const announcements = new Announcements(tx, row, company, now);
  await announcements.open('database_behind', `no call is made: ${reason}`, 'capture', 'critical');
  return refused({ row: marked ?? row, company }, refusal, await announcements.publish());
}

/** What the guard asks about besides the row. */
export async function guardFacts(
  { tx, row, company, now }: Opening,
  service: ServiceKey = serviceOf(row),
): Promise<{
  readonly company: CompanyRow;
  readonly service: ServiceRow;
  readonly certificate: UsableCertificate;
}> {
  return {
    company,
    service: await getService(tx, service),
    certificate: await usableCertificate(tx, company, now),
  };
}

/** A usable certificate ends the phase of that name, whether or not a call is made now. */
async function leaveCertificatePhase({ tx, row, company, now }: Opening): Promise<CaptureRow> {
  if (row.phase !== 'certificate') return row;
  await new Announcements(tx, row, company, now).close('certificate_expired', 'company');
  const state: CaptureState = { ...row.state, phase: 'waiting', reason: 'a usable certificate is stored' };
  return (await commitState(tx, row, state, { now })) ?? row;
}

/**
 * The turn of the certificate, where the service counts how often it is used: a root's serves all its branches, in however many rows.
 *
 * @returns null: it is ours. Else when the next one is (milliseconds)
 */
export async function nextTurn(
  { tx, row, now }: Pick<Opening, 'tx' | 'row' | 'now'>,
  certificate: CertificateRow,
): Promise<number | null> {
  const { pacing } = cadenceOf(row.documentType);
  return pacing === undefined ? null : takeTurn(tx, certificate, now, scaled(pacing, row.state.timeScale));
}

/** The one way to the wire, once it is committed. */
export interface BegunCall {
  readonly kind: 'begun';
  readonly call: CallRow;
  readonly company: CompanyRow;
  readonly certificate: ClientCertificate;
  readonly recordedAt: Mark;
}

/** A call that may be made, before its row is written. */
export interface CallToBegin extends Pick<NewCall, 'kind' | 'fromNsu'> {
  readonly callId: string;
  readonly certificate: ClientCertificate;
  readonly service: ServiceRow;
  /** Default: that of distribution. */
  readonly asks?: ServiceKey;
  /** Writes the row and takes the lease. */
  readonly insert: (call: NewCall) => Promise<void>;
}

/** Takes the probe, if the service's pause is over and nobody has, and writes the call's row. */
export async function recordCall(
  { tx, row, company, now, recordedAt }: Opening,
  { callId, kind, fromNsu, certificate, service: pause, asks: service = serviceOf(row), insert }: CallToBegin,
): Promise<BegunCall | Refused<Extract<Refusal, { reason: 'paused' }>>> {
  const call = newCall(row, service, { callId, startedAt: now, kind, fromNsu });
  const probes = pause.pausedUntil !== null;
  if (probes && !(await takeProbe(tx, service, { callId, deadline: call.deadline, now }))) {
    return refused({ row, company }, await whileProbed(tx, service, now));
  }
  await insert(call);
  return { kind: 'begun', call: { ...call, ...UNANSWERED, isProbe: probes }, company, certificate, recordedAt };
}

const UNANSWERED = { status: 'open', outcome: null, statusCode: null, documents: 0, body: null } as const;

function newCall(
  row: CaptureRow,
  { service }: ServiceKey,
  { callId, ...call }: RememberedCall & { readonly callId: string },
): NewCall {
  const { companyId, documentType, environment } = row;
  return {
    companyId,
    documentType,
    environment,
    id: callId,
    service,
    ...call,
    deadline: call.startedAt + cadenceOf(documentType).callLimit + LEASE_GRACE,
    archiveKey: archiveKey(row, call.startedAt, callId),
  };
}

/**
 * Writes the row of a call again that an earlier attempt wrote and the database has lost in a failover: from here on it is settled like any
 * other whose process is gone. The caller has made sure that nothing else was asked since.
 */
export async function recordAgain(
  { row }: Opening,
  lost: RememberedCall & { readonly callId: string },
  insert: (call: NewCall) => Promise<void>,
): Promise<CallRow> {
  const call = newCall(row, serviceOf(row), lost);
  await insert(call);
  return { ...call, ...UNANSWERED, isProbe: false };
}

/**
 * Whether the database is where it was when the lost call began, so that the call can be taken up again. Behind that, it has lost more than
 * the call; beyond, somebody else's answer counts.
 */
export function isWhereItWas({ row }: Opening, asked: { readonly revision: number }, lost: RememberedCall): boolean {
  return asked.revision <= row.revision && (row.lastQueryAt ?? 0) <= lost.startedAt;
}

/** Another capture finds out whether the service answers again, or found just now that it does not. */
async function whileProbed(
  tx: Transaction,
  probed: ServiceKey,
  now: number,
): Promise<Extract<Refusal, { reason: 'paused' }>> {
  const service = await getService(tx, probed);
  const until =
    service.pausedUntil !== null && service.pausedUntil > now
      ? service.pausedUntil
      : Math.min(service.probeDeadline ?? now, now + PROBE_PATIENCE);
  return { reason: 'paused', until, spread: pauseLength(service) };
}

/** @throws ApplicationFailure `time_scale_mismatch` (retryable: a worker of the right scale may take it) */
function requireScale({ row }: Opening, ours: number): void {
  if (row.state.timeScale === ours) return;
  const { message, type } = scaleMismatch(row.state.timeScale, ours);
  throw ApplicationFailure.create({ message, type, nextRetryDelay: '1 minute' });
}
