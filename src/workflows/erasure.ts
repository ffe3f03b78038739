import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { TASK_QUEUES } from '../model/activity-contract.js';
import type { ErasureActivities, ErasureStep } from '../model/erasure-contract.js';
import { type ErasureInput, SIGNALS } from './messages.js';

/** Parts of one run; then it goes on in a new one. */
const PARTS_PER_RUN = 100;

const wakeSignal = defineSignal(SIGNALS.wake);

/**
 * The deletion of one company: waits for the end of the grace and for calls in the air, then deletes part after part. What is left to do
 * stands in the database, so a run that is lost is simply started again (housekeeping does). `wake`: the deletion was hurried, or taken back.
 */
export async function erasure({ companyId }: ErasureInput): Promise<void> {
  let woken = false;
  setHandler(wakeSignal, () => {
    woken = true;
  });
  const { eraseCompany } = proxyActivities<ErasureActivities>({
    taskQueue: TASK_QUEUES.background,
    // Deleting by prefix cannot be divided: a company of ten years may have a million objects.
    startToCloseTimeout: '6 hours',
    heartbeatTimeout: '1 minute',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
    priority: { priorityKey: 5, fairnessKey: companyId },
    summary: 'delete the next part',
  });
  for (let part = 0; part < PARTS_PER_RUN; part++) {
    woken = false;
    const step = await eraseCompany({ companyId });
    setCurrentDetails(told(step));
    if (step.kind === 'over') return;
    if (step.kind === 'waits') await condition(() => woken, Math.max(step.until - Date.now(), 1));
  }
  await continueAsNew<typeof erasure>({ companyId });
}

function told(step: ErasureStep): string {
  switch (step.kind) {
    case 'waits': {
      const until = new Date(step.until).toISOString();
      return step.why === 'grace'
        ? `Waits until ${until}: the deletion can still be taken back.`
        : `Waits for a government call in the air, looks again at ${until}.`;
    }
    case 'goes_on':
      return `Deleted so far: ${step.rows} rows, ${step.objects} objects.`;
    case 'over':
      return 'Nothing is left to do.';
  }
}
