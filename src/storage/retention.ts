import { dropCallPartitions } from './call-partitions.js';
import type { Database } from './database.js';
import { instant } from './database.js';

/** How long things are kept (design.md section 11). Milliseconds. */
export const RETENTION = {
  deliveryAttempts: days(30),
  eventBodies: days(90),
  calls: days(90),
  idempotency: days(1),
  /** Since they closed. */
  alerts: days(365),
  /** Rows of exports and imports with their reports; files go earlier. */
  transfers: days(90),
} as const;

/** Rows per statement: short locks, and a stop in between loses nothing. */
const BATCH = 5_000;
/** An import may have a hundred thousand rows. */
const TRANSFERS = 20;

/** What a sweep removed, in rows; for `callPartitions` in whole days. */
export interface Swept {
  readonly deliveryAttempts: number;
  readonly eventBodies: number;
  readonly callPartitions: number;
  readonly idempotency: number;
  readonly alerts: number;
  readonly transfers: number;
}

/** Forgets what is past its time. Of an event only the body goes: its row keeps the feed's sequence whole. */
export async function sweepRetention(db: Database, now: number): Promise<Swept> {
  return {
    deliveryAttempts: await inBatches(
      db,
      `delete from delivery_attempts where id in (select id from delivery_attempts where at < $1 order by at limit ${BATCH})`,
      now - RETENTION.deliveryAttempts,
    ),
    eventBodies: await inBatches(
      db,
      `update events set body = '' where id in (
         select id from events where created_at < $1 and body <> '' order by created_at limit ${BATCH})`,
      now - RETENTION.eventBodies,
    ),
    callPartitions: await dropCallPartitions(db, now - RETENTION.calls),
    idempotency: await inBatches(
      db,
      `delete from idempotency where (scope, key) in (
         select scope, key from idempotency where created_at < $1 order by created_at limit ${BATCH})`,
      now - RETENTION.idempotency,
    ),
    alerts: await inBatches(
      db,
      `delete from alerts where id in (select id from alerts where closed_at < $1 order by closed_at limit ${BATCH})`,
      now - RETENTION.alerts,
    ),
    transfers: await sweepTransfers(db, now - RETENTION.transfers),
  };
}

/** Their parts and files go with them. */
async function sweepTransfers(db: Database, before: number): Promise<number> {
  let total = 0;
  for (const table of ['exports', 'imports']) {
    total += await inBatches(
      db,
      `delete from ${table} where id in (
         select id from ${table} where created_at < $1 and status not in ('pending', 'running') order by created_at limit ${TRANSFERS})`,
      before,
      TRANSFERS,
    );
  }
  return total;
}

async function inBatches(db: Database, statement: string, before: number, batch = BATCH): Promise<number> {
  let total = 0;
  for (;;) {
    const { rowCount } = await db.query(statement, [instant(before)]);
    total += rowCount;
    if (rowCount < batch) return total;
  }
}

function days(count: number): number {
  return count * 86_400_000;
}
