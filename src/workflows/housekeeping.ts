import type { HousekeepingInput } from './messages.js';
import { housekeeping as activities } from './proxies.js';

/**
 * Heals what got lost: terminated runs, lost signals, a lost Temporal. Started by the Schedules `housekeeping-minute`, `-hour` and
 * `-day` (overlap: skip).
 */
export async function housekeeping(input: HousekeepingInput): Promise<void> {
  const { startOverdue, decodeFailedItems, releaseHeld, watchAwaitedXml, sweep } = activities();
  switch (input.every) {
    case 'minute':
      await startOverdue();
      await decodeFailedItems();
      await releaseHeld();
      await watchAwaitedXml();
      return;
    case 'hour':
      return;
    case 'day':
      await sweep();
      return;
  }
}
