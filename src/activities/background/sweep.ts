import type { HousekeepingActivities } from '../../model/activity-contract.js';
import { ensureCallPartitions } from '../../storage/call-partitions.js';
import { erasedSince } from '../../storage/erasures.js';
import { expiredExports, exportPrefix, markExpired } from '../../storage/exports.js';
import { companyPrefix } from '../../storage/object-store/index.js';
import { sweepRetention } from '../../storage/retention.js';
import { beat } from '../call/call-watch.js';
import { type ActivityDependencies, limitsOf } from '../dependencies.js';
import { rebuilding } from '../failures.js';

/** Days of the call log whose partitions stand before they are needed. */
const DAYS_AHEAD = 3;
/** Days runs overlap, so that a missed one leaves nothing. */
const LATE = 7 * 86_400_000;

/** The files of exports, when their time is over. */
async function deleteExpiredExports({ database, objectStore }: ActivityDependencies, now: number): Promise<void> {
  for (const row of await expiredExports(database, now)) {
    await objectStore.deletePrefix(exportPrefix(row));
    await markExpired(database, row.id);
  }
}

/** Retention: forgets what is past its time, and makes the call log's next partitions. */
export function createSweep(deps: ActivityDependencies): HousekeepingActivities['sweep'] {
  return () => {
    const stopBeating = beat(limitsOf(deps).beat);
    return rebuilding(async () => {
      const now = await deps.clock.now();
      await ensureCallPartitions(deps.database, now, DAYS_AHEAD);
      // What an answer or an export that came late has left behind after its company was deleted.
      for (const id of await erasedSince(deps.database, now - LATE))
        await deps.objectStore.deletePrefix(companyPrefix(id));
      await deleteExpiredExports(deps, now);
      const swept = await sweepRetention(deps.database, now);
      return { removed: Object.values(swept).reduce((sum, count) => sum + count, 0) };
    }).finally(stopBeating);
  };
}
