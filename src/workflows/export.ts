import {
  ActivityCancellationType,
  type ActivityOptions,
  CancellationScope,
  continueAsNew,
  defineQuery,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { TASK_QUEUES } from '../model/activity-contract.js';
import type { ExportActivities, ExportInput, ExportRowActivities, TransferProgress } from '../model/export-contract.js';
import { QUERIES } from './messages.js';

/** Parts of one run: 100,000 documents are 50. Then it goes on in a new one, so that no export makes a long history. */
const PARTS_PER_RUN = 100;

/**
 * Writes the documents of a period into one ZIP, part by part. How far it is stands in the database, so that a run which is lost is taken up
 * by another one. Cancelling it removes what was written.
 */
export async function exportDocuments(input: ExportInput): Promise<void> {
  const { exportId } = input;
  const { openExport, dropExport } = rowsOf(input);
  const { writeExportPart, joinExport } = stepsOf(input);
  let progress: TransferProgress = { done: 0, total: null };
  setHandler(defineQuery<TransferProgress>(QUERIES.progress), () => progress);
  const show = (now: TransferProgress) => {
    progress = { done: now.done, total: now.total };
    setCurrentDetails(`${now.done} of ${now.total ?? 'an unknown number of'} documents are written.`);
  };
  let isWritten = false;
  try {
    const opened = await openExport({ exportId });
    if (opened === null) return await dropExport({ exportId, failed: false });
    show(opened);
    for (let parts = 0; parts < PARTS_PER_RUN && !isWritten; parts += 1) {
      const part = await writeExportPart({ exportId });
      if (part === null) return await dropExport({ exportId, failed: false });
      show(part);
      isWritten = !part.more;
    }
    if (isWritten) await joinExport({ exportId });
  } catch (error) {
    await CancellationScope.nonCancellable(() => dropExport({ exportId, failed: !isCancellation(error) }));
    throw error;
  }
  if (!isWritten) await continueAsNew<typeof exportDocuments>(input);
}

const OPTIONS = {
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const satisfies ActivityOptions;

function rowsOf({ companyId }: ExportInput): ExportRowActivities {
  return proxyActivities<ExportRowActivities>({
    ...OPTIONS,
    taskQueue: TASK_QUEUES.background,
    startToCloseTimeout: '2 minutes',
    priority: { priorityKey: 3, fairnessKey: companyId },
  });
}

/** Band 5 of five: every company's next step comes before another's hundredth. */
function stepsOf({ companyId }: ExportInput): ExportActivities {
  return proxyActivities<ExportActivities>({
    ...OPTIONS,
    taskQueue: TASK_QUEUES.bulk,
    startToCloseTimeout: '3 hours',
    heartbeatTimeout: '1 minute',
    priority: { priorityKey: 5, fairnessKey: companyId },
  });
}
