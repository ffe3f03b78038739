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
import { CaptureInbox } from './capture-inbox.js';
import { describe, type Plan, planQuery, planRefused, timerSummary } from './capture-plan.js';
import { type Handover, handOver, noHandover } from './handover.js';
import { type CaptureInput, type CaptureStateAnswer, QUERIES, SIGNALS } from './messages.js';
import { captureRow, governmentCalls } from './proxies.js';
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

  // All handlers before the first await: a signal without a handler is lost at continue-as-new.
  setHandler(startSignal, (argument) => ignoredIfNot(inbox.start(argument), SIGNALS.start));
  setHandler(stopSignal, () => inbox.stop());
  setHandler(resumeSignal, () => inbox.resume());
  setHandler(pauseSignal, (argument) => ignoredIfNot(inbox.pause(argument, Date.now()), SIGNALS.pause));
  setHandler(configureSignal, () => inbox.configure());
  setHandler(wakeSignal, () => inbox.wake());
  setHandler(stateQuery, () => ({ capture: key, snapshot, wakesAt: plan?.until ?? null }));
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
      if (!inbox.hasNews && historyIsLong()) await carryOn();
      const waiting = await handOverIfBehind(current);
      if (waiting === 'look again') continue;
      plan ??= waiting ?? planQuery(current, Date.now(), Math.random());
      show(current, plan);
      if (plan.until === null || plan.until > Date.now()) {
        await wait(plan);
        continue;
      }
      plan = null;
      const call = governmentCalls(key, `distNSU ${current.state.ultNsu}`, input.heartbeatTimeout);
      adopt(await call.queryDistribution({ capture: key, ultNsu: current.state.ultNsu, revision: current.revision }));
    }
  }

  /** Does what signals asked for, and gives the snapshot that holds afterwards. */
  async function readNews(): Promise<CaptureSnapshot> {
    let current = snapshot;
    const start = inbox.takeStart();
    const reload = inbox.takeReload();
    if (start || reload || !current) {
      plan = null;
      current = await captureRow(key, start?.enable ? 'enable' : 'read').openCapture({
        capture: key,
        ...(start?.enable ? { start: start.enable } : {}),
      });
    }
    if (inbox.takeResume()) {
      plan = null;
      handover = noHandover;
      current = await captureRow(key, 'resume').resumeCapture({ capture: key });
    }
    const hold = inbox.takeHold();
    if (hold !== undefined) {
      plan = null;
      current = await captureRow(key, 'hold').holdCapture({ capture: key, until: hold });
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
      snapshot = after;
      plan = null;
      if (!closed) return false;
    } else {
      inbox.clearStop();
    }
    await condition(allHandlersFinished);
    if (inbox.hasNews) return false;
    show(snapshot ?? current, { until: null, phase: 'stopped', reason: 'stopped' });
    return true;
  }

  async function handOverIfBehind(current: CaptureSnapshot): Promise<Plan | 'look again' | null> {
    if (!current.handler || compareNsu(current.handedNsu, current.state.ultNsu) >= 0) return null;
    if (handover.notBefore > Date.now()) return { until: handover.notBefore, ...handover.shown };
    const result = await handOver(key, current, current.handler, handover);
    handover = result.handover;
    snapshot = result.snapshot;
    plan = null;
    if (result.stop) inbox.stop();
    return 'look again';
  }

  function adopt(result: QueryResult): void {
    snapshot = result.snapshot;
    if (result.kind === 'committed') {
      staleInARow = 0;
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

  async function wait(next: Plan): Promise<void> {
    if (next.until === null) {
      await condition(() => inbox.hasNews);
    } else if (
      !(await condition(() => inbox.hasNews, Math.max(next.until - Date.now(), 1), { summary: timerSummary(next) }))
    ) {
      plan = { ...next, until: Date.now() };
      return;
    }
    plan = null;
  }

  function historyIsLong(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    return continueAsNewSuggested || historyLength >= (input.historyLimit ?? HISTORY_LIMIT);
  }

  async function carryOn(): Promise<void> {
    await condition(allHandlersFinished);
    if (!snapshot) return;
    await continueAsNew<typeof capture>({ ...input, carried: { snapshot, handover, publishedPhase } });
  }
}

function ignoredIfNot(understood: boolean, signal: string): void {
  if (!understood) log.warn('ignored a malformed signal argument', { signal });
}
