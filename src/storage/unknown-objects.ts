import type { CaptureKey } from '../model/words.js';
import { captureValues } from './captures.js';
import type { Queryable } from './database.js';
import { instant } from './database.js';
import { companyPrefix, type ObjectStore } from './object-store/index.js';
import type { StoredObject } from './object-store/object-store.js';

const DAY = 86_400_000;
const BATCH = 500;

/**
 * Objects of a capture's calls that no row refers to, from the UTC day of one instant to that of another (milliseconds): answers that a
 * database has lost which came back older than its object store. Not those of calls that have no end yet: they are looked for by the next call.
 */
export async function unknownObjects(
  db: Queryable,
  store: ObjectStore,
  capture: CaptureKey,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<StoredObject[]> {
  const { companyId, documentType, environment } = capture;
  const found: StoredObject[] = [];
  for (let day = Math.floor(from / DAY) * DAY; day <= to; day += DAY) {
    const path = new Date(day).toISOString().slice(0, 10).replaceAll('-', '/');
    const objects: StoredObject[] = [];
    for await (const object of store.list(`${companyPrefix(companyId)}${documentType}/${environment}/${path}`)) {
      if (!object.key.endsWith('.request')) objects.push(object);
    }
    for (let i = 0; i < objects.length; i += BATCH) {
      found.push(...(await unknownOf(db, capture, day, objects.slice(i, i + BATCH))));
    }
  }
  return found;
}

async function unknownOf(
  db: Queryable,
  capture: CaptureKey,
  day: number,
  objects: readonly StoredObject[],
): Promise<StoredObject[]> {
  const { rows } = await db.query<{ key: string }>(
    `select key from unnest($4::text[]) as o (key)
     where not exists (select from archives a where a.object_key = o.key)
       and not exists (
         select from calls c where c.company_id = $1 and c.document_type = $2 and c.environment = $3 and c.started_at >= $5
           and c.archive_key = o.key and c.status in ('open', 'unknown'))`,
    [...captureValues(capture), objects.map(({ key }) => key), instant(day)],
  );
  const unknown = new Set(rows.map(({ key }) => key));
  return objects.filter(({ key }) => unknown.has(key));
}
