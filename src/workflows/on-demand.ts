import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import { TASK_QUEUES } from '../model/activity-contract.js';
import type { OnDemandActivities, OnDemandInput, OnDemandResult } from '../model/on-demand.js';

/** Asks for one document by its key, for somebody who waits. The guard, the lease and the archive are those of every other call. */
export function onDemand(input: OnDemandInput): Promise<OnDemandResult> {
  const { capture } = input;
  const { captureOnDemand } = proxyActivities<OnDemandActivities>({
    taskQueue: TASK_QUEUES[capture.documentType],
    startToCloseTimeout: '4 minutes',
    heartbeatTimeout: '20 seconds',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    allowEagerDispatch: false,
    // Band 1 of five: a person waits.
    priority: { priorityKey: 1, fairnessKey: capture.companyId },
    summary: 'one note by its key',
  });
  return captureOnDemand(input);
}
