import type { CaptureKey } from '../model/words.js';
import { captureValues } from './captures.js';
import type { Queryable } from './database.js';

/** What names a registered event, whichever way its document came and however it is written. */
export interface EventIdentity {
  readonly key: string;
  readonly type: string;
  readonly sequence: number;
  /** nProt: given once. */
  readonly protocol: string;
}

/** The id of the document in which this company holds an event; null when it holds none. A summary of it is not its document. */
export async function findEventDocument(
  db: Queryable,
  capture: CaptureKey,
  { key, type, sequence, protocol }: EventIdentity,
): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    `select id from documents
     where key = $4 and company_id = $1 and document_type = $2 and environment = $3 and kind like 'procEvento%'
       and event_type = $5 and event_sequence = $6 and event ->> 'protocol' = $7
     order by captured_at, id limit 1`,
    [...captureValues(capture), key, type, sequence, protocol],
  );
  return rows[0]?.id ?? null;
}
