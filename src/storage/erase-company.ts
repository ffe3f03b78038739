import { recordAudit } from './audit.js';
import type { CaptureRow } from './capture-rows.js';
import { captureValues, listCompanyCaptures, lockCapture } from './captures.js';
import { deleteCertificate } from './certificates.js';
import { lockOrders } from './companies.js';
import type { Queryable, Transaction } from './database.js';
import { instant } from './database.js';
import { deleteEndpoint } from './endpoints.js';

/**
 * Deletes a company's rows, in steps that may each be repeated. What stays: the audit, the row of `erasures`, usage (ids and months,
 * which bills are made of), and of each capture what the government still remembers of the tax ID, under a keyed hash.
 */

/** Rows per statement: short locks. */
const BATCH = 2_000;

/**
 * One batch each, $1 company, $2 rows. Children go with or before what they hang on; `captures` and what cascades from the company's own row
 * is not here. test/activities/erase-company.test.ts fails for a table of companies that is forgotten.
 */
const BATCHES = [
  'delete from documents where id in (select id from documents where company_id = $1 limit $2)',
  `with a as (select id from archives where company_id = $1 limit $2),
     f as (delete from failed_items where archive_id in (select id from a))
   delete from archives where id in (select id from a)`,
  `with e as (select id from events where company_id = $1 limit $2),
     d as (delete from deliveries where event_id in (select id from e) returning id),
     a as (delete from delivery_attempts where delivery_id in (select id from d))
   delete from events where id in (select id from e)`,
  'delete from gaps where id in (select id from gaps where company_id = $1 limit $2)',
  'delete from manifestations where id in (select id from manifestations where company_id = $1 limit $2)',
  'delete from calls where (id, started_at) in (select id, started_at from calls where company_id = $1 limit $2)',
  'delete from alerts where id in (select id from alerts where company_id = $1 limit $2)',
] as const;

/** Deletes the next batch of rows. Zero: there are none left. */
export async function eraseBatch(db: Queryable, companyId: string): Promise<number> {
  for (const batch of BATCHES) {
    const { rowCount } = await db.query(batch, [companyId, BATCH]);
    if (rowCount > 0) return rowCount;
  }
  return 0;
}

/** Until when a government call of the company may still be in the air, in milliseconds. Null: none is. */
export async function lastCallDeadline(db: Queryable, companyId: string, now: number): Promise<number | null> {
  const { rows } = await db.query<{ until: number | null }>(
    `select max(deadline) as until from calls
     where company_id = $1 and deadline > $2 and started_at > $2::timestamptz - interval '2 hours' and status in ('open', 'unknown')`,
    [companyId, instant(now)],
  );
  return rows[0]?.until ?? null;
}

/** Nobody calls for the company, or is told anything of it, from here on. */
export async function eraseAccess(tx: Transaction, companyId: string, now: number): Promise<void> {
  await lockOrders(tx, companyId);
  await deleteCertificate(tx, companyId);
  const { rows: alone } = await tx.query<{ id: string }>(
    'select id from endpoints where company_ids = array[$1]::uuid[] and deleted_at is null',
    [companyId],
  );
  for (const { id } of alone) await deleteEndpoint(tx, id, now);
  await tx.query(
    `update endpoints set company_ids = array_remove(company_ids, $1::uuid)
     where company_ids @> array[$1]::uuid[] and company_ids <> array[$1]::uuid[]`,
    [companyId],
  );
  await tx.query(
    `update api_keys set revoked_at = coalesce(revoked_at, case when company_ids = array[$1]::uuid[] then $2::timestamptz end),
       company_ids = array_remove(company_ids, $1::uuid)
     where company_ids @> array[$1]::uuid[]`,
    [companyId, instant(now)],
  );
}

/**
 * Deletes the captures and keeps what the government remembers: cursor, wait, and that its point queries of the last hour count.
 *
 * @param taxIdMac keyed hash of the tax ID
 * @param unanswered milliseconds that are waited after the deadline of a call that has no end: nobody will settle it any more
 */
export async function eraseCaptures(
  tx: Transaction,
  companyId: string,
  { taxIdMac, now, unanswered }: { taxIdMac: string; now: number; unanswered: (capture: CaptureRow) => number },
): Promise<void> {
  for (const capture of await listCompanyCaptures(tx, companyId)) {
    const row = await lockCapture(tx, capture);
    if (row && (row.lastQueryAt !== null || row.callId !== null)) {
      const { rows } = await tx.query<{ at: number | null }>(
        `select max(started_at) as at from calls where company_id = $1 and document_type = $2 and environment = $3
           and kind in ('consNSU', 'consChNFe') and started_at > $4::timestamptz - interval '1 hour'`,
        [...captureValues(row), instant(now)],
      );
      const lastPoint = rows[0]?.at ?? null;
      const { quota } = row.state;
      const state = {
        ...row.state,
        phase: 'stopped',
        reason: 'the company was deleted',
        lastAnswer: null,
        quota:
          lastPoint === null
            ? quota
            : { ...quota, suspendedUntil: Math.max(quota.suspendedUntil ?? 0, lastPoint + HOUR / row.state.timeScale) },
      };
      await tx.query(
        `insert into erased_captures (tax_id_mac, document_type, environment, state, not_before, last_query_at, searched_at, erased_at)
         select $4, document_type, environment, $5, greatest(not_before, $7), coalesce(last_query_at, updated_at), searched_at, $6 from captures
         where company_id = $1 and document_type = $2 and environment = $3
         on conflict (tax_id_mac, document_type, environment) do update set state = excluded.state, not_before = excluded.not_before,
           last_query_at = excluded.last_query_at, searched_at = excluded.searched_at, erased_at = excluded.erased_at`,
        [
          ...captureValues(row),
          taxIdMac,
          JSON.stringify(state),
          instant(now),
          instant(row.callDeadline === null ? null : row.callDeadline + unanswered(row)),
        ],
      );
    }
    await tx.query('delete from captures where company_id = $1 and document_type = $2 and environment = $3', [
      ...captureValues(capture),
    ]);
  }
}

const HOUR = 3_600_000;

/** The last row of the company. What is left of it afterwards stands in the audit. */
export async function finishErasure(tx: Transaction, companyId: string, now: number): Promise<void> {
  await lockOrders(tx, companyId);
  await tx.query('delete from companies where id = $1', [companyId]);
  const { rows } = await tx.query<{ rows: number; objects: number }>(
    `update erasures set status = 'done', finished_at = $2, updated_at = $2 where company_id = $1 and status = 'erasing'
     returning rows_deleted::float8 as rows, objects_deleted::float8 as objects`,
    [companyId, instant(now)],
  );
  const [detail] = rows;
  if (detail) await recordAudit(tx, { actor: 'system', action: 'company.erased', target: companyId, detail });
}

/**
 * A tax ID that was erased and comes back: its captures are there, stopped, where the government knows them to be, and a start goes on from
 * there. Says how many.
 *
 * @param taxIdMacs keyed hashes of the tax ID, by each of the master keys
 */
export async function adoptErased(
  tx: Transaction,
  companyId: string,
  taxIdMacs: readonly string[],
  now: number,
): Promise<number> {
  const { rowCount } = await tx.query(
    `with kept as (delete from erased_captures where tax_id_mac = any ($2) returning *)
     insert into captures (company_id, document_type, environment, enabled, state, phase, ult_nsu, max_nsu, not_before, last_query_at,
       searched_at, created_at, updated_at)
     select distinct on (document_type, environment) $1, document_type, environment, false, state, 'stopped',
       (state ->> 'ultNsu')::bigint, (state ->> 'maxNsu')::bigint, not_before, last_query_at, searched_at, $3, $3
     from kept order by document_type, environment, erased_at desc`,
    [companyId, taxIdMacs, instant(now)],
  );
  return rowCount;
}
