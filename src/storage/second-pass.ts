import type { Nsu } from '../model/nsu.js';
import type { CaptureKey } from '../model/words.js';
import { type CaptureRow, nsuColumn } from './capture-rows.js';
import { captureValues } from './captures.js';
import type { Transaction } from './database.js';
import { instant } from './database.js';

/** A second pass over numbers that did not come. Everything happens under the lock of the capture's row. */

const DUE = `company_id = $1 and document_type = $2 and environment = $3 and means = 'pass' and status = 'pending'
  and next_attempt_at <= $4 and to_nsu <= $5`;

/** The NSU after which a pass has to begin, so that it goes over every gap that is due. Null: none is. */
export async function passStart(tx: Transaction, capture: CaptureRow, now: number): Promise<Nsu | null> {
  const { rows } = await tx.query<{ start: Nsu | null }>(
    `select ${nsuColumn('(min(from_nsu) - 1)', 'start')} from gaps where ${DUE}`,
    [...captureValues(capture), instant(now), capture.ultNsu],
  );
  return rows[0]?.start ?? null;
}

/** Writes how far the pass has come; null ends it. */
export async function writePass(tx: Transaction, capture: CaptureKey, nsu: Nsu | null): Promise<void> {
  await tx.query(
    'update captures set pass_nsu = $4 where company_id = $1 and document_type = $2 and environment = $3',
    [...captureValues(capture), nsu],
  );
}

/**
 * What a completed pass means: every number of a gap that is still missing does not exist, and is no gap again. A gap of which some
 * numbers came stays one row, which says `recovered`.
 */
export async function closePassedGaps(
  tx: Transaction,
  capture: CaptureRow,
  { now, statusCode }: { readonly now: number; readonly statusCode: string | null },
): Promise<void> {
  await tx.query(
    `update gaps g set attempts = attempts + 1, resolved_at = $4, next_attempt_at = null, last_status_code = $6,
       status = case when exists (
         select from documents d where d.company_id = g.company_id and d.document_type = g.document_type
           and d.environment = g.environment and d.nsu between g.from_nsu and g.to_nsu) then 'recovered' else 'nonexistent' end
     where ${DUE}`,
    [...captureValues(capture), instant(now), capture.ultNsu, statusCode],
  );
}
