import type { ActivityDependencies } from '../dependencies.js';
import type { EventServices } from './event-services.js';

/** What the activities of manifestations are made of. */
export interface ManifestationDependencies
  extends Pick<
    ActivityDependencies,
    | 'database'
    | 'objectStore'
    | 'clock'
    | 'timeScale'
    | 'openCertificate'
    | 'wakeEndpoints'
    | 'observer'
    | 'limits'
    | 'failpoint'
  > {
  readonly eventServices: EventServices;
}
