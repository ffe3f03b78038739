import type { CaptureKey } from '../model/words.js';
import { captureValues } from './captures.js';
import type { Queryable } from './database.js';
import { instant } from './database.js';
import { companyPrefix, type ObjectStore } from './object-store/index.js';
import type { StoredObject } from './object-store/object-store.js';

const DAY = 86_400_000;
const BATCH = 500;

/** Days of a span that are listed one by one; of a longer one whole months are, so that a capture that stopped years ago costs few lists. */
const SINGLE_DAYS = 31;

/**
 * Objects of a capture's calls that no row refers to, from the UTC day of one instant to that of another (milliseconds): answers that a
 * database has lost which came back older than its object store. Not those of calls that have no end yet: they are looked for by the next call.
 * A batch at a time is in memory.
 */
export async function* unknownObjects(
  db: Queryable,
  store: ObjectStore,
  capture: CaptureKey,
  { from, to }: { readonly from: number; readonly to: number },
): AsyncIterable<StoredObject> {
  const { companyId, documentType, environment } = capture;
  const place = `${companyPrefix(companyId)}${documentType}/${environment}/`;
  const first = Math.floor(from / DAY) * DAY;
  const since = place + pathOf(first);
  const paths = new Set<string>();
  for (let day = first; day <= to; day += DAY) {
    paths.add(to - from > SINGLE_DAYS * DAY ? pathOf(day).slice(0, 'yyyy/mm'.length) : pathOf(day));
  }
  for (const path of paths) {
    let batch: StoredObject[] = [];
    for await (const object of store.list(place + path)) {
      // A month is listed from its beginning.
      if (object.key.endsWith('.request') || object.key < since) continue;
      batch.push(object);
      if (batch.length < BATCH) continue;
      yield* await unknownOf(db, capture, first, batch);
      batch = [];
    }
    if (batch.length > 0) yield* await unknownOf(db, capture, first, batch);
  }
}

const pathOf = (day: number) => new Date(day).toISOString().slice(0, 10).replaceAll('-', '/');

async function unknownOf(
  db: Queryable,
  capture: CaptureKey,
  since: number,
  objects: readonly StoredObject[],
): Promise<StoredObject[]> {
  const { rows } = await db.query<{ key: string }>(
    `select key from unnest($4::text[]) as o (key)
     where not exists (select from archives a where a.object_key = o.key)
       and not exists (
         select from calls c where c.company_id = $1 and c.document_type = $2 and c.environment = $3 and c.started_at >= $5
           and c.archive_key = o.key and c.status in ('open', 'unknown'))`,
    [...captureValues(capture), objects.map(({ key }) => key), instant(since)],
  );
  const unknown = new Set(rows.map(({ key }) => key));
  return objects.filter(({ key }) => unknown.has(key));
}
