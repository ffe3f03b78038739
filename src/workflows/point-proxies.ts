import { ActivityCancellationType, type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import { FAILURES, type GovernmentActivities, TASK_QUEUES } from '../model/activity-contract.js';
import type { CaptureKey } from '../model/words.js';

/** As every government call: our own parts are retried without limit, the call in hand is waited for, no eager dispatch past the rate limit. */
const CALL: Pick<ActivityOptions, 'startToCloseTimeout' | 'retry' | 'cancellationType' | 'allowEagerDispatch'> = {
  startToCloseTimeout: '10 minutes',
  retry: {
    initialInterval: '1s',
    backoffCoefficient: 2,
    maximumInterval: '30s',
    nonRetryableErrorTypes: [FAILURES.companyUnknown],
  },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  allowEagerDispatch: false,
};

/** A question of a person, who waits for it: band 1 of five (design.md section 5). */
export function pointCalls(
  capture: CaptureKey,
  summary: string,
  heartbeatTimeout = 20_000,
): Pick<GovernmentActivities, 'queryPoint'> {
  return proxyActivities<Pick<GovernmentActivities, 'queryPoint'>>({
    ...CALL,
    taskQueue: TASK_QUEUES[capture.documentType],
    heartbeatTimeout,
    priority: { priorityKey: 1, fairnessKey: capture.companyId },
    summary,
  });
}

/**
 * The next recovery item: band 4. On a full queue it does not wait for long, because the pages of its own company wait behind it; not begun
 * within the minute, it fails and is due again later.
 */
export function recoveryCalls(
  capture: CaptureKey,
  heartbeatTimeout = 20_000,
): Pick<GovernmentActivities, 'recoverNext'> {
  return proxyActivities<Pick<GovernmentActivities, 'recoverNext'>>({
    ...CALL,
    taskQueue: TASK_QUEUES[capture.documentType],
    scheduleToStartTimeout: '1 minute',
    heartbeatTimeout,
    priority: { priorityKey: 4, fairnessKey: capture.companyId },
    summary: 'recover a missing number',
  });
}
