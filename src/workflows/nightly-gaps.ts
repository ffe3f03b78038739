import { ActivityCancellationType, continueAsNew, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import { TASK_QUEUES } from '../model/activity-contract.js';
import type { NightlyActivities, NightlyTotals } from '../model/nightly-contract.js';
import type { NightlyGapsInput } from './messages.js';

/** Activities of one run; then it goes on in a new one, so that 100,000 captures make no long history. */
const BATCHES_PER_RUN = 50;
const NOTHING: NightlyTotals = { captures: 0, found: 0, reopened: 0, expired: 0 };

/**
 * Looks over all active captures, batch after batch in the order of their keys, for numbers that are missing. Started by the Schedule
 * `nightly-gaps` and by `malote gaps run`; two at once do no harm, since every step is the same the second time.
 */
export async function nightlyGaps({ after = null, totals = NOTHING }: NightlyGapsInput = {}): Promise<NightlyTotals> {
  const { lookForGaps } = proxyActivities<NightlyActivities>({
    taskQueue: TASK_QUEUES.background,
    startToCloseTimeout: '10 minutes',
    heartbeatTimeout: '1 minute',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    priority: { priorityKey: 4 },
    summary: 'look for missing numbers',
  });
  let sum = totals;
  let next = after;
  for (let batch = 0; batch < BATCHES_PER_RUN; batch++) {
    const found = await lookForGaps({ after: next });
    sum = {
      captures: sum.captures + found.captures,
      found: sum.found + found.found,
      reopened: sum.reopened + found.reopened,
      expired: sum.expired + found.expired,
    };
    setCurrentDetails(
      `Looked over ${sum.captures} captures: ${sum.found} ranges missing, ${sum.reopened} items due again, ${sum.expired} given up.`,
    );
    next = found.next;
    if (next === null) return sum;
  }
  return continueAsNew<typeof nightlyGaps>({ after: next, totals: sum });
}
