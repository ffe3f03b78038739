import { performance } from 'node:perf_hooks';
import { cadenceOf, scaled } from '../../cadence/index.js';
import type { ErasureActivities, ErasureStep } from '../../model/erasure-contract.js';
import type { CaptureRow } from '../../storage/capture-rows.js';
import { getCompany } from '../../storage/companies.js';
import {
  eraseAccess,
  eraseBatch,
  eraseCaptures,
  finishErasure,
  lastCallDeadline,
} from '../../storage/erase-company.js';
import { beginErasure, countErased, type ErasureRow, getErasure } from '../../storage/erasures.js';
import { companyPrefix } from '../../storage/object-store/index.js';
import { beat } from '../call/call-watch.js';
import { type ActivityDependencies, limitsOf } from '../dependencies.js';
import { rebuilding } from '../failures.js';

/** What deleting a company needs. */
export interface ErasureDependencies
  extends Pick<ActivityDependencies, 'database' | 'objectStore' | 'clock' | 'limits'> {
  /** Keyed hash, to know the tax ID again if it comes back. */
  readonly taxIdMac: (taxId: string) => string;
  /** Milliseconds of deleting per attempt. Default 20,000. */
  readonly atATime?: number;
}

const AT_A_TIME_MS = 20_000;
/** A call mostly ends long before its deadline. */
const LOOK_AGAIN_MS = 10_000;

/**
 * The deletion of a company. Each part is found by looking at what is left, so that any number of attempts, also of two runs at once, come
 * to the same end: access, rows in batches, objects by their prefix, captures, the company's own row.
 */
export function createEraseCompany(deps: ErasureDependencies): ErasureActivities {
  return {
    eraseCompany: ({ companyId }) => {
      const stopBeating = beat(limitsOf(deps).beat);
      return rebuilding(() => eraseNext(deps, companyId)).finally(stopBeating);
    },
  };
}

async function eraseNext(deps: ErasureDependencies, companyId: string): Promise<ErasureStep> {
  const { database, clock, atATime = AT_A_TIME_MS } = deps;
  const erasure = await getErasure(database, companyId);
  if (!erasure || erasure.status === 'done') return { kind: 'over' };
  const now = await clock.now();
  if (erasure.status === 'waiting') {
    if (erasure.dueAt > now) return { kind: 'waits', until: erasure.dueAt, why: 'grace' };
    await database.transaction((tx) => beginErasure(tx, companyId, now));
    return goesOn(erasure);
  }
  // An answer that comes now is still the company's: it is stored like any other, then deleted with the rest.
  const until = await lastCallDeadline(database, companyId, now);
  if (until !== null) return { kind: 'waits', until: Math.min(until, now + LOOK_AGAIN_MS), why: 'calls' };

  await database.transaction((tx) => eraseAccess(tx, companyId, now));
  const company = await getCompany(database, companyId);
  // Before the calls go: the last of them count for the tax ID's quota.
  if (company) {
    const kept = { taxIdMac: deps.taxIdMac(company.taxId), now, unanswered: emptyQueueOf };
    await database.transaction((tx) => eraseCaptures(tx, companyId, kept));
  }
  const begun = performance.now();
  for (let rows = await eraseBatch(database, companyId); rows > 0; rows = await eraseBatch(database, companyId)) {
    await countErased(database, companyId, { rows, now: await clock.now() });
    if (performance.now() - begun > atATime) return counted(deps, companyId);
  }
  await deleteObjects(deps, companyId, now);
  await database.transaction((tx) => finishErasure(tx, companyId, now));
  return { kind: 'over' };
}

/** The lost answer may have been that the queue is empty. */
function emptyQueueOf({ documentType, state }: CaptureRow): number {
  return scaled(cadenceOf(documentType).emptyQueue, state.timeScale);
}

async function deleteObjects(deps: ErasureDependencies, companyId: string, now: number): Promise<void> {
  const objects = await deps.objectStore.deletePrefix(companyPrefix(companyId));
  await countErased(deps.database, companyId, { objects, now });
}

async function counted({ database }: ErasureDependencies, companyId: string): Promise<ErasureStep> {
  const erasure = await getErasure(database, companyId);
  return erasure ? goesOn(erasure) : { kind: 'over' };
}

function goesOn({ rowsDeleted, objectsDeleted }: ErasureRow): ErasureStep {
  return { kind: 'goes_on', rows: rowsDeleted, objects: objectsDeleted };
}
