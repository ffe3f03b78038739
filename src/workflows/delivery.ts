import {
  ActivityCancellationType,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  log,
  proxyActivities,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { type DeliveryActivities, TASK_QUEUES } from '../model/activity-contract.js';
import { type DeliveryInput, SIGNALS } from './messages.js';

const wakeSignal = defineSignal(SIGNALS.wake);

const HISTORY_LIMIT = 300;
/** With nothing pending it looks again this often, so that a wake that got lost costs a minute, not an hour … */
const IDLE_LOOK_MS = 60_000;
/** … and completes after so many looks in vain. The next event starts it anew. */
const IDLE_LOOKS = 10;
/** Least wait when something is said to be due and nothing was sent: Temporal's clock runs ahead of the database's. */
const CLOCK_SKEW_MS = 1_000;

/**
 * Sends the webhooks of one endpoint. It holds nothing: what is due stands in the database, and this workflow is the engine that
 * sends, waits until the next is due, and can be started again at any time.
 */
export async function delivery(input: DeliveryInput): Promise<void> {
  const { endpointId, historyLimit = HISTORY_LIMIT } = input;
  let woken = false;
  let idleLooks = input.idleLooks ?? 0;

  // Before the first await: a signal without a handler is lost at continue-as-new.
  setHandler(wakeSignal, () => {
    woken = true;
  });
  setDefaultSignalHandler((name) => log.warn('ignored a signal of unknown name', { signal: name }));

  const { deliverDue } = proxyActivities<DeliveryActivities>({
    taskQueue: TASK_QUEUES.webhooks,
    startToCloseTimeout: '2 minutes',
    heartbeatTimeout: '20 seconds',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    priority: { priorityKey: 3, fairnessKey: endpointId },
    summary: 'send what is due',
  });

  for (;;) {
    if (historyIsLong()) {
      await condition(allHandlersFinished);
      // A wake that came meanwhile is not passed on: the new run begins by looking.
      await continueAsNew<typeof delivery>({ ...input, idleLooks });
    }
    // A wake from here on is about something that the activity may have missed.
    woken = false;
    setCurrentDetails('Sending what is due.');
    const { attempts, nextDueAt, gone } = await deliverDue({ endpointId });
    if (attempts > 0) idleLooks = 0;
    if (woken) continue;
    if (gone || (nextDueAt === null && idleLooks >= IDLE_LOOKS)) {
      await condition(allHandlersFinished);
      if (woken) continue;
      setCurrentDetails(gone ? 'The endpoint is disabled or deleted: nothing is sent.' : 'Everything is sent.');
      return;
    }
    if (nextDueAt === null) {
      idleLooks += 1;
      await sleepUntilWoken(IDLE_LOOK_MS, 'Nothing is pending');
    } else {
      idleLooks = 0;
      await sleepUntilWoken(Math.max(nextDueAt - Date.now(), attempts > 0 ? 0 : CLOCK_SKEW_MS), 'Next message is due');
    }
    if (woken) idleLooks = 0;
  }

  async function sleepUntilWoken(ms: number, why: string): Promise<void> {
    if (ms <= 0) return;
    const until = new Date(Date.now() + ms).toISOString();
    setCurrentDetails(`${why}: waits until ${until}, or until woken.`);
    await condition(() => woken, ms, { summary: `${why.toLowerCase()}: until ${until}` });
  }

  function historyIsLong(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    return continueAsNewSuggested || historyLength >= historyLimit;
  }
}
