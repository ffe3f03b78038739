import type { AlertCode } from '../model/words.js';
import type { Queryable } from './database.js';
import { instant } from './database.js';

/** Instants before which an alert was last seen that nothing but silence ends. Milliseconds. */
export interface SilentSince {
  readonly otherConsumer: number;
  readonly sameNsu: number;
}

/** Their reason is something that a running capture does: a stop ends them. */
const OF_RUNNING: readonly AlertCode[] = [
  'capture_attention',
  'capture_disabled',
  'cursor_ahead',
  'other_consumer',
  'handler_unavailable',
  'database_behind',
  'page_without_progress',
];

const CAPTURE = `captures c where c.company_id = a.company_id and c.document_type = a.document_type and c.environment = a.environment`;
const ofCapture = (table: string) =>
  `${table} x where x.company_id = a.company_id and x.document_type = a.document_type and x.environment = a.environment`;

/**
 * Closes alerts whose reason is gone, whoever opened them and whatever ended it: most are closed by what ends them, but people stop,
 * resume and delete, and other programs write. Gives how many.
 */
export async function closeEnded(db: Queryable, now: number, silent: SilentSince): Promise<number> {
  const { rowCount } = await db.query(
    `update alerts a set closed_at = $1 where a.closed_at is null and (
       (a.company_id is not null and not exists (
         select from companies co where co.id = a.company_id and co.deleting_at is null))
       or (a.code = any ($2) and not exists (select from ${CAPTURE} and c.enabled))
       or (a.code = 'capture_attention' and not exists (select from ${CAPTURE} and c.phase = 'attention'))
       or (a.code = 'capture_disabled' and not exists (select from ${CAPTURE} and c.phase = 'disabled'))
       or (a.code = 'database_behind' and not exists (select from ${CAPTURE} and c.behind))
       or ((a.code = 'handler_unavailable' or a.subject = 'host')
         and not exists (select from ${CAPTURE} and jsonb_typeof(c.options -> 'handler') = 'object'))
       or (a.code = 'item_failed' and not exists (select from ${ofCapture('failed_items')} and x.resolved_at is null))
       or (a.code = 'gap_too_large' and not exists (
         select from ${ofCapture('gaps')} and x.status = 'awaiting_confirmation'))
       or (a.code = 'service_outage' and not exists (
         select from services s where s.service = a.document_type || '-distribution' and s.environment = a.environment
           and s.paused_until is not null and s.reason = 'outage'))
       or (a.code = 'other_consumer' and a.seen_at < $3)
       or (a.code = 'same_nsu_other_bytes' and a.seen_at < $4))`,
    [instant(now), OF_RUNNING, instant(silent.otherConsumer), instant(silent.sameNsu)],
  );
  return rowCount;
}
