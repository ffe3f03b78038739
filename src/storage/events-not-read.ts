import type { Queryable } from './database.js';

/** Of a note that came on demand: nobody could say what happened to it since. When it is distributed, so are its events. */
export const EVENTS_NOT_READ =
  'events_not_read: its events could not be read; capture it by its key again to ask for them';

export async function lacksEvents(db: Queryable, documentId: string): Promise<boolean> {
  const { rows } = await db.query('select from documents where id = $1 and $2 = any(warnings)', [
    documentId,
    EVENTS_NOT_READ,
  ]);
  return rows.length > 0;
}

/** Writes whether its events were read. */
export async function markEvents(db: Queryable, documentId: string, areRead: boolean): Promise<void> {
  await db.query(
    `update documents set warnings = case when $3 then array_remove(warnings, $2) else array_append(array_remove(warnings, $2), $2) end
     where id = $1 and nsu is null and ($2 = any(warnings)) = $3`,
    [documentId, EVENTS_NOT_READ, areRead],
  );
}
