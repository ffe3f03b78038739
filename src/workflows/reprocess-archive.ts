import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import { FAILURES, TASK_QUEUES } from '../model/activity-contract.js';
import type { ArchiveActivities } from '../model/nightly-contract.js';
import type { ReprocessArchiveInput } from './messages.js';

/** Decodes one archive again. Band 5 of five: nobody is kept waiting by it. */
export function reprocessArchive(input: ReprocessArchiveInput): ReturnType<ArchiveActivities['decodeArchive']> {
  const { decodeArchive } = proxyActivities<ArchiveActivities>({
    taskQueue: TASK_QUEUES.background,
    startToCloseTimeout: '10 minutes',
    heartbeatTimeout: '1 minute',
    retry: {
      initialInterval: '1s',
      backoffCoefficient: 2,
      maximumInterval: '30s',
      nonRetryableErrorTypes: [FAILURES.companyUnknown],
    },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    priority: { priorityKey: 5, fairnessKey: input.capture.companyId },
    summary: 'decode an archive again',
  });
  return decodeArchive(input);
}
