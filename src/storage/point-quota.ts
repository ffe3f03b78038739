import { type PointCall, type QuotaFacts, type Reservation, SLOT_KEPT } from '../model/point-quota.js';
import type { CaptureKey } from '../model/words.js';
import { captureValues } from './captures.js';
import type { Transaction } from './database.js';
import { instant } from './database.js';

/** The quota of point queries as the call log and the announced slots tell it. The arithmetic: model/point-quota.ts. */

/**
 * For `from calls`: the instant from which a point call's age counts. A call without an answer may have been counted by the government
 * until its deadline.
 */
const COUNTS_FROM = `case when status = 'answered' then answered_at else deadline end`;
/**
 * For `from calls`: it returned a document, or may have. An answer that cannot be read may have been one that was cut; a call in the air
 * holds the slot that it was begun with.
 */
const TAKES_SLOT = `(granted or status in ('open', 'unknown') or outcome = 'unreadable')`;
/** What left this machine counts; kinds as the call log names them. */
const IS_POINT_CALL = `kind in ('consNSU', 'consChNFe') and status <> 'not_sent'`;

/** No point call lasts longer: how far back rows are read that may still count. */
const LONGEST_CALL = 3_600_000;

/**
 * What a question about this subject has to reckon with. Call it under the lock of the capture's row.
 *
 * @param window length of the sliding hour, scaled; milliseconds
 */
export async function quotaFacts(
  tx: Transaction,
  capture: CaptureKey,
  { now, window, subject }: { readonly now: number; readonly window: number; readonly subject: string | null },
): Promise<QuotaFacts> {
  const { rows: calls } = await tx.query<PointCall>(
    `select ${COUNTS_FROM} as at, ${TAKES_SLOT} as "takesSlot" from calls
     where company_id = $1 and document_type = $2 and environment = $3 and ${IS_POINT_CALL}
       and started_at > $4 and ${COUNTS_FROM} > $5`,
    [...captureValues(capture), instant(now - window - LONGEST_CALL), instant(now - window)],
  );
  const { rows: reserved } = await tx.query<Reservation>(
    `select subject, slot_at as "slotAt" from point_reservations
     where company_id = $1 and document_type = $2 and environment = $3 and subject is distinct from $4 and slot_at > $5`,
    [...captureValues(capture), subject, instant(now - SLOT_KEPT)],
  );
  return { calls, reserved, window };
}

/** Keeps a slot for whoever asks for this subject, and forgets those that nobody came for. */
export async function reserveSlot(
  tx: Transaction,
  capture: CaptureKey,
  { subject, slotAt }: Reservation,
  now: number,
): Promise<void> {
  await tx.query(
    `with forgotten as (
       delete from point_reservations
       where company_id = $1 and document_type = $2 and environment = $3 and subject <> $4 and slot_at <= $6
     )
     insert into point_reservations (company_id, document_type, environment, subject, slot_at) values ($1, $2, $3, $4, $5)
     on conflict (company_id, document_type, environment, subject) do update set slot_at = excluded.slot_at`,
    [...captureValues(capture), subject, instant(slotAt), instant(now - SLOT_KEPT)],
  );
}

/** Whoever it was kept for has it now. */
export async function releaseSlot(tx: Transaction, capture: CaptureKey, subject: string): Promise<void> {
  await tx.query(
    'delete from point_reservations where company_id = $1 and document_type = $2 and environment = $3 and subject = $4',
    [...captureValues(capture), subject],
  );
}

/**
 * The slots in use as a lateral table for many captures `c`: columns `used` and `oldestAt`.
 *
 * @param since the statement's parameter that holds the window's start
 */
export const slotsLateral = (since: string) => `
  select count(*)::int as used, min(${COUNTS_FROM}) as "oldestAt" from calls
  where calls.company_id = c.company_id and calls.document_type = c.document_type and calls.environment = c.environment
    and ${IS_POINT_CALL} and ${TAKES_SLOT} and ${COUNTS_FROM} > ${since}
    and started_at > ${since}::timestamptz - interval '1 hour'`;
