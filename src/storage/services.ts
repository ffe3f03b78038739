import { ANSWERED } from '../model/outcome.js';
import type { Environment } from '../model/words.js';
import type { Queryable, Transaction } from './database.js';
import { instant } from './database.js';

/** One row per government service and environment: its pause, and who may find out whether it is over. */

export interface ServiceKey {
  /** e.g. `nfe-distribution` */
  readonly service: string;
  readonly environment: Environment;
}

/** Whether a service takes calls: see docs/government-call.md. */
export interface ServiceRow {
  /** Null, like `pausedUntil`: open. */
  readonly pausedFrom: number | null;
  readonly pausedUntil: number | null;
  /** `108`, `109` or `outage`. */
  readonly reason: string | null;
  readonly probeCallId: string | null;
  readonly probeDeadline: number | null;
}

const COLUMNS = `paused_from as "pausedFrom", paused_until as "pausedUntil", reason, probe_call_id as "probeCallId",
  probe_deadline as "probeDeadline"`;
const OPEN: ServiceRow = { pausedFrom: null, pausedUntil: null, reason: null, probeCallId: null, probeDeadline: null };

/** The row of a service; open if nothing was ever written. */
export async function getService(db: Queryable, { service, environment }: ServiceKey): Promise<ServiceRow> {
  const { rows } = await db.query<ServiceRow>(
    `select ${COLUMNS} from services where service = $1 and environment = $2`,
    [service, environment],
  );
  return rows[0] ?? OPEN;
}

/** As {@link getService}, and nobody else changes the row (made if need be) until the transaction ends. */
export async function lockService(tx: Transaction, { service, environment }: ServiceKey): Promise<ServiceRow> {
  const { rows } = await tx.query<ServiceRow>(
    `insert into services (service, environment) values ($1, $2)
     on conflict (service, environment) do update set service = excluded.service returning ${COLUMNS}`,
    [service, environment],
  );
  return rows[0] ?? OPEN;
}

/** Makes this call the one that finds out whether the pause is over. False: another one does, or the pause was prolonged. */
export async function takeProbe(
  tx: Transaction,
  { service, environment }: ServiceKey,
  { callId, deadline, now }: { callId: string; deadline: number; now: number },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update services set probe_call_id = $3, probe_deadline = $4
     where service = $1 and environment = $2 and paused_until <= $5
       and (probe_deadline is null or probe_deadline <= $5)`,
    [service, environment, callId, instant(deadline), instant(now)],
  );
  return rowCount === 1;
}

/** Writes the row, probe included: whoever probed an earlier pause cannot end this one. */
export async function writeService(
  tx: Transaction,
  { service, environment }: ServiceKey,
  row: Omit<ServiceRow, 'probeCallId' | 'probeDeadline'>,
): Promise<void> {
  await tx.query(
    `update services set paused_from = $3, paused_until = $4, last_paused_until = coalesce($4, last_paused_until), reason = $5,
       probe_call_id = null, probe_deadline = null
     where service = $1 and environment = $2`,
    [service, environment, instant(row.pausedFrom), instant(row.pausedUntil), row.reason],
  );
}

/**
 * How many other companies' calls to this service failed since then, counted up to `enough`; 0 as soon as one was answered.
 * Calls that were not made (`ignoring` are their status texts) say nothing about the service.
 */
export async function otherFailures(
  tx: Transaction,
  { service, environment }: ServiceKey,
  { companyId, since, longestCall, enough, ignoring }: FailureQuestion,
): Promise<number> {
  const { rows } = await tx.query<{ failures: number }>(
    `select case when exists (
         select from calls where service = $1 and environment = $2 and started_at > $3 and settled_at > $4
           and outcome = any($7))
       then 0
       else (select count(*)::int from (
         select distinct company_id from calls where service = $1 and environment = $2 and started_at > $3
           and settled_at > $4 and outcome in ('not_sent', 'unreadable', 'unknown') and company_id <> $5
           and (status_text is null or status_text <> all($8)) limit $6) failed)
       end as failures`,
    [service, environment, instant(since - longestCall), instant(since), companyId, enough, [...ANSWERED], ignoring],
  );
  return rows[0]?.failures ?? 0;
}

interface FailureQuestion {
  readonly companyId: string;
  /** Milliseconds: only calls that ended later. */
  readonly since: number;
  /** Milliseconds a call may last: bounds the part of the log that is read. */
  readonly longestCall: number;
  readonly enough: number;
  readonly ignoring: readonly string[];
}
