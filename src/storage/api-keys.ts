import type { Queryable } from './database.js';
import { instant } from './database.js';
import { Filter } from './filter.js';
import type { Page, PageRequest } from './keyset.js';
import { pageOf, readCursor } from './keyset.js';

export interface ApiKeyRow {
  readonly id: string;
  readonly name: string;
  readonly scopes: string[];
  /** The companies it is limited to; null: all. */
  readonly companyIds: string[] | null;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

const COLUMNS = `id, name, scopes, company_ids as "companyIds", created_at as "createdAt", last_used_at as "lastUsedAt",
  revoked_at as "revokedAt"`;

/** How exact `lastUsedAt` is: a busy key must not write a row per request. */
const LAST_USED_STEP = '1 minute';

/** @param key with the SHA-256 of the key, hex; the key itself is shown once and kept nowhere */
export async function createApiKey(
  db: Queryable,
  key: {
    readonly id: string;
    readonly name: string;
    readonly hash: string;
    readonly scopes: readonly string[];
    readonly companyIds: readonly string[] | null;
    readonly now: number;
  },
): Promise<ApiKeyRow> {
  const { rows } = await db.query<ApiKeyRow>(
    `insert into api_keys (id, name, hash, scopes, company_ids, created_at) values ($1, $2, $3, $4, $5, $6)
     returning ${COLUMNS}`,
    [key.id, key.name, key.hash, key.scopes, key.companyIds, instant(key.now)],
  );
  const [row] = rows;
  if (!row) throw new Error('insert into api_keys returned nothing');
  return row;
}

/** The key with this hash, unless revoked; notes that it was used. */
export async function useApiKey(db: Queryable, hash: string, now: number): Promise<ApiKeyRow | null> {
  const { rows } = await db.query<ApiKeyRow>(`select ${COLUMNS} from api_keys where hash = $1 and revoked_at is null`, [
    hash,
  ]);
  const [row] = rows;
  if (!row) return null;
  await db.query(
    `update api_keys set last_used_at = $2
     where id = $1 and (last_used_at is null or last_used_at < $2::timestamptz - interval '${LAST_USED_STEP}')`,
    [row.id, instant(now)],
  );
  return row;
}

/** Newest first, revoked ones included. @throws {InvalidCursor} */
export async function listApiKeys(db: Queryable, { limit, cursor }: PageRequest): Promise<Page<ApiKeyRow>> {
  const where = new Filter().after(readCursor(cursor, ['instant', 'uuid']), 'created_at, id', '<');
  const { rows } = await db.query<ApiKeyRow>(
    `select ${COLUMNS} from api_keys ${where.where} order by created_at desc, id desc limit ${limit + 1}`,
    where.values,
  );
  return pageOf(rows, limit, (row) => [row.createdAt, row.id]);
}

/** False: no such key, or revoked before. */
export async function revokeApiKey(db: Queryable, id: string, now: number): Promise<boolean> {
  const { rowCount } = await db.query('update api_keys set revoked_at = $2 where id = $1 and revoked_at is null', [
    id,
    instant(now),
  ]);
  return rowCount > 0;
}
