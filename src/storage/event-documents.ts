import type { Nsu } from '../model/nsu.js';
import type { CaptureKey } from '../model/words.js';
import { nsuColumn } from './capture-rows.js';
import { captureValues } from './captures.js';
import type { Queryable, Transaction } from './database.js';

/** What names a registered event, whichever way its document came and however it is written. */
export interface EventIdentity {
  readonly key: string;
  readonly type: string;
  readonly sequence: number;
  /** nProt: given once. Null where events have none, and key, type and sequence say it all. */
  readonly protocol: string | null;
}

/** The id of the document in which this company holds an event; null when it holds none. A summary of it is not its document. */
export async function findEventDocument(
  db: Queryable,
  capture: CaptureKey,
  { key, type, sequence, protocol }: EventIdentity,
): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    `select id from documents
     where key = $4 and company_id = $1 and document_type = $2 and environment = $3 and kind not in ('resEvento', 'pedRegEvento')
       and event_type = $5 and event_sequence = $6 and ($7::text is null or event ->> 'protocol' = $7)
     order by captured_at, id limit 1`,
    [...captureValues(capture), key, type, sequence, protocol],
  );
  return rows[0]?.id ?? null;
}

/** A registered manifestation of ours, as a document. */
export interface OwnEvent {
  readonly id: string;
  readonly key: string;
  readonly type: string;
  readonly sequence: number | null;
  /** Null: the answer that told it got lost. */
  readonly protocol: string | null;
  /** Null: it has not come by distribution yet. */
  readonly nsu: Nsu | null;
}

/** Our own registered manifestations about these keys. */
export async function ownEvents(db: Queryable, capture: CaptureKey, keys: readonly string[]): Promise<OwnEvent[]> {
  const { rows } = await db.query<OwnEvent>(
    `select d.id, d.key, d.event_type as type, d.event_sequence as sequence, d.event ->> 'protocol' as protocol,
       ${nsuColumn('d.nsu', 'nsu')} from documents d
     where key = any($4) and company_id = $1 and document_type = $2 and environment = $3 and origin = 'manifestation'`,
    [...captureValues(capture), keys],
  );
  return rows;
}

/** Notes under which numbers events of ours were distributed. */
export async function numberEvents(tx: Transaction, numbered: readonly Pick<OwnEvent, 'id' | 'nsu'>[]): Promise<void> {
  if (numbered.length === 0) return;
  await tx.query(
    'update documents d set nsu = n.nsu from unnest($1::uuid[], $2::bigint[]) as n (id, nsu) where d.id = n.id',
    [numbered.map(({ id }) => id), numbered.map(({ nsu }) => nsu)],
  );
}
