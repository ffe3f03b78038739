import type { NfeEvents } from '../government/nfe-events.js';
import type { ActivityDependencies } from './dependencies.js';

/** What the activities of manifestations are made of. */
export interface ManifestationDependencies
  extends Pick<
    ActivityDependencies,
    'database' | 'objectStore' | 'clock' | 'timeScale' | 'openCertificate' | 'wakeEndpoints' | 'limits' | 'failpoint'
  > {
  readonly events: NfeEvents;
  /** Our name and version, at most 20 characters: verAplic of Tax Reform events. */
  readonly application: string;
}
