import type { Nsu } from '../model/nsu.js';
import type { Transaction } from './database.js';
import { DOCUMENT_COLUMNS, type DocumentRow } from './documents.js';

/**
 * Gives documents that came without a number the one that they have come with now.
 *
 * @returns those among them that nobody was told of so far, in the order of their numbers
 */
export async function fillNsus(
  tx: Transaction,
  numbered: readonly { readonly id: string; readonly nsu: Nsu }[],
): Promise<DocumentRow[]> {
  if (numbered.length === 0) return [];
  const { rows } = await tx.query<DocumentRow>(
    `with filled as (
       update documents d set nsu = n.nsu, suppressed = case when origin in ('import', 'on_demand') then null else suppressed end
       from unnest($1::uuid[], $2::bigint[]) as n (id, nsu) where d.id = n.id and d.nsu is null returning d.*
     )
     select ${DOCUMENT_COLUMNS} from filled d
     where d.suppressed is null and not exists (select from events e where e.document_id = d.id) order by d.nsu`,
    [numbered.map(({ id }) => id), numbered.map(({ nsu }) => nsu)],
  );
  return rows;
}
