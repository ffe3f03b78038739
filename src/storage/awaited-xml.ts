import type { CaptureKey } from '../model/words.js';
import { captureValues } from './captures.js';
import type { Queryable, Transaction } from './database.js';
import { instant } from './database.js';

/** Summaries whose whole document was asked for by a manifestation and should have come. */

/** Captures with a manifestation whose whole document is overdue by now. */
export async function capturesAwaitingXml(db: Queryable, now: number, limit: number): Promise<CaptureKey[]> {
  const { rows } = await db.query<CaptureKey>(
    `select distinct company_id as "companyId", document_type as "documentType", environment from manifestations
     where xml_due_at <= $1 limit $2`,
    [instant(now), limit],
  );
  return rows;
}

/** Marks summaries of which the whole document has not come. Says how many; each manifestation is looked at once. */
export async function markOverdueXml(tx: Transaction, capture: CaptureKey, now: number): Promise<number> {
  const { rowCount } = await tx.query(
    `with due as (
       update manifestations set xml_due_at = null
       where company_id = $1 and document_type = $2 and environment = $3 and xml_due_at <= $4 returning key)
     update documents d set full_xml = 'overdue' from (select distinct key from due) due
     where d.key = due.key and d.company_id = $1 and d.document_type = $2 and d.environment = $3
       and d.kind = 'resNFe' and d.full_xml = 'awaited'`,
    [...captureValues(capture), instant(now)],
  );
  return rowCount;
}

/** Closes the alerts of captures that have no overdue document any more. Gives how many. */
export async function closeOverdueXml(db: Queryable, now: number): Promise<number> {
  const { rowCount } = await db.query(
    `update alerts a set closed_at = $1 where code = 'full_xml_overdue' and closed_at is null and not exists (
       select from documents d
       where d.company_id = a.company_id and d.document_type = a.document_type and d.environment = a.environment
         and d.full_xml = 'overdue')`,
    [instant(now)],
  );
  return rowCount;
}
