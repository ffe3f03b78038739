import { ActivityCancellationType, type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import {
  type CaptureRowActivities,
  FAILURES,
  type GovernmentActivities,
  type HandoverPage,
  type HostAnswer,
  type HousekeepingActivities,
  TASK_QUEUES,
} from '../model/activity-contract.js';
import type { ManifestationActivities, ManifestationRowActivities } from '../model/manifestation-contract.js';
import type { CaptureKey, HostHandler } from '../model/words.js';

/** Our own database and object store are retried without limit: their failure never counts against a company. */
const RETRY_FOR_EVER = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' } as const;

/**
 * Band 3 of five: a first load and the live hours alike. The fairness key lets a company with two pages come between the hundred
 * pages of another (design.md section 5).
 */
const fairly = (capture: CaptureKey) => ({ priorityKey: 3, fairnessKey: capture.companyId });

/**
 * One government call. The heartbeat tells of a dead worker within 20 s. Cancellation waits for the call in hand: its answer counts
 * whether or not somebody still wants it. Eager dispatch would slip past the queue's rate limit.
 */
export function governmentCalls(capture: CaptureKey, summary: string, heartbeatTimeout = 20_000): GovernmentActivities {
  return proxyActivities<GovernmentActivities>({
    taskQueue: TASK_QUEUES[capture.documentType],
    startToCloseTimeout: '10 minutes',
    heartbeatTimeout,
    retry: RETRY_FOR_EVER,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    allowEagerDispatch: false,
    priority: fairly(capture),
    summary,
  });
}

/** One request to the event service. Band 1: a person waits for it, and it never competes with the pages of its own company. */
export function manifestationCalls(capture: CaptureKey, summary: string): ManifestationActivities {
  return proxyActivities<ManifestationActivities>({
    taskQueue: TASK_QUEUES[capture.documentType],
    startToCloseTimeout: '5 minutes',
    heartbeatTimeout: '20 seconds',
    retry: { ...RETRY_FOR_EVER, nonRetryableErrorTypes: [FAILURES.companyUnknown] },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    allowEagerDispatch: false,
    priority: { priorityKey: 1, fairnessKey: capture.companyId },
    summary,
  });
}

/** Writes down manifestations that came by signal. */
export function manifestationRows(capture: CaptureKey, summary: string): ManifestationRowActivities {
  return proxyActivities<ManifestationRowActivities>({
    taskQueue: TASK_QUEUES.background,
    startToCloseTimeout: '1 minute',
    retry: { ...RETRY_FOR_EVER, nonRetryableErrorTypes: [FAILURES.companyUnknown] },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    priority: { priorityKey: 1, fairnessKey: capture.companyId },
    summary,
  });
}

/** Short transactions on the capture's row. */
export function captureRow(capture: CaptureKey, summary: string): CaptureRowActivities {
  return proxyActivities<CaptureRowActivities>({
    taskQueue: TASK_QUEUES.background,
    startToCloseTimeout: '1 minute',
    retry: { ...RETRY_FOR_EVER, nonRetryableErrorTypes: [FAILURES.companyUnknown] },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    priority: fairly(capture),
    summary,
  });
}

/** The host's own activity on the host's own queue: retried for 15 minutes, then the capture says `handing-over`. */
export async function handToHost(handler: HostHandler, page: HandoverPage): Promise<HostAnswer | null> {
  const options: ActivityOptions = {
    taskQueue: handler.taskQueue,
    startToCloseTimeout: '5 minutes',
    scheduleToCloseTimeout: '15 minutes',
    retry: RETRY_FOR_EVER,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    priority: fairly(page.capture),
    summary: `hand over ${page.documents.length} documents up to ${page.ultNsu}`,
  };
  const host = proxyActivities<Record<string, (page: HandoverPage) => Promise<HostAnswer | null | undefined>>>(options);
  return (await host[handler.activity]?.(page)) ?? null;
}

/** Once a minute is retry enough: what is to be told stays in the database. */
export function mailing(): Pick<HousekeepingActivities, 'mailAlerts'> {
  return proxyActivities<Pick<HousekeepingActivities, 'mailAlerts'>>({
    taskQueue: TASK_QUEUES.background,
    startToCloseTimeout: '1 minute',
    scheduleToStartTimeout: '1 minute',
    retry: { maximumAttempts: 1 },
  });
}

export function housekeeping(): HousekeepingActivities {
  return proxyActivities<HousekeepingActivities>({
    taskQueue: TASK_QUEUES.background,
    startToCloseTimeout: '10 minutes',
    heartbeatTimeout: '1 minute',
    retry: { ...RETRY_FOR_EVER, maximumAttempts: 5 },
  });
}
