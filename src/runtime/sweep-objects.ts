import { createDatabase } from '../storage/database.js';
import { assertMigrated } from '../storage/migrate.js';
import { openObjectStore } from '../storage/object-store/index.js';
import { unreferredObjects } from '../storage/orphan-objects.js';
import { PostgresClock } from '../storage/postgres-clock.js';

/** What `malote verify --sweep` found, and did. */
export interface ObjectSweep {
  /** Objects that nothing refers to and nothing will need. */
  readonly orphans: number;
  readonly bytes: number;
  readonly deleted: number;
  /** Answers that the database should know and does not: never deleted. */
  readonly lost: number;
  /** The keys of the first orphans. */
  readonly examples: readonly string[];
}

const EXAMPLES = 20;
const DAY = 86_400_000;

/**
 * Looks through the whole object store for what no row refers to; with `remove`, deletes it. Safe while everything runs, because of `days`: what
 * is being written now is younger.
 *
 * @param options.days only objects older than that many days
 * @throws {WrongSchema} @throws {DatabaseError} @throws {InvalidObjectStore} @throws {ObjectStoreUnavailable}
 */
export async function sweepObjects(options: {
  readonly database: string;
  readonly objectStore: string;
  readonly days: number;
  readonly remove: boolean;
}): Promise<ObjectSweep> {
  const store = await openObjectStore(options.objectStore);
  const database = createDatabase({ url: options.database, applicationName: 'malote-sweep', max: 2 });
  try {
    await assertMigrated(database);
    const now = await new PostgresClock(database).now();
    const found = { orphans: 0, bytes: 0, deleted: 0, lost: 0 };
    const examples: string[] = [];
    for await (const object of unreferredObjects(database, store, { before: now - options.days * DAY, now })) {
      if (object.what === 'lost') {
        found.lost += 1;
        continue;
      }
      found.orphans += 1;
      found.bytes += object.size;
      if (examples.length < EXAMPLES) examples.push(object.key);
      if (!options.remove) continue;
      await store.delete(object.key);
      found.deleted += 1;
    }
    return { ...found, examples };
  } finally {
    await database.close();
  }
}
