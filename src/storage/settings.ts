import type { Queryable } from './database.js';

/** Facts about the whole installation, by name; values are JSON. */
export async function getSetting(db: Queryable, name: string): Promise<unknown> {
  const { rows } = await db.query<{ value: unknown }>('select value from settings where name = $1', [name]);
  return rows[0]?.value;
}

/** Writes a setting, new or not. */
export async function putSetting(db: Queryable, name: string, value: unknown): Promise<void> {
  await db.query(
    'insert into settings (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value',
    [name, JSON.stringify(value)],
  );
}

/** Writes a setting unless there is one, and gives the one that holds: the same for all processes that start at once. */
export async function settleSetting(db: Queryable, name: string, value: unknown): Promise<unknown> {
  await db.query('insert into settings (name, value) values ($1, $2) on conflict (name) do nothing', [
    name,
    JSON.stringify(value),
  ]);
  return getSetting(db, name);
}
