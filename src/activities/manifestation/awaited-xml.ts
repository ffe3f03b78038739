import type { HousekeepingActivities } from '../../model/activity-contract.js';
import type { CaptureKey } from '../../model/words.js';
import { capturesAwaitingXml, closeOverdueXml, markOverdueXml } from '../../storage/awaited-xml.js';
import { lockCapture } from '../../storage/captures.js';
import { getCompany } from '../../storage/companies.js';
import { beat } from '../call/call-watch.js';
import { limitsOf } from '../dependencies.js';
import { rebuilding } from '../failures.js';
import { Announcements } from '../page/announcements.js';
import type { ManifestationDependencies } from './manifestation-dependencies.js';

type Parts = Pick<ManifestationDependencies, 'database' | 'clock' | 'wakeEndpoints' | 'limits'>;

/** Captures looked at in one go; the next minute takes the next. */
const BATCH = 500;

/**
 * Two days after its manifestation the whole document should have come, by distribution only: the government is never asked for it by key
 * without a person's word. Says so in its summary, and once to the customer.
 */
export function createWatchAwaitedXml(deps: Parts): Pick<HousekeepingActivities, 'watchAwaitedXml'> {
  return {
    watchAwaitedXml: () => {
      const stopBeating = beat(limitsOf(deps).beat);
      return rebuilding(async () => {
        const now = await deps.clock.now();
        let overdue = 0;
        for (const capture of await capturesAwaitingXml(deps.database, now, BATCH)) {
          overdue += await markOne(deps, capture, now);
        }
        await closeOverdueXml(deps.database, now);
        return { overdue };
      }).finally(stopBeating);
    },
  };
}

async function markOne(deps: Parts, capture: CaptureKey, now: number): Promise<number> {
  const { overdue, wake } = await deps.database.transaction(async (tx) => {
    // The order of locks of everybody who changes documents.
    await lockCapture(tx, capture);
    const overdue = await markOverdueXml(tx, capture, now);
    const company = await getCompany(tx, capture.companyId);
    if (overdue === 0 || !company) return { overdue, wake: [] };
    const announcements = new Announcements(tx, capture, company, now);
    await announcements.open(
      'full_xml_overdue',
      `the whole document of ${overdue === 1 ? 'a note' : `${overdue} notes`} has not come two days after the manifestation; see documents with fullXml=overdue`,
    );
    return { overdue, wake: await announcements.publish() };
  });
  deps.wakeEndpoints(wake);
  return overdue;
}
