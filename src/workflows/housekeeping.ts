import { isCancellation } from '@temporalio/workflow';
import type { HousekeepingInput } from './messages.js';
import { housekeeping as activities, mailing } from './proxies.js';

/**
 * Heals what got lost: terminated runs, lost signals, a lost Temporal. Started by the Schedules `housekeeping-minute`, `-hour` and
 * `-day` (overlap: skip).
 */
export async function housekeeping(input: HousekeepingInput): Promise<void> {
  const { startOverdue, decodeFailedItems, releaseHeld, watchAwaitedXml, watchAlerts, makePdfs, sweep } = activities();
  switch (input.every) {
    case 'minute':
      await inTurn(
        startOverdue,
        decodeFailedItems,
        releaseHeld,
        watchAwaitedXml,
        () => watchAlerts({ every: 'minute' }),
        // Last, since they may take their time: a mail server, and as many pages as a first load brings.
        mailing().mailAlerts,
        makePdfs,
      );
      return;
    case 'hour':
      await watchAlerts({ every: 'hour' });
      return;
    case 'day':
      await sweep();
      return;
  }
}

/** One that fails for long does not keep the others from their turn; its failure is the run's. */
async function inTurn(...works: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const work of works) {
    try {
      await work();
    } catch (error) {
      if (isCancellation(error)) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
