import { log, patched } from '@temporalio/workflow';
import type { HostAnswer } from '../model/activity-contract.js';
import type { CaptureSnapshot } from '../model/capture-state.js';
import { maxNsu, tryParseNsu } from '../model/nsu.js';
import type { CaptureKey, HostHandler, Phase } from '../model/words.js';
import { captureRow, handToHost } from './proxies.js';

const MINUTE = 60_000;
const ATTENTION_AFTER = 10;
const WAIT_MAX = 30 * MINUTE;

/** How handing pages to the host goes; carried through continue-as-new. */
export interface Handover {
  /** Rounds of 15 minutes in a row that the host did not take a page. */
  readonly failures: number;
  /** Next try, milliseconds. */
  readonly notBefore: number;
  readonly shown: { readonly phase: Phase; readonly reason: string };
}

/** Nothing went wrong yet. */
export const noHandover: Handover = { failures: 0, notBefore: 0, shown: { phase: 'waiting', reason: 'handing over' } };

interface HandoverResult {
  readonly snapshot: CaptureSnapshot;
  readonly handover: Handover;
  readonly stop: boolean;
}

/**
 * Hands the next page to the host's own activity, in NSU order, from the database: no government query is involved, so a host may
 * fall behind, or go back, as far as it likes (design.md section 5).
 */
export async function handOver(
  key: CaptureKey,
  current: CaptureSnapshot,
  handler: HostHandler,
  before: Handover,
): Promise<HandoverResult> {
  const what = current.late ? 'late documents' : `documents after ${current.handedNsu}`;
  const page = await captureRow(key, what).nextHandover({ capture: key });
  if (!page) {
    const handedNsu = maxNsu(current.handedNsu, current.state.ultNsu);
    return { snapshot: { ...current, handedNsu, late: false }, handover: before, stop: false };
  }
  try {
    const answer = await handToHost(handler, page);
    const snapshot = await captureRow(key, `host took ${page.ultNsu}`).recordHandover({
      capture: key,
      page: {
        ultNsu: page.ultNsu,
        ...(page.late && { late: true }),
        documents: page.documents.map(({ id }) => id),
      },
      answer,
    });
    const moved = page.late ? understood(answer) : snapshot.handedNsu !== current.handedNsu;
    if (!moved && !answer?.stop && patched('host-makes-no-progress')) {
      return refusedByHost(key, before, 'the host answers with a cursor that does not move on');
    }
    const healed =
      before.failures > 0
        ? await marked(key, snapshot.state.phase, 'waiting', 'the host takes pages again', false)
        : snapshot;
    return { snapshot: healed, handover: noHandover, stop: answer?.stop === true };
  } catch (error) {
    log.warn('the host did not take a page', {
      failures: before.failures + 1,
      error: error instanceof Error ? error.name : 'unknown',
    });
    return refusedByHost(key, before);
  }
}

/** Anything but a cursor that is none. */
const understood = (answer: HostAnswer | null) => answer?.ultNsu === undefined || tryParseNsu(answer.ultNsu) !== null;

async function refusedByHost(
  key: CaptureKey,
  before: Handover,
  why = 'the host has not taken a page for 15 minutes',
): Promise<HandoverResult> {
  const failures = before.failures + 1;
  const forPeople = failures >= ATTENTION_AFTER;
  const phase = forPeople ? 'attention' : 'handing-over';
  const reason = forPeople ? `the host has not taken a page ${failures} times in a row` : why;
  const snapshot = await marked(key, phase, phase, reason, true);
  const wait = forPeople ? 6 * 60 * MINUTE : Math.min(2 ** (failures - 1) * MINUTE, WAIT_MAX);
  return { snapshot, handover: { failures, notBefore: Date.now() + wait, shown: { phase, reason } }, stop: false };
}

function marked(
  key: CaptureKey,
  summary: string,
  phase: 'handing-over' | 'attention' | 'waiting',
  reason: string,
  open: boolean,
): Promise<CaptureSnapshot> {
  return captureRow(key, `mark ${summary}`).markCapture({
    capture: key,
    phase,
    reason,
    alert: { code: 'handler_unavailable', open },
  });
}
