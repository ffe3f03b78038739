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

/** Looked up for each alert: there are few, and a table read as a whole to compare with them would cost more. */
const capture = (what: string) => `(select ${what} from captures c
  where c.company_id = a.company_id and c.document_type = a.document_type and c.environment = a.environment)`;
const any = (table: string, which: string) => `exists (select from ${table} x
  where x.company_id = a.company_id and x.document_type = a.document_type and x.environment = a.environment and ${which} limit 1)`;

/**
 * Closes alerts whose reason is gone, whoever opened them and whatever ended it: most are closed by what ends them, but people stop,
 * resume and delete, and other programs write. Gives how many.
 */
export async function closeEnded(db: Queryable, now: number, silent: SilentSince): Promise<number> {
  const { rowCount } = await db.query(
    `update alerts a set closed_at = $1 where a.closed_at is null and (
       (a.company_id is not null
         and (select co.deleting_at is null from companies co where co.id = a.company_id) is not true)
       or (a.code = any ($2) and ${capture('c.enabled')} is not true)
       or (a.code = 'capture_attention' and ${capture('c.phase')} is distinct from 'attention')
       or (a.code = 'capture_disabled' and ${capture('c.phase')} is distinct from 'disabled')
       or (a.code = 'database_behind' and ${capture('c.behind')} is not true)
       or ((a.code = 'handler_unavailable' or a.subject = 'host')
         and ${capture(`jsonb_typeof(c.options -> 'handler') = 'object'`)} is not true)
       or (a.code = 'item_failed' and not ${any('failed_items', 'x.resolved_at is null')})
       or (a.code = 'gap_too_large' and not ${any('gaps', `x.status = 'awaiting_confirmation'`)})
       or (a.code = 'service_outage' and not exists (
         select from services s where s.service like a.document_type || '-%' and s.environment = a.environment
           and s.paused_until is not null and s.reason = 'outage'))
       or (a.code = 'other_consumer' and a.seen_at < $3)
       or (a.code = 'same_nsu_other_bytes' and a.seen_at < $4))`,
    [instant(now), OF_RUNNING, instant(silent.otherConsumer), instant(silent.sameNsu)],
  );
  return rowCount;
}
