import {
  OUTAGE_CAPTURES,
  OUTAGE_PAUSE_FIRST,
  OUTAGE_PAUSE_MAX,
  OUTAGE_WINDOW,
  STOPPING,
  scaled,
} from '../../cadence/index.js';
import { ALL_HELD_BACK, ANSWERED, HELD_BACK, HELD_BACK_MS, type Outcome } from '../../model/outcome.js';
import type { CaptureKey } from '../../model/words.js';
import type { CallRow } from '../../storage/calls.js';
import type { Transaction } from '../../storage/database.js';
import { lockService, otherFailures, type ServiceKey, type ServiceRow, writeService } from '../../storage/services.js';
import { pauseLength } from './guard.js';

/** What a capture asks in its sequence. */
export function serviceOf({ documentType, environment }: CaptureKey): ServiceKey {
  return { service: `${documentType}-distribution`, environment };
}

/** Notes of NFS-e by key: another host than that of distribution, which may be down by itself. */
export function noteServiceOf({ environment }: CaptureKey): ServiceKey {
  return { service: 'nfse-sefin', environment };
}

const keyOf = ({ service, environment }: CallRow): ServiceKey => ({ service, environment });

interface Ended {
  readonly call: CallRow;
  readonly outcome: Outcome;
  /** Milliseconds: when it ended. */
  readonly at: number;
  readonly timeScale: number;
  /** Milliseconds that the longest call may last. */
  readonly longestCall: number;
}

/** What a failure says about the service: nothing, or that it is down for everybody, so that it counts against nobody. */
export interface ServiceFailure {
  readonly outage: boolean;
  /** It was found to be down just now. */
  readonly found: boolean;
}

/** Calls that were not made, for reasons of our own: they say nothing about the service. */
const NOT_MADE: readonly string[] = [STOPPING, HELD_BACK, ALL_HELD_BACK];

const NOBODY_ELSE: ServiceFailure = { outage: false, found: false };

/**
 * After a call without an answer: pauses the service when five captures failed within ten minutes and none was answered, and
 * pauses it longer when it was a probe that failed. Call it before the cadence.
 */
export async function afterFailure(tx: Transaction, ended: Ended): Promise<ServiceFailure> {
  const { call, outcome, at, timeScale } = ended;
  if (outcome.kind === 'not_sent' && outcome.reason === ALL_HELD_BACK) return afterBreak(tx, ended);
  if (outcome.kind === 'not_sent' && NOT_MADE.includes(outcome.reason)) {
    if (call.isProbe) await releaseProbe(tx, call);
    return NOBODY_ELSE;
  }
  const failures = await otherFailures(tx, keyOf(call), {
    companyId: call.companyId,
    since: at - scaled(OUTAGE_WINDOW, timeScale),
    longestCall: ended.longestCall,
    enough: OUTAGE_CAPTURES - 1,
    ignoring: NOT_MADE,
  });
  const found = failures >= OUTAGE_CAPTURES - 1;
  if (!found && !call.isProbe) return NOBODY_ELSE;
  const service = await lockService(tx, keyOf(call));
  const probed = service.probeCallId === call.id;
  if (probed) await writeService(tx, keyOf(call), prolonged(service, at, timeScale));
  else if (found && service.pausedUntil === null) await writeService(tx, keyOf(call), outageFrom(at, timeScale));
  return { outage: found || probed, found: found && service.pausedUntil === null };
}

/**
 * One process had so many failures in a row that it asks no more: long before ten minutes without an answer are over, all processes leave
 * the service alone as long as that one does. The next probe finds out more; a probe that was itself held back leaves that to another.
 */
async function afterBreak(tx: Transaction, { call, at, timeScale }: Ended): Promise<ServiceFailure> {
  const service = await lockService(tx, keyOf(call));
  const pausedUntil = at + scaled(HELD_BACK_MS, timeScale);
  if (pausedUntil > (service.pausedUntil ?? 0)) {
    await writeService(tx, keyOf(call), { pausedFrom: at, pausedUntil, reason: service.reason ?? 'outage' });
  }
  return { outage: true, found: service.pausedUntil === null };
}

/** After an answer: a shutdown pauses the service; any other answer of a probe opens it. True: an outage is over. */
export async function afterAnswer(
  tx: Transaction,
  { call, outcome, at }: Omit<Ended, 'longestCall'>,
  shutDown: { readonly code: string; readonly until: number } | null,
): Promise<boolean> {
  if (!ANSWERED.has(outcome.kind) || !(shutDown || call.isProbe)) return false;
  const key = keyOf(call);
  const service = await lockService(tx, key);
  if (shutDown) {
    const pausedUntil = Math.max(shutDown.until, service.pausedUntil ?? 0);
    await writeService(tx, key, { pausedFrom: at, pausedUntil, reason: shutDown.code });
  } else if (service.probeCallId === call.id) {
    await writeService(tx, key, { pausedFrom: null, pausedUntil: null, reason: null });
  }
  return call.isProbe && service.reason === 'outage';
}

async function releaseProbe(tx: Transaction, call: CallRow): Promise<void> {
  const service = await lockService(tx, keyOf(call));
  if (service.probeCallId === call.id) await writeService(tx, keyOf(call), service);
}

function outageFrom(at: number, timeScale: number): Pick<ServiceRow, 'pausedFrom' | 'pausedUntil' | 'reason'> {
  return { pausedFrom: at, pausedUntil: at + scaled(OUTAGE_PAUSE_FIRST, timeScale), reason: 'outage' };
}

/** The probe got no answer: the same again, an outage twice as long as before. */
function prolonged(service: ServiceRow, at: number, timeScale: number): ReturnType<typeof outageFrom> {
  const longer = service.reason === 'outage' ? 2 * pauseLength(service) : 0;
  const wait = Math.min(Math.max(longer, scaled(OUTAGE_PAUSE_FIRST, timeScale)), scaled(OUTAGE_PAUSE_MAX, timeScale));
  return { pausedFrom: at, pausedUntil: at + wait, reason: service.reason };
}
