import { v7 as uuid } from 'uuid';
import { addNsu, compareNsu, type Nsu, nsuDistance } from '../model/nsu.js';
import type { CaptureKey } from '../model/words.js';
import { nsuColumn } from './capture-rows.js';
import { captureValues } from './captures.js';
import type { Transaction } from './database.js';
import { instant } from './database.js';

/** Working off recovery items: which is next, and what became of it. Everything happens under the lock of the capture's row. */

/** A range becomes so many items at a time. */
const EXPANDED_AT_ONCE = 100;

interface DueRow {
  readonly id: string;
  readonly from: Nsu;
  readonly to: Nsu;
}

const OF_CAPTURE = 'company_id = $1 and document_type = $2 and environment = $3';

/**
 * The lowest NSU that is due, because the lowest is the oldest and the government forgets it first. Ranges are expanded on the way, and
 * items whose document has come meanwhile are closed. Null: nothing is due.
 *
 * @param notBefore items made before this are given up (milliseconds)
 */
export async function nextRecoveryItem(
  tx: Transaction,
  capture: CaptureKey,
  now: number,
  notBefore: number,
): Promise<Nsu | null> {
  await closeThoseThatCame(tx, capture, now);
  for (;;) {
    const { rows } = await tx.query<DueRow>(
      `select id, ${nsuColumn('from_nsu', 'from')}, ${nsuColumn('to_nsu', 'to')} from gaps
       where ${OF_CAPTURE} and status = 'pending' and next_attempt_at <= $4 and created_at > $5
       order by from_nsu, to_nsu limit 1`,
      [...captureValues(capture), instant(now), instant(notBefore)],
    );
    const [due] = rows;
    if (!due) return null;
    if (due.from === due.to) return due.from;
    await expand(tx, capture, due, now);
  }
}

async function closeThoseThatCame(tx: Transaction, capture: CaptureKey, now: number): Promise<void> {
  await tx.query(
    `update gaps g set status = 'recovered', resolved_at = $4, next_attempt_at = null
     where ${OF_CAPTURE} and status = 'pending' and next_attempt_at <= $4 and from_nsu = to_nsu and exists (
       select from documents d where d.company_id = g.company_id and d.document_type = g.document_type
         and d.environment = g.environment and d.nsu = g.from_nsu)`,
    [...captureValues(capture), instant(now)],
  );
}

/** Makes items of the first numbers of a range and leaves the rest as a range, if there is one. */
async function expand(tx: Transaction, capture: CaptureKey, range: DueRow, now: number): Promise<void> {
  // A rest of one number would be an item itself, and may be there already.
  const isLast = nsuDistance(range.from, range.to) <= BigInt(EXPANDED_AT_ONCE);
  const to = isLast ? range.to : addNsu(range.from, EXPANDED_AT_ONCE - 1);
  const numbers: Nsu[] = [];
  for (let nsu = range.from; compareNsu(nsu, to) <= 0; nsu = addNsu(nsu, 1)) numbers.push(nsu);
  const rest = isLast ? null : addNsu(to, 1);
  await tx.query(
    `with range as (select cause, created_at from gaps where id = $4)
     insert into gaps (id, company_id, document_type, environment, from_nsu, to_nsu, status, cause, created_at, next_attempt_at)
     select n.id, $1, $2, $3, n.nsu, n.nsu, 'pending', range.cause, range.created_at, $5
     from unnest($6::uuid[], $7::bigint[]) as n (id, nsu), range
     where not exists (
       select from documents d where d.company_id = $1 and d.document_type = $2 and d.environment = $3 and d.nsu = n.nsu)
     on conflict do nothing`,
    [...captureValues(capture), range.id, instant(now), numbers.map(() => uuid()), numbers],
  );
  await tx.query(
    `delete from gaps where id = $4 and ($5::bigint is null or exists (
       select from gaps same where same.company_id = $1 and same.document_type = $2 and same.environment = $3
         and same.from_nsu = $5 and same.to_nsu = $6))`,
    [...captureValues(capture), range.id, rest, range.to],
  );
  await tx.query('update gaps set from_nsu = $2 where id = $1', [range.id, rest ?? range.from]);
}

/** Closes the items of these NSUs, whatever they waited for: their documents are here. */
export async function closeRecovered(
  tx: Transaction,
  capture: CaptureKey,
  nsus: readonly Nsu[],
  { statusCode, now }: { readonly statusCode: string | null; readonly now: number },
): Promise<void> {
  await tx.query(
    `update gaps set status = 'recovered', resolved_at = $4, next_attempt_at = null, last_status_code = $5
     where ${OF_CAPTURE} and from_nsu = to_nsu and from_nsu = any($6::bigint[]) and status <> 'recovered'`,
    [...captureValues(capture), instant(now), statusCode, nsus],
  );
}

/** Closes the item of an NSU that no document has: the government says so (case C23). */
export async function closeNonexistent(
  tx: Transaction,
  capture: CaptureKey,
  nsu: Nsu,
  { statusCode, now }: { readonly statusCode: string | null; readonly now: number },
): Promise<void> {
  await tx.query(
    `update gaps set status = 'nonexistent', resolved_at = $4, next_attempt_at = null, last_status_code = $5
     where ${OF_CAPTURE} and from_nsu = $6 and to_nsu = $6 and status not in ('recovered', 'nonexistent')`,
    [...captureValues(capture), instant(now), statusCode, nsu],
  );
}

/**
 * Counts an attempt in vain. From the last one on the item rests until the next night (`exhausted`).
 *
 * @param wait milliseconds until the next attempt, given how many there were, this one included
 */
export async function countAttempt(
  tx: Transaction,
  capture: CaptureKey,
  nsu: Nsu,
  attempt: {
    readonly statusCode: string | null;
    readonly now: number;
    readonly most: number;
    readonly wait: (attempts: number) => number;
  },
): Promise<void> {
  const { rows } = await tx.query<{ id: string; attempts: number }>(
    `update gaps set attempts = attempts + 1, last_status_code = $4
     where ${OF_CAPTURE} and from_nsu = $5 and to_nsu = $5 and status = 'pending' returning id, attempts`,
    [...captureValues(capture), attempt.statusCode, nsu],
  );
  const [item] = rows;
  if (!item) return;
  const isLast = item.attempts >= attempt.most;
  await tx.query('update gaps set status = $2, next_attempt_at = $3 where id = $1', [
    item.id,
    isLast ? 'exhausted' : 'pending',
    isLast ? null : instant(attempt.now + attempt.wait(item.attempts)),
  ]);
}
