import { createActivities, type Failpoint } from '../../src/activities/index.js';
import type { CaptureKey } from '../../src/model/words.js';
import { createDatabase } from '../../src/storage/database.js';
import { openObjectStore } from '../../src/storage/object-store/index.js';
import { type GovernmentAccess, openUnsealed, simulatedService } from '../activities/simulated.js';
import { Activity, SkippingClock } from '../activities/support.js';

/** A worker process for killed.test.ts: makes one attempt and kills itself at a failpoint, as `kill -9` would. */
export interface KilledWorker {
  readonly url: string;
  readonly objects: string;
  readonly ahead: number;
  readonly access: GovernmentAccess;
  readonly place: Failpoint;
  readonly capture: CaptureKey;
  readonly activity: ConstructorParameters<typeof Activity>[0] & { readonly runId: string };
}

const job = JSON.parse(process.argv[2] ?? '') as KilledWorker;
const database = createDatabase({ url: job.url, applicationName: 'killed worker' });
const clock = new SkippingClock(database);
clock.advance(job.ahead);
const activities = createActivities({
  database,
  objectStore: await openObjectStore(`file://${job.objects}`),
  clock,
  timeScale: 1,
  services: simulatedService(job.access),
  openCertificate: openUnsealed,
  wakeEndpoints: () => {},
  failpoint: (name) => {
    if (name === job.place) process.kill(process.pid, 'SIGKILL');
  },
});
await new Activity(job.activity, '1', job.activity.runId).attempt(activities);
