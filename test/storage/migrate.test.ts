import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import pg from 'pg';
import { createDatabase, type Database } from '../../src/storage/database.js';
import { assertMigrated, migrate, pendingMigrations, WrongSchema } from '../../src/storage/migrate.js';
import { testDatabase } from '../support/database.js';

/** An empty database: the test's own one without its tables. */
async function emptyDatabase(work: (db: Database, url: string) => Promise<void>): Promise<void> {
  const { url, drop } = await testDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('drop schema public cascade; create schema public');
  await client.end();
  const db = createDatabase({ url, applicationName: 'malote test', max: 2 });
  try {
    await work(db, url);
  } finally {
    await db.close();
    await drop();
  }
}

describe('migrate', () => {
  test('an empty database gets all tables, a second time nothing happens', () =>
    emptyDatabase(async (db, url) => {
      await assert.rejects(
        assertMigrated(db),
        (error) => error instanceof WrongSchema && /malote migrate/.test(error.message),
      );
      const pending = await pendingMigrations(db);
      assert.ok(pending.includes('0001_initial'));
      assert.deepEqual(await migrate(url), pending);
      await assertMigrated(db);
      assert.deepEqual(await pendingMigrations(db), []);
      assert.deepEqual(await migrate(url), []);
      assert.equal((await db.query('select from captures')).rowCount, 0);
    }));

  test('several at once: one works, the others wait and find it done', () =>
    emptyDatabase(async (db, url) => {
      const pending = await pendingMigrations(db);
      const ran = await Promise.all(Array.from({ length: 5 }, () => migrate(url)));
      assert.deepEqual(ran.flat(), pending);
      await assertMigrated(db);
    }));

  test('a database of a newer program is refused, by the start and by migrate', () =>
    emptyDatabase(async (db, url) => {
      await migrate(url);
      await db.query("insert into schema_migrations (name, run_on) values ('9999_from_the_future', now())");
      const refused = (error: unknown) =>
        error instanceof WrongSchema && /newer Malote \(9999_from_the_future\)/.test(error.message);
      await assert.rejects(assertMigrated(db), refused);
      await assert.rejects(migrate(url), refused);
    }));

  test('an older one is refused by the start, which says what it lacks and what to run', () =>
    emptyDatabase(async (db, url) => {
      await migrate(url);
      await db.query("delete from schema_migrations where name = '0001_initial'");
      await assert.rejects(
        assertMigrated(db),
        (error) => error instanceof WrongSchema && /lacks 0001_initial: run "malote migrate"/.test(error.message),
      );
    }));

  test('a migration that fails leaves nothing behind', () =>
    emptyDatabase(async (db, url) => {
      await db.query('create table settings (other int)');
      await assert.rejects(migrate(url), /settings/);
      const { rows } = await db.query("select tablename from pg_tables where schemaname = 'public' order by 1");
      assert.deepEqual(rows, [{ tablename: 'schema_migrations' }, { tablename: 'settings' }]);
    }));
});
