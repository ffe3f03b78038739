import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { startPostgres } from '../../src/runtime/postgres.js';
import { migrate } from '../../src/storage/migrate.js';
import { scratchFolder } from './scratch.js';

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * A fresh database with all migrations, cloned from a template in some 30 ms. The server is the one of
 * MALOTE_TEST_POSTGRES_URL (`npm test` starts one for all files), else one that this process starts and that ends with it.
 */
export async function testDatabase(): Promise<TestDatabase> {
  const url = await serverUrl();
  const template = await migratedTemplate(url);
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdmin(url, (client) => client.query(`create database ${name} template ${template}`));
  return {
    url: withDatabase(url, name),
    drop: () => asAdmin(url, (client) => client.query(`drop database if exists ${name} with (force)`)),
  };
}

let server: Promise<string> | undefined;
function serverUrl(): Promise<string> {
  server ??= process.env.MALOTE_TEST_POSTGRES_URL
    ? Promise.resolve(process.env.MALOTE_TEST_POSTGRES_URL)
    : startPostgres({ folder: scratchFolder('postgres'), throwAway: true }).then((started) =>
        started.urlOf('postgres'),
      );
  return server;
}

let template: Promise<string> | undefined;
function migratedTemplate(url: string): Promise<string> {
  template ??= makeTemplate(url);
  return template;
}

/** Named by the migrations' content, so that processes on one server share it and a changed migration makes a new one. */
async function makeTemplate(url: string): Promise<string> {
  const folder = new URL('../../src/storage/migrations/', import.meta.url);
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  const texts = files.map((file) => readFileSync(new URL(file, folder), 'utf8'));
  const name = `template_${createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 16)}`;
  await asAdmin(url, async (client) => {
    await client.query('select pg_advisory_lock(20261130)');
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount) return;
    const draft = `${name}_draft`;
    await client.query(`drop database if exists ${draft} with (force)`);
    await client.query(`create database ${draft}`);
    await migrate(withDatabase(url, draft));
    await client.query(`alter database ${draft} rename to ${name}`);
  });
  return name;
}

async function asAdmin(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
