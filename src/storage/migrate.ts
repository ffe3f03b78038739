import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import type { Queryable } from './database.js';
import { rebuilt } from './database-error.js';

const FOLDER = fileURLToPath(new URL('./migrations/', import.meta.url));
const TABLE = 'schema_migrations';

/** The tables are not those of this program. The message says what to run. */
export class WrongSchema extends Error {
  override readonly name = 'WrongSchema';
}

/**
 * Brings the database's tables up to this program's version, all or nothing. Any number of processes may do so at once: one
 * works, the others wait for it. Says which migrations ran, in order.
 *
 * @throws {WrongSchema} when a newer program was here before
 * @throws {DatabaseError}
 */
export async function migrate(url: string): Promise<string[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'malote migrate',
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', () => {}); // its statement in hand reports it
  try {
    await client.connect();
    refuseNewer(await state({ query: (text) => client.query(text) }));
    const ran = await runner({
      dbClient: client,
      dir: FOLDER,
      migrationsTable: TABLE,
      direction: 'up',
      advisoryLockMode: 'wait',
      logger: SILENT,
    });
    return ran.map(({ name }) => name);
  } catch (error) {
    throw error instanceof WrongSchema ? error : rebuilt(error);
  } finally {
    await client.end();
  }
}

/**
 * Refuses to go on with tables that are older or newer than this program.
 *
 * @throws {WrongSchema} that says what to run
 */
export async function assertMigrated(db: Queryable): Promise<void> {
  const found = await state(db);
  refuseNewer(found);
  if (found.pending.length > 0) {
    throw new WrongSchema(`the database lacks ${found.pending.join(', ')}: run "malote migrate", then start again`);
  }
}

/** Names of the migrations that {@link migrate} would run. */
export async function pendingMigrations(db: Queryable): Promise<string[]> {
  return (await state(db)).pending;
}

interface SchemaState {
  readonly pending: string[];
  /** Applied by a program that knows more than this one. */
  readonly foreign: readonly string[];
}

async function state(db: { query(text: string): Promise<{ rows: unknown[] }> }): Promise<SchemaState> {
  const known = (await readdir(FOLDER))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -4))
    .sort();
  const { rows: tables } = await db.query(`select where to_regclass('${TABLE}') is not null`);
  const { rows } = tables.length === 0 ? { rows: [] } : await db.query(`select name from ${TABLE} order by id`);
  const applied = (rows as { name: string }[]).map(({ name }) => name);
  return {
    pending: known.filter((name) => !applied.includes(name)),
    foreign: applied.filter((name) => !known.includes(name)),
  };
}

function refuseNewer({ foreign }: SchemaState): void {
  if (foreign.length === 0) return;
  throw new WrongSchema(
    `the database was migrated by a newer Malote (${foreign.join(', ')}): run that version or a later one, or restore a backup of before`,
  );
}

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
