import type { Nsu } from '../model/nsu.js';
import type { Transaction } from './database.js';
import { DOCUMENT_COLUMNS, type DocumentRow } from './documents.js';
import { EVENTS_NOT_READ } from './events-not-read.js';

/** A document that came without a number, and the one that it has come with now. */
export interface Numbered {
  readonly id: string;
  readonly nsu: Nsu;
  /** It is written otherwise than the one that is here, which stays; the other one stands in its archive. */
  readonly otherBytes: boolean;
}

const OTHER_BYTES = 'other_bytes: it was distributed in other bytes, which are in the archive of that page';

/**
 * Gives documents their numbers.
 *
 * @returns those among them that nobody was told of so far, in the order of their numbers
 */
export async function fillNsus(tx: Transaction, numbered: readonly Numbered[]): Promise<DocumentRow[]> {
  if (numbered.length === 0) return [];
  const { rows } = await tx.query<DocumentRow>(
    `with filled as (
       update documents d set nsu = n.nsu, suppressed = case when origin in ('import', 'on_demand') then null else suppressed end,
         warnings = array_remove(warnings, $5) || case when n.other_bytes then array[$4] else '{}'::text[] end
       from unnest($1::uuid[], $2::bigint[], $3::boolean[]) as n (id, nsu, other_bytes)
       where d.id = n.id and d.nsu is null returning d.*
     )
     select ${DOCUMENT_COLUMNS} from filled d
     where d.suppressed is null and not exists (select from events e where e.document_id = d.id) order by d.nsu`,
    [
      numbered.map(({ id }) => id),
      numbered.map(({ nsu }) => nsu),
      numbered.map(({ otherBytes }) => otherBytes),
      OTHER_BYTES,
      EVENTS_NOT_READ,
    ],
  );
  return rows;
}
