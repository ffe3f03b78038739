import { decodeItem } from '../documents/index.js';
import type { CaptureRowActivities, GovernmentActivities, HousekeepingActivities } from '../model/activity-contract.js';
import type { ArchiveActivities } from '../model/nightly-contract.js';
import type { OnDemandActivities } from '../model/on-demand.js';
import { createMakePdfs } from './background/make-pdfs.js';
import { createSweep } from './background/sweep.js';
import { createCaptureRowActivities } from './call/capture-row.js';
import type { ActivityDependencies, CallContext } from './dependencies.js';
import { createDecodeArchive } from './page/decode-archive.js';
import { createDecodeFailedItems } from './page/decode-failed-items.js';
import { createReleaseHeld } from './page/held-webhooks.js';
import { createQueryDistribution } from './page/query-distribution.js';
import { createOnDemand } from './point/on-demand.js';
import { createPointQueries } from './point/query-point.js';

export { distributionService } from './call/distribution-service.js';
export { nfseService } from './call/nfse-service.js';
export type {
  ActivityDependencies,
  CallObserver,
  DistributionQuestion,
  DistributionService,
  Failpoint,
  TransactionClock,
} from './dependencies.js';

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
