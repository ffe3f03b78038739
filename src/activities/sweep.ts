import type { HousekeepingActivities } from '../model/activity-contract.js';
import { ensureCallPartitions } from '../storage/call-partitions.js';
import { sweepRetention } from '../storage/retention.js';
import { beat } from './call-watch.js';
import { type ActivityDependencies, limitsOf } from './dependencies.js';
import { rebuilding } from './failures.js';

/** Days of the call log whose partitions stand before they are needed. */
const DAYS_AHEAD = 3;

/** Retention: forgets what is past its time, and makes the call log's next partitions. */
export function createSweep(deps: ActivityDependencies): HousekeepingActivities['sweep'] {
  return () => {
    const stopBeating = beat(limitsOf(deps).beat);
    return rebuilding(async () => {
      const now = await deps.clock.now();
      await ensureCallPartitions(deps.database, now, DAYS_AHEAD);
      const swept = await sweepRetention(deps.database, now);
      return { removed: Object.values(swept).reduce((sum, count) => sum + count, 0) };
    }).finally(stopBeating);
  };
}
