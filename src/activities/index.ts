import { decodeItem } from '../documents/index.js';
import type { CaptureRowActivities, GovernmentActivities, HousekeepingActivities } from '../model/activity-contract.js';
import type { ArchiveActivities } from '../model/nightly-contract.js';
import type { OnDemandActivities } from '../model/on-demand.js';
import { createCaptureRowActivities } from './capture-row.js';
import { createDecodeArchive } from './decode-archive.js';
import { createDecodeFailedItems } from './decode-failed-items.js';
import type { ActivityDependencies, CallContext } from './dependencies.js';
import { createReleaseHeld } from './held-webhooks.js';
import { createMakePdfs } from './make-pdfs.js';
import { createOnDemand } from './on-demand.js';
import { createQueryDistribution } from './query-distribution.js';
import { createPointQueries } from './query-point.js';
import { createSweep } from './sweep.js';

export type {
  ActivityDependencies,
  CallObserver,
  DistributionQuestion,
  DistributionService,
  Failpoint,
  TransactionClock,
} from './dependencies.js';

export { distributionService } from './distribution-service.js';
export { nfseService } from './nfse-service.js';

/** By the queue that they are served on; `government` on the queue of its document type. */
export interface Activities {
  readonly captureRow: CaptureRowActivities;
  readonly government: GovernmentActivities & OnDemandActivities;
  readonly archives: ArchiveActivities;
  readonly housekeeping: Pick<HousekeepingActivities, 'decodeFailedItems' | 'releaseHeld' | 'makePdfs' | 'sweep'>;
}

/** Makes the activities of one worker process. */
export function createActivities(deps: ActivityDependencies): Activities {
  const context: CallContext = { ...deps, decodeItem: deps.decodeItem ?? decodeItem, clocksDiffer: new Map() };
  return {
    captureRow: createCaptureRowActivities(context),
    government: {
      queryDistribution: createQueryDistribution(context),
      ...createPointQueries(context),
      ...createOnDemand(context),
    },
    archives: { decodeArchive: createDecodeArchive(context) },
    housekeeping: {
      decodeFailedItems: createDecodeFailedItems(context),
      releaseHeld: createReleaseHeld(context),
      makePdfs: createMakePdfs(context),
      sweep: createSweep(context),
    },
  };
}
