import type { Database, Queryable, Transaction } from './database.js';

/**
 * The call log is partitioned by UTC day, so that forgetting a day is dropping a table. Rows of a day without a partition
 * stand in calls_default: nothing is ever refused, and the next run moves them.
 */

const DAY_MS = 86_400_000;
/** Attaching and dropping wait for the log's readers and writers, who meanwhile queue behind: give up soon, the next run tries again. */
const LOCK_TIMEOUT = '3s';

/** Makes the partitions of today and of the next days. Says which it made. Safe to run anywhere at any time. */
export async function ensureCallPartitions(db: Database, now: number, daysAhead: number): Promise<string[]> {
  const made: string[] = [];
  const existing = new Set(await callPartitions(db));
  for (let ahead = 0; ahead <= daysAhead; ahead += 1) {
    const day = isoDay(now + ahead * DAY_MS);
    if (existing.has(partitionOf(day))) continue;
    if (await db.transaction((tx) => makePartition(tx, day))) made.push(partitionOf(day));
  }
  return made;
}

/** Drops the partitions of whole days before an instant, and such rows of the default partition. Says how many partitions went. */
export async function dropCallPartitions(db: Database, before: number): Promise<number> {
  const keepFrom = partitionOf(isoDay(before));
  const old = (await callPartitions(db)).filter((name) => name < keepFrom);
  for (const name of old) {
    await db.transaction(async (tx) => {
      await tx.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
      await tx.query(`drop table if exists ${name}`);
    });
  }
  await db.query('delete from calls_default where started_at < $1', [new Date(before)]);
  return old.length;
}

async function makePartition(tx: Transaction, day: string): Promise<boolean> {
  const name = partitionOf(day);
  const [from, to] = [`${day}T00:00:00Z`, `${isoDay(Date.parse(day) + DAY_MS)}T00:00:00Z`];
  await tx.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
  await tx.query("select pg_advisory_xact_lock(hashtext('malote call partitions'))");
  if ((await callPartitions(tx)).includes(name)) return false;
  await tx.query(`create table ${name} (like calls including all)`);
  await tx.query(
    `with moved as (delete from calls_default where started_at >= $1 and started_at < $2 returning *)
     insert into ${name} select * from moved`,
    [from, to],
  );
  // Attaching, unlike "create … partition of", does not lock the whole log against readers and writers.
  await tx.query(`alter table calls attach partition ${name} for values from ('${from}') to ('${to}')`);
  return true;
}

/** Names of the daily partitions, oldest first. */
async function callPartitions(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'calls'::regclass and c.relname ~ '^calls_[0-9]{8}$' order by 1`,
  );
  return rows.map(({ name }) => name);
}

const isoDay = (at: number) => new Date(at).toISOString().slice(0, 10);
const partitionOf = (day: string) => `calls_${day.replaceAll('-', '')}`;
