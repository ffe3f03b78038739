import { log } from '@temporalio/activity';
import pLimit from 'p-limit';
import { scaled } from '../../cadence/index.js';
import type { HousekeepingActivities } from '../../model/activity-contract.js';
import type { ExportInput } from '../../model/export-contract.js';
import type { ImportInput } from '../../model/import-contract.js';
import type { CaptureKey } from '../../model/words.js';
import type { Clock } from '../../platform/clock.js';
import type { Database } from '../../storage/database.js';
import { overdueErasures } from '../../storage/erasures.js';
import { overdueExports } from '../../storage/exports.js';
import { overdueImports } from '../../storage/imports.js';
import { overdueManifestations } from '../../storage/manifestation-queue.js';
import { overdueCaptures, overdueEndpoints } from '../../storage/overdue.js';

/** What finding and starting whatever should run needs. */
export interface OverdueDependencies {
  readonly database: Database;
  readonly clock: Clock;
  /** Signal-with-start of `wake`: never `start`, since that would undo a stop. */
  readonly wakeCapture: (capture: CaptureKey) => Promise<void>;
  readonly wakeEndpoint: (endpointId: string) => Promise<void>;
  readonly wakeManifestation: (capture: CaptureKey) => Promise<void>;
  readonly wakeErasure: (companyId: string) => Promise<void>;
  readonly startExport: (input: ExportInput) => Promise<void>;
  readonly startImport: (input: ImportInput) => Promise<void>;
  /** Divides the ages at which a capture counts as overdue. */
  readonly timeScale: number;
}

const CAPTURE_OVERDUE_MS = 15 * 60_000;
const ENDPOINT_OVERDUE_MS = 30_000;
const MANIFESTATION_OVERDUE_MS = 2 * 60_000;
const ERASURE_OVERDUE_MS = 5 * 60_000;
/** Their rows are written at every step. */
const TRANSFER_OVERDUE_MS = 15 * 60_000;
/** A run takes this many; the next minute's takes the next. After a lost Temporal 100,000 captures are back within the hour of their wait. */
const BATCH = 2_000;
/** Signals in the air at once. */
const AT_ONCE = 20;

/** Whatever was lost (a run that was terminated, a signal, all of Temporal), its captures go on (design.md section 5). */
export function createStartOverdue(deps: OverdueDependencies): Pick<HousekeepingActivities, 'startOverdue'> {
  return {
    async startOverdue() {
      const now = await deps.clock.now();
      const captures = await overdueCaptures(
        deps.database,
        now,
        now - scaled(CAPTURE_OVERDUE_MS, deps.timeScale),
        BATCH,
      );
      const endpoints = await overdueEndpoints(deps.database, now - ENDPOINT_OVERDUE_MS, BATCH);
      const manifestations = await overdueManifestations(
        deps.database,
        now - scaled(MANIFESTATION_OVERDUE_MS, deps.timeScale),
        BATCH,
      );
      const erasures = await overdueErasures(deps.database, now - ERASURE_OVERDUE_MS, BATCH);
      const heardOf = now - TRANSFER_OVERDUE_MS;
      return {
        captures: await eachOf(captures, deps.wakeCapture),
        endpoints: await eachOf(endpoints, deps.wakeEndpoint),
        manifestations: await eachOf(manifestations, deps.wakeManifestation),
        erasures: await eachOf(erasures, deps.wakeErasure),
        exports: await eachOf(await overdueExports(deps.database, heardOf, BATCH), deps.startExport),
        imports: await eachOf(await overdueImports(deps.database, heardOf, BATCH), deps.startImport),
      };
    },
  };
}

/** One that cannot be reached does not keep the others waiting: the next minute tries again. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<number> {
  const results = await pLimit(AT_ONCE).map(items, async (item) => {
    try {
      await work(item);
      return true;
    } catch (error) {
      log.warn('could not wake', { error: error instanceof Error ? error.name : 'unknown' });
      return false;
    }
  });
  return results.filter(Boolean).length;
}
