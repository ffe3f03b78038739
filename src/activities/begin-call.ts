import { ApplicationFailure } from '@temporalio/activity';
import { cadenceOf, LEASE_GRACE } from '../cadence/index.js';
import type { ClientCertificate } from '../government/types.js';
import type { Refusal } from '../model/activity-contract.js';
import type { CaptureSnapshot, CaptureState } from '../model/capture-state.js';
import type { Nsu } from '../model/nsu.js';
import type { CaptureKey } from '../model/words.js';
import { type CallRow, findCalls, insertDistributionCall } from '../storage/calls.js';
import { type CaptureRow, snapshotOf } from '../storage/capture-rows.js';
import { commitState, lockCapture } from '../storage/captures.js';
import { usableCertificate } from '../storage/certificates.js';
import { type CompanyRow, getCompany } from '../storage/companies.js';
import type { Transaction } from '../storage/database.js';
import { archiveKey } from '../storage/object-store/index.js';
import { getService, takeProbe } from '../storage/services.js';
import { Announcements } from './announcements.js';
import { type Mark, mark } from './call-watch.js';
import type { ActivityDependencies } from './dependencies.js';
import { captureUnknown, leaseTaken, scaleMismatch } from './failures.js';
import { judge, pauseLength } from './guard.js';
import { serviceOf } from './service-pause.js';

export interface BeginInput {
  readonly capture: CaptureKey;
  readonly ultNsu: Nsu;
  readonly revision: number;
  /** Shared by all attempts of one activity. */
  readonly callId: string;
  /** The unknown call whose object was looked for, in vain. */
  readonly searched: string | null;
}

export type Begun =
  /** The row is committed and the lease is ours: the one way to the wire. */
  | {
      readonly kind: 'begun';
      readonly call: CallRow;
      readonly ultNsu: Nsu;
      readonly company: CompanyRow;
      readonly certificate: ClientCertificate;
      readonly recordedAt: Mark;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly snapshot: CaptureSnapshot; readonly wake: string[] }
  /** An earlier attempt of this activity wrote the row: it is settled, never called again. */
  | { readonly kind: 'recorded'; readonly call: CallRow }
  /** Another activity's call has no end yet, or ended unknown: settle it, or look for its answer, first. */
  | { readonly kind: 'unsettled'; readonly call: CallRow };

const DAY = 86_400_000;
/** A refused capture looks again this soon while another one's probe is in the air. */
const PROBE_PATIENCE = 30_000;

/**
 * Asks the guard and, if it lets the call through, writes its row: one short transaction under the lock of the capture's row.
 *
 * @throws when the outcome of the commit is in doubt, too: the next attempt finds the row and does not call
 * @throws ApplicationFailure `lease_taken` (retryable) · `company_unknown` (non-retryable) · `time_scale_mismatch` (retryable)
 */
export function beginCall(deps: ActivityDependencies, input: BeginInput): Promise<Begun> {
  return deps.database.transaction((tx) => begin(deps, tx, input));
}

async function begin(deps: ActivityDependencies, tx: Transaction, input: BeginInput): Promise<Begun> {
  const row = await lockCapture(tx, input.capture);
  if (!row) throw captureUnknown('capture');
  // Read now, not before: waiting for the lock takes time.
  const now = await deps.clock.now(tx);
  const recordedAt = mark();
  const earlier = await earlierCall(tx, row, input, now);
  if (earlier) return earlier;

  const company = await getCompany(tx, row.companyId);
  if (!company) throw captureUnknown('company');
  const service = serviceOf(row);
  const pause = await getService(tx, service);
  const usable = await usableCertificate(tx, company, now);
  const verdict = judge({ asked: input, row, company, service: pause, certificate: usable, now });
  if (verdict.refusal?.reason === 'certificate') {
    return refuseForCertificate(tx, row, company, verdict.refusal, now);
  }
  const current = usable.ok && row.phase === 'certificate' ? await leaveCertificatePhase(tx, row, company, now) : row;
  if (verdict.refusal) return refused(current, company, verdict.refusal);
  if (row.state.timeScale !== deps.timeScale) throw otherScale(row.state, deps.timeScale);

  const limit = cadenceOf(row.documentType).callLimit;
  const deadline = now + limit + LEASE_GRACE;
  const certificate = deps.openCertificate(verdict.certificate);
  const probes = pause.pausedUntil !== null;
  if (probes && !(await takeProbe(tx, service, { callId: input.callId, deadline, now }))) {
    return refused(current, company, await whileProbed(tx, row, now));
  }
  const call = {
    companyId: row.companyId,
    documentType: row.documentType,
    environment: row.environment,
    id: input.callId,
    startedAt: now,
    service: service.service,
    kind: 'distNSU',
    fromNsu: row.state.ultNsu,
    deadline,
    archiveKey: archiveKey(row, now, input.callId),
  };
  await insertDistributionCall(tx, call);
  const unanswered = { status: 'open', outcome: null, statusCode: null, documents: 0, body: null } as const;
  return {
    kind: 'begun',
    call: { ...call, ...unanswered, isProbe: probes },
    ultNsu: row.state.ultNsu,
    company,
    certificate,
    recordedAt,
  };
}

/** A call that comes before this one: our own from an earlier attempt, one that holds the lease, or one whose end is not known. */
async function earlierCall(
  tx: Transaction,
  row: CaptureRow,
  { callId, searched }: BeginInput,
  now: number,
): Promise<Begun | null> {
  const since = Math.min(now, row.callDeadline ?? now, row.lastQueryAt ?? now) - 2 * DAY;
  const ids = [callId, row.callId, row.distributionCallId].filter((id) => id !== null);
  const calls = new Map((await findCalls(tx, ids, since)).map((call) => [call.id, call]));

  const own = calls.get(callId);
  if (own) return { kind: 'recorded', call: own };
  if (row.callDeadline !== null && row.callDeadline > now) throw leaseTaken(row.callDeadline - now);
  const last = calls.get(row.callId ?? '');
  if (last?.status === 'open') return { kind: 'unsettled', call: last };
  const lastDistribution = calls.get(row.distributionCallId ?? '');
  if (lastDistribution?.status === 'unknown' && lastDistribution.id !== searched) {
    return { kind: 'unsettled', call: lastDistribution };
  }
  return null;
}

function refused(row: CaptureRow, company: CompanyRow, refusal: Refusal, wake: string[] = []): Begun {
  return { kind: 'refused', refusal, snapshot: snapshotOf(row, company), wake };
}

/** Says so in the row, and to the customer once: the capture goes on by itself as soon as a usable certificate is stored. */
async function refuseForCertificate(
  tx: Transaction,
  row: CaptureRow,
  company: CompanyRow,
  refusal: Extract<Refusal, { reason: 'certificate' }>,
  now: number,
): Promise<Begun> {
  const reason = `certificate ${refusal.problem.replaceAll('_', ' ')}`;
  if (row.phase === 'certificate' && row.state.reason === reason) return refused(row, company, refusal);
  const marked = await commitState(tx, row, { ...row.state, phase: 'certificate', reason }, { now });
  const announcements = new Announcements(tx, row, company, now);
  await announcements.open('certificate_expired', `no call is made: ${reason}`);
  return refused(marked ?? row, company, refusal, await announcements.publish());
}

async function leaveCertificatePhase(
  tx: Transaction,
  row: CaptureRow,
  company: CompanyRow,
  now: number,
): Promise<CaptureRow> {
  await new Announcements(tx, row, company, now).close('certificate_expired');
  const state: CaptureState = { ...row.state, phase: 'waiting', reason: 'a usable certificate is stored' };
  return (await commitState(tx, row, state, { now })) ?? row;
}

/** Another capture finds out whether the service answers again, or found just now that it does not. */
async function whileProbed(tx: Transaction, row: CaptureRow, now: number): Promise<Refusal> {
  const service = await getService(tx, serviceOf(row));
  const until =
    service.pausedUntil !== null && service.pausedUntil > now
      ? service.pausedUntil
      : Math.min(service.probeDeadline ?? now, now + PROBE_PATIENCE);
  return { reason: 'paused', until, spread: pauseLength(service) };
}

function otherScale(state: CaptureState, ours: number): ApplicationFailure {
  const { message, type } = scaleMismatch(state.timeScale, ours);
  return ApplicationFailure.create({ message, type, nextRetryDelay: '1 minute' });
}
