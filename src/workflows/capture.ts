import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  log,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { QueryResult } from '../model/activity-contract.js';
import type { CaptureSnapshot } from '../model/capture-state.js';
import { compareNsu } from '../model/nsu.js';
import type { Phase } from '../model/words.js';
import { CallTurn } from './call-turn.js';
import { CaptureInbox } from './capture-inbox.js';
import { describe, type Plan, planQuery, planRefused, recoverySummary, timerSummary } from './capture-plan.js';
import { type Handover, handOver, noHandover } from './handover.js';
import { type CaptureInput, type CaptureStateAnswer, QUERIES, SIGNALS } from './messages.js';
import { PointDesk } from './point-desk.js';
import { recoveryCalls } from './point-proxies.js';
import { captureRow, governmentCalls } from './proxies.js';
import { afterRecovery, nextDispatch, recoveryDue, wasNotBegun } from './recovery.js';
import { publishIdentity, publishPhase } from './search-attributes.js';

const startSignal = defineSignal<[unknown]>(SIGNALS.start);
const stopSignal = defineSignal(SIGNALS.stop);
const resumeSignal = defineSignal(SIGNALS.resume);
const pauseSignal = defineSignal<[unknown]>(SIGNALS.pause);
const configureSignal = defineSignal(SIGNALS.configure);
const wakeSignal = defineSignal(SIGNALS.wake);
const stateQuery = defineQuery<CaptureStateAnswer>(QUERIES.state);

const HISTORY_LIMIT = 300;
/** Adopting the committed state this often in a row means that something else moves it: breathe before the next try. */
const STALE_LIMIT = 3;

/**
 * The capture of one company, document type and environment: asks, waits, and asks again, for years.
 *
 * It decides *when*; every rule about *whether* is kept by the guard in front of the wire, so nothing that is done to this workflow
 * (reset, terminate, a second copy) can break one. Its state is the committed one, adopted from every activity's answer.
 */
export async function capture(input: CaptureInput): Promise<void> {
  const key = input.capture;
  const inbox = new CaptureInbox();
  let snapshot: CaptureSnapshot | null = input.carried?.snapshot ?? null;
  let handover: Handover = input.carried?.handover ?? noHandover;
  let plan: Plan | null = null;
  let publishedPhase: Phase | null = input.carried?.publishedPhase ?? null;
  let staleInARow = 0;
  let recoveryNotBefore = input.carried?.recoveryNotBefore ?? 0;
  /** Pages and recovery take turns, so that neither waits for all of the other. */
  let recoveredLast = false;
  const turn = new CallTurn();
  const desk = new PointDesk({
    capture: key,
    turn,
    heartbeatTimeout: input.heartbeatTimeout,
    snapshot: () => snapshot,
    adopt: (read) => {
      if (!snapshot || read.revision <= snapshot.revision) return;
      snapshot = read;
      inbox.change();
    },
  });

  // All handlers before the first await: a signal without a handler is lost at continue-as-new.
  setHandler(startSignal, (argument) => ignoredIfNot(inbox.start(argument), SIGNALS.start));
  setHandler(stopSignal, () => inbox.stop());
  setHandler(resumeSignal, () => inbox.resume());
  setHandler(pauseSignal, (argument) => ignoredIfNot(inbox.pause(argument, Date.now()), SIGNALS.pause));
  setHandler(configureSignal, () => inbox.configure());
  setHandler(wakeSignal, () => inbox.wake());
  setHandler(stateQuery, () => ({ capture: key, snapshot, wakesAt: plan?.until ?? null }));
  desk.open();
  setDefaultSignalHandler((name) => log.warn('ignored a signal of unknown name', { signal: name }));

  // Cancelling from the UI is a stop: the call in hand is finished, the row is written, then the run completes.
  CancellationScope.current().cancelRequested.catch(() => inbox.stop());
  await CancellationScope.nonCancellable(run);

  async function run(): Promise<void> {
    for (;;) {
      const current = await readNews();
      if (!snapshot) publishIdentity(key, current);
      snapshot = current;
      if (inbox.wantsStop || !current.enabled) {
        if (await finish(current)) return;
        continue;
      }
      if (!inbox.hasNews && historyIsLong()) {
        await carryOn();
        continue;
      }
      const waiting = await handOverIfBehind(current);
      if (waiting === 'look again') continue;
      plan ??= waiting ?? planQuery(current, Date.now(), Math.random());
      show(current, plan);
      const recoverAt = waiting ? null : recoveryDue(current, recoveryNotBefore, Date.now());
      const recoveryIsDue = recoverAt !== null && recoverAt <= Date.now();
      const queryIsDue = plan.until !== null && plan.until <= Date.now();
      if (recoveryIsDue && !(queryIsDue && recoveredLast)) await recover();
      else if (queryIsDue) await query(current);
      else await wait(plan, recoverAt);
    }
  }

  /** One page. What a point query changed while this waited for its turn is looked at first. */
  async function query(current: CaptureSnapshot): Promise<void> {
    await turn.during(async () => {
      if (snapshot !== current) return;
      plan = null;
      recoveredLast = false;
      const call = governmentCalls(key, `distNSU ${current.state.ultNsu}`, input.heartbeatTimeout);
      adopt(await call.queryDistribution({ capture: key, ultNsu: current.state.ultNsu, revision: current.revision }));
    });
  }

  /** One missing number. */
  async function recover(): Promise<void> {
    recoveredLast = true;
    await turn.during(async () => {
      const { revision = 0 } = snapshot ?? {};
      try {
        const result = await recoveryCalls(key, input.heartbeatTimeout).recoverNext({ capture: key, revision });
        if (result.snapshot.revision !== revision) plan = null;
        snapshot = newest(snapshot, result.snapshot);
        recoveryNotBefore = afterRecovery(result, Date.now(), Math.random());
      } catch (error) {
        if (!wasNotBegun(error)) throw error;
        if (snapshot) recoveryNotBefore = nextDispatch(snapshot, Date.now());
      }
    });
  }

  /** Does what signals asked for, and gives the snapshot that holds afterwards. */
  async function readNews(): Promise<CaptureSnapshot> {
    if (inbox.takeChange()) plan = null;
    let current = snapshot;
    const start = inbox.takeStart();
    const reload = inbox.takeReload();
    if (start || reload || !current) {
      plan = null;
      const read = await captureRow(key, start?.enable ? 'enable' : 'read').openCapture({
        capture: key,
        ...(start?.enable ? { start: start.enable } : {}),
      });
      current = newest(snapshot, read);
    }
    if (inbox.takeResume()) {
      plan = null;
      handover = noHandover;
      current = newest(snapshot, await captureRow(key, 'resume').resumeCapture({ capture: key }));
    }
    const hold = inbox.takeHold();
    if (hold !== undefined) {
      plan = null;
      current = newest(snapshot, await captureRow(key, 'hold').holdCapture({ capture: key, until: hold }));
    }
    return current;
  }

  /** True when the run may complete: the row says stopped, and nobody asked for a start meanwhile. */
  async function finish(current: CaptureSnapshot): Promise<boolean> {
    if (inbox.wantsStop && current.enabled) {
      inbox.clearStop();
      const { closed, snapshot: after } = await captureRow(key, 'stop').closeCapture({
        capture: key,
        generation: current.generation,
      });
      snapshot = newest(snapshot, after);
      plan = null;
      if (!closed) return false;
    } else {
      inbox.clearStop();
    }
    await handlersDone();
    if (inbox.hasNews) {
      desk.closing = false;
      return false;
    }
    show(snapshot ?? current, { until: null, phase: 'stopped', reason: 'stopped' });
    return true;
  }

  async function handOverIfBehind(current: CaptureSnapshot): Promise<Plan | 'look again' | null> {
    if (!current.handler) return null;
    if (compareNsu(current.handedNsu, current.state.ultNsu) >= 0 && !current.late) return null;
    if (handover.notBefore > Date.now()) return { until: handover.notBefore, ...handover.shown };
    const result = await handOver(key, current, current.handler, handover);
    handover = result.handover;
    snapshot = newest(snapshot, result.snapshot);
    plan = null;
    if (result.stop) inbox.stop();
    return 'look again';
  }

  function adopt(result: QueryResult): void {
    const gapsAreNew = snapshot?.recovery === null && result.snapshot.recovery !== null;
    snapshot = newest(snapshot, result.snapshot);
    if (result.kind === 'committed') {
      staleInARow = 0;
      if (gapsAreNew) recoveryNotBefore = Math.max(recoveryNotBefore, nextDispatch(snapshot, Date.now()));
      return;
    }
    const { refusal } = result;
    if (refusal.reason !== 'stale') {
      plan = planRefused(refusal, result.snapshot, Date.now(), Math.random());
      return;
    }
    staleInARow += 1;
    if (staleInARow > STALE_LIMIT) {
      plan = { until: Date.now() + 60_000, phase: snapshot.state.phase, reason: 'the committed state keeps changing' };
    }
  }

  function show(current: CaptureSnapshot, next: Plan): void {
    setCurrentDetails(describe(current, next));
    if (publishedPhase !== next.phase) publishPhase(next.phase, current);
    publishedPhase = next.phase;
  }

  /** Until the plan's time, or until recovery is due if that comes first; news end it earlier. */
  async function wait(next: Plan, recoverAt: number | null): Promise<void> {
    const recoversFirst = recoverAt !== null && (next.until === null || recoverAt < next.until);
    const until = recoversFirst ? recoverAt : next.until;
    const hasNews = () => inbox.hasNews;
    if (until === null) {
      await condition(hasNews);
    } else {
      const summary = recoversFirst ? recoverySummary(recoverAt) : timerSummary(next);
      if (!(await condition(hasNews, Math.max(until - Date.now(), 1), { summary }))) {
        if (!recoversFirst) plan = { ...next, until: Date.now() };
        return;
      }
    }
    plan = null;
  }

  function historyIsLong(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    return continueAsNewSuggested || historyLength >= (input.historyLimit ?? HISTORY_LIMIT);
  }

  async function carryOn(): Promise<void> {
    await handlersDone();
    if (inbox.hasNews) {
      // What came while questions were being answered is done first.
      desk.closing = false;
      return;
    }
    if (!snapshot) return;
    await continueAsNew<typeof capture>({
      ...input,
      carried: { snapshot, handover, publishedPhase, recoveryNotBefore },
    });
  }

  /** No question is taken on from here; those that were get their turn, which nobody holds now. */
  async function handlersDone(): Promise<void> {
    desk.closing = true;
    await condition(allHandlersFinished);
    inbox.takeChange();
  }
}

/**
 * The snapshot to go on with. A database that is older than this run has lost what this run knows: its orders hold (stop, hold, handler),
 * its state does not, so that the guard gets to hear of it.
 */
function newest(known: CaptureSnapshot | null, read: CaptureSnapshot): CaptureSnapshot {
  if (!known || read.revision >= known.revision) return read;
  return { ...read, state: known.state, revision: known.revision };
}

function ignoredIfNot(understood: boolean, signal: string): void {
  if (!understood) log.warn('ignored a malformed signal argument', { signal });
}
