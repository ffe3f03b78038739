import type { HousekeepingActivities } from '../../model/activity-contract.js';
import type { ManifestationActivities, ManifestationRowActivities } from '../../model/manifestation-contract.js';
import { createWatchAwaitedXml } from './awaited-xml.js';
import type { ManifestationDependencies } from './manifestation-dependencies.js';
import { createRecordManifestations } from './record-manifestations.js';
import { createSendManifestations } from './send-manifestations.js';

export { cteEventService } from './cte-event-service.js';
export type { ManifestationDependencies } from './manifestation-dependencies.js';
export { nfeEventService } from './nfe-event-service.js';
export { nfseEventService } from './nfse-event-service.js';

/** The activities of manifestations, by the queue that they are served on. */
export function createManifestationActivities(deps: ManifestationDependencies): {
  readonly government: ManifestationActivities;
  readonly background: ManifestationRowActivities & Pick<HousekeepingActivities, 'watchAwaitedXml'>;
} {
  return {
    government: { sendManifestations: createSendManifestations(deps) },
    background: { ...createRecordManifestations(deps), ...createWatchAwaitedXml(deps) },
  };
}
