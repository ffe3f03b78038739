import { DOCUMENT_TYPES } from '../model/words.js';
import type { Queryable } from './database.js';
import { instant } from './database.js';
import type { ObjectStore, StoredObject } from './object-store/object-store.js';
import { RETENTION } from './retention.js';

/**
 * `orphan`: nothing will ever need it. `lost`: an answer, or a whole company, that the database knows nothing of although it should: it came back
 * older than the object store, and `malote verify --repair` takes the answers in. Those are evidence and are never deleted here.
 */
export type Unreferred = 'orphan' | 'lost';

/** An object that no row refers to. */
export interface UnreferredObject extends StoredObject {
  readonly what: Unreferred;
}

const BATCH = 500;

/**
 * Objects that no row refers to and that were written before an instant (milliseconds), as the store lists them; memory stays flat however
 * many there are. Spared: answers and their requests that an archive names, whatever a call that is open or unknown may still want, everything of a
 * capture whose database proved old, PDFs that are in use, and places that keep order among themselves (exports, imports).
 */
export async function* unreferredObjects(
  db: Queryable,
  store: ObjectStore,
  { before, now }: { readonly before: number; readonly now: number },
): AsyncIterable<UnreferredObject> {
  let batch: StoredObject[] = [];
  for await (const object of store.list('')) {
    if (object.writtenAt < before && OURS.test(object.key)) batch.push(object);
    if (batch.length < BATCH) continue;
    yield* judged(db, batch, now);
    batch = [];
  }
  yield* judged(db, batch, now);
}

/** Below a company's id. Whatever else stands in the store is not ours to judge. */
const OURS = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\//;
const ANSWER = new RegExp(
  `^([^/]+)/(${DOCUMENT_TYPES.join('|')})/(homologation|production)/(\\d{4}/\\d\\d/\\d\\d)/[^/]+$`,
);
const PDF = /^[^/]+\/pdf\/\d{4}\/\d\d\/([0-9a-f-]{36})\.[^/]+$/;

async function* judged(db: Queryable, objects: readonly StoredObject[], now: number): AsyncIterable<UnreferredObject> {
  const verdicts = new Map([
    ...(await ofNobody(db, objects)),
    ...(await answers(db, objects, now)),
    ...(await pdfs(db, objects)),
  ]);
  for (const object of objects) {
    const what = verdicts.get(object.key);
    if (what) yield { ...object, what };
  }
}

type Verdicts = [key: string, what: Unreferred][];

/** Objects of companies that are not there: deleted, or lost with the end of the database. */
async function ofNobody(db: Queryable, objects: readonly StoredObject[]): Promise<Verdicts> {
  const { rows } = await db.query<{ key: string; erased: boolean }>(
    `select o.key, e.status is not distinct from 'done' as erased
     from unnest($1::text[], $2::uuid[]) as o (key, company_id) left join erasures e on e.company_id = o.company_id
     where not exists (select from companies c where c.id = o.company_id)`,
    [objects.map(({ key }) => key), objects.map(({ key }) => companyOf(key))],
  );
  return rows.map(({ key, erased }) => [key, erased ? 'orphan' : 'lost']);
}

async function answers(db: Queryable, objects: readonly StoredObject[], now: number): Promise<Verdicts> {
  const found = objects.flatMap(({ key }) => {
    const [, companyId, documentType, environment, day] = ANSWER.exec(key) ?? [];
    return day === undefined
      ? []
      : [{ key, companyId, documentType, environment, day: Date.parse(`${day.replaceAll('/', '-')}T00:00:00Z`) }];
  });
  if (found.length === 0) return [];
  // A call's row is written before its object: where there is none although the log goes back so far, the database has lost it.
  const { rows } = await db.query<{ key: string; known: boolean }>(
    `select o.key, exists (select from calls c where ${OF_CALL}) as known
     from unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[]) as o (key, company_id, document_type, environment, day)
     join companies co on co.id = o.company_id
     where not exists (
         select from archives a where a.object_key = regexp_replace(o.key, '\\.request$', '') and (a.object_key = o.key or a.request_key = o.key))
       and not exists (select from calls c where ${OF_CALL} and c.status in ('open', 'unknown'))
       and not exists (
         select from captures p where p.company_id = o.company_id and p.document_type = o.document_type and p.environment = o.environment and p.behind)`,
    [
      found.map(({ key }) => key),
      found.map(({ companyId }) => companyId),
      found.map(({ documentType }) => documentType),
      found.map(({ environment }) => environment),
      found.map(({ day }) => instant(day)),
    ],
  );
  const dayOf = new Map(found.map(({ key, day }) => [key, day]));
  const logged = now - RETENTION.calls + 2 * DAY;
  return rows.map(({ key, known }) => [key, known || (dayOf.get(key) ?? 0) < logged ? 'orphan' : 'lost']);
}

const DAY = 86_400_000;

/** The call whose answer, request or registered event the object holds. The day in the key is that of the call's start. */
const OF_CALL = `c.company_id = o.company_id and c.document_type = o.document_type and c.environment = o.environment
  and c.started_at >= o.day and c.started_at < o.day + interval '1 day'
  and (c.archive_key = o.key or starts_with(o.key, c.archive_key || '.'))`;

/** A PDF that is not the one in use can be made again at any time. */
async function pdfs(db: Queryable, objects: readonly StoredObject[]): Promise<Verdicts> {
  const found = objects.flatMap(({ key }) => {
    const documentId = PDF.exec(key)?.[1];
    return documentId === undefined ? [] : [{ key, documentId }];
  });
  if (found.length === 0) return [];
  const { rows } = await db.query<{ key: string }>(
    `select o.key from unnest($1::text[], $2::uuid[], $3::uuid[]) as o (key, document_id, company_id)
     join companies co on co.id = o.company_id
     where not exists (select from pdfs p where p.document_id = o.document_id and p.object_key = o.key)`,
    [found.map(({ key }) => key), found.map(({ documentId }) => documentId), found.map(({ key }) => companyOf(key))],
  );
  return rows.map(({ key }) => [key, 'orphan']);
}

const companyOf = (key: string) => key.slice(0, key.indexOf('/'));
