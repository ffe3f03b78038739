import pg from 'pg';
import type { Queryable } from '../storage/database.js';

/** What is in the database of `malote dev`, this start and earlier ones together. */
export interface Summary {
  readonly documents: number;
  /** Answers of the government with documents in them. */
  readonly pages: number;
  readonly webhooksDelivered: number;
  /** Numbers up to the cursors whose document did not come: answers that a crash swallowed. Each is on record as a gap. */
  readonly missing: number;
  /** Of the missing ones, those that are still being asked for, one by one, under the government's quota. */
  readonly recovering: number;
  /** Webhooks that still wait. */
  readonly webhooksPending: number;
}

/** What the demo has captured and delivered so far. */
export async function readSummary(db: Queryable): Promise<Summary> {
  const { rows } = await db.query<Summary>(
    `select (select count(*)::int from documents) as documents,
       (select count(*)::int from calls where outcome = 'documents') as pages,
       (select count(*)::int from deliveries where status = 'delivered') as "webhooksDelivered",
       (select coalesce(sum(ult_nsu), 0)::int from captures)
         - (select count(distinct (company_id, document_type, environment, nsu))::int from documents where nsu is not null) as missing,
       (select coalesce(sum(to_nsu - from_nsu + 1), 0)::int from gaps where status = 'pending' and means = 'point') as recovering,
       (select count(*)::int from deliveries where status = 'pending') as "webhooksPending"`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the database gave no figures');
  return row;
}

/** Makes the database unless it exists. */
export async function ensureDatabase(adminUrl: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}
