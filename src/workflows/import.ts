import {
  ActivityCancellationType,
  type ActivityOptions,
  CancellationScope,
  continueAsNew,
  defineQuery,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { TASK_QUEUES } from '../model/activity-contract.js';
import type { TransferProgress } from '../model/export-contract.js';
import type { ImportActivities, ImportInput, ImportRowActivities } from '../model/import-contract.js';
import { QUERIES } from './messages.js';

/** Steps of one run; each takes up to 20 s. */
const STEPS_PER_RUN = 100;

/** Works off an upload, step by step. How far it is stands in the database, so that a run which is lost is taken up by another one. */
export async function importDocuments(input: ImportInput): Promise<void> {
  const { importId } = input;
  const { closeImport } = rowsOf(input);
  const { openImport, importFiles } = stepsOf(input);
  let progress: TransferProgress = { done: 0, total: null };
  setHandler(defineQuery<TransferProgress>(QUERIES.progress), () => progress);
  let isDone = false;
  try {
    const opened = await openImport({ importId });
    isDone = opened === null;
    for (let steps = 0; steps < STEPS_PER_RUN && !isDone; steps += 1) {
      const worked = await importFiles({ importId });
      if (worked !== null) progress = { done: worked.done, total: worked.total };
      setCurrentDetails(`${progress.done} of ${progress.total} files are worked off.`);
      isDone = worked === null || !worked.more;
    }
    if (isDone) await closeImport({ importId, failed: false });
  } catch (error) {
    await CancellationScope.nonCancellable(() => closeImport({ importId, failed: true }));
    throw error;
  }
  if (!isDone) await continueAsNew<typeof importDocuments>(input);
}

const OPTIONS = {
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const satisfies ActivityOptions;

function rowsOf({ companyId }: ImportInput): ImportRowActivities {
  return proxyActivities<ImportRowActivities>({
    ...OPTIONS,
    taskQueue: TASK_QUEUES.background,
    startToCloseTimeout: '2 minutes',
    priority: { priorityKey: 3, fairnessKey: companyId },
  });
}

/** Band 5 of five: every company's next step comes before another's hundredth. */
function stepsOf({ companyId }: ImportInput): ImportActivities {
  return proxyActivities<ImportActivities>({
    ...OPTIONS,
    taskQueue: TASK_QUEUES.bulk,
    startToCloseTimeout: '30 minutes',
    heartbeatTimeout: '1 minute',
    priority: { priorityKey: 5, fairnessKey: companyId },
  });
}
