import { v7 as uuidv7 } from 'uuid';
import type { AlertCode, DocumentType } from '../model/words.js';
import type { Queryable, Transaction } from './database.js';
import { instant } from './database.js';
import { Filter } from './filter.js';
import type { Page, PageRequest } from './keyset.js';
import { pageOf, readCursor } from './keyset.js';

/** Webhook endpoints. Deleted ones keep their row, for the log of their deliveries, and are found by nothing here. */

/** Seals secrets under the master key. `owner` is the endpoint's id: a sealed secret opens for no other. */
export interface SecretBox {
  seal(secret: string, owner: string): { readonly keyId: string; readonly sealed: Buffer };
  open(sealed: Buffer, owner: string): string;
}

/** A webhook endpoint; its secret is sealed. */
export interface EndpointRow {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  /** Event types that it wants; null: all. */
  readonly events: string[] | null;
  readonly companyIds: string[] | null;
  readonly documentTypes: DocumentType[] | null;
  readonly status: 'enabled' | 'disabled';
  readonly disabledReason: string | null;
  readonly disabledAt: number | null;
  readonly enabledAt: number;
  /** Every attempt since then failed; null while it works. */
  readonly failingSince: number | null;
  /** Until then messages are signed with the secret before the last rotation, too. */
  readonly previousSecretUntil: number | null;
  readonly createdAt: number;
}

const COLUMNS = `id, url, description, events, company_ids as "companyIds", document_types as "documentTypes", status,
  disabled_reason as "disabledReason", disabled_at as "disabledAt", enabled_at as "enabledAt", failing_since as "failingSince",
  previous_until as "previousSecretUntil", created_at as "createdAt"`;

/** An endpoint to be added. */
export interface NewEndpoint {
  readonly url: string;
  readonly description?: string | null | undefined;
  readonly events?: readonly string[] | null | undefined;
  readonly companyIds?: readonly string[] | null | undefined;
  readonly documentTypes?: readonly DocumentType[] | null | undefined;
  /** `whsec_…`; shown once by the caller, kept sealed here. */
  readonly secret: string;
  readonly at: number;
}

/** Adds an enabled endpoint. The caller has checked the URL. */
export async function createEndpoint(db: Queryable, box: SecretBox, endpoint: NewEndpoint): Promise<EndpointRow> {
  const id = uuidv7();
  const { keyId, sealed } = box.seal(endpoint.secret, id);
  const { rows } = await db.query<EndpointRow>(
    `insert into endpoints (id, url, description, events, company_ids, document_types, key_id, secret, enabled_at, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) returning ${COLUMNS}`,
    [
      id,
      endpoint.url,
      endpoint.description ?? null,
      endpoint.events ?? null,
      endpoint.companyIds ?? null,
      endpoint.documentTypes ?? null,
      keyId,
      sealed,
      instant(endpoint.at),
    ],
  );
  return only(rows);
}

/** The endpoint of this id, or null. */
export async function getEndpoint(db: Queryable, id: string): Promise<EndpointRow | null> {
  const { rows } = await db.query<EndpointRow>(
    `select ${COLUMNS} from endpoints where id = $1 and deleted_at is null`,
    [id],
  );
  return rows[0] ?? null;
}

export interface EndpointFilter {
  readonly companyId?: string | undefined;
  readonly status?: 'enabled' | 'disabled' | undefined;
  /** The companies that an API key may see: only endpoints that are limited to some of them. Undefined: all. */
  readonly visible?: readonly string[] | undefined;
}

/** Newest first. @throws {InvalidCursor} */
export async function listEndpoints(
  db: Queryable,
  filter: EndpointFilter,
  { limit, cursor }: PageRequest,
): Promise<Page<EndpointRow>> {
  const position = readCursor(cursor, ['instant', 'uuid']);
  const where = new Filter()
    .always('deleted_at is null')
    .add(filter.companyId, (v) => `company_ids @> array[${v}]::uuid[]`)
    .add(filter.status, (v) => `status = ${v}`)
    .add(filter.visible, (v) => `company_ids <@ ${v}::uuid[]`)
    .after(position, 'created_at, id', '<');
  const { rows } = await db.query<EndpointRow>(
    `select ${COLUMNS} from endpoints ${where.where} order by created_at desc, id desc limit ${limit + 1}`,
    where.values,
  );
  return pageOf(rows, limit, (row) => [row.createdAt, row.id]);
}

/** Absent fields stay; null means "all" (or no description). Events that were queued before keep their deliveries. */
export interface EndpointPatch {
  readonly url?: string | undefined;
  readonly description?: string | null | undefined;
  readonly events?: readonly string[] | null | undefined;
  readonly companyIds?: readonly string[] | null | undefined;
}

/** Null: no such endpoint. */
export async function patchEndpoint(db: Queryable, id: string, patch: EndpointPatch): Promise<EndpointRow | null> {
  const { rows } = await db.query<EndpointRow>(
    `update endpoints set url = coalesce($2, url),
       description = case when $3 then $4 else description end,
       events = case when $5 then $6::text[] else events end,
       company_ids = case when $7 then $8::uuid[] else company_ids end
     where id = $1 and deleted_at is null returning ${COLUMNS}`,
    [
      id,
      patch.url ?? null,
      patch.description !== undefined,
      patch.description ?? null,
      patch.events !== undefined,
      patch.events ?? null,
      patch.companyIds !== undefined,
      patch.companyIds ?? null,
    ],
  );
  return rows[0] ?? null;
}

/** Deletes an endpoint, cancels what it had pending and closes its alerts; the log stays. False: no such endpoint. */
export async function deleteEndpoint(db: Queryable, id: string, at: number): Promise<boolean> {
  const { rowCount } = await db.query('update endpoints set deleted_at = $2 where id = $1 and deleted_at is null', [
    id,
    instant(at),
  ]);
  if (rowCount === 0) return false;
  await cancelPending(db, id, Number.POSITIVE_INFINITY);
  await closeEndpointAlerts(db, id, at);
  return true;
}

/** How long messages are signed with both secrets after a rotation. */
const ROTATION_OVERLAP_MS = 24 * 3_600_000;

/**
 * Puts a new secret in place; the one before stays valid for 24 h. Of two rotations within a day only the last predecessor does.
 * Null: no such endpoint.
 */
export async function rotateSecret(
  tx: Transaction,
  box: SecretBox,
  rotation: { readonly id: string; readonly secret: string; readonly at: number },
): Promise<EndpointRow | null> {
  const { id, secret, at } = rotation;
  const { rows: before } = await tx.query<{ secret: Buffer }>(
    'select secret from endpoints where id = $1 and deleted_at is null for no key update',
    [id],
  );
  if (!before[0]) return null;
  const next = box.seal(secret, id);
  // The row names one master key: the old secret moves under the one that is current now.
  const previous = box.seal(box.open(before[0].secret, id), id);
  const { rows } = await tx.query<EndpointRow>(
    `update endpoints set key_id = $2, secret = $3, previous_secret = $4, previous_until = $5 where id = $1 returning ${COLUMNS}`,
    [id, next.keyId, next.sealed, previous.sealed, instant(at + ROTATION_OVERLAP_MS)],
  );
  return only(rows);
}

/** What the sender needs. Null: no such endpoint. */
export interface SendingEndpoint {
  readonly url: string;
  readonly status: 'enabled' | 'disabled';
  readonly failingSince: number | null;
  /** Every secret that is valid now, the current one first. */
  readonly secrets: readonly string[];
}

/** The endpoint with what sending needs, or null. */
export async function readSendingEndpoint(
  db: Queryable,
  box: SecretBox,
  id: string,
  now: number,
): Promise<SendingEndpoint | null> {
  const { rows } = await db.query<Omit<SendingEndpoint, 'secrets'> & { secret: Buffer; previous: Buffer | null }>(
    `select url, status, failing_since as "failingSince", secret,
       case when previous_until > $2 then previous_secret end as previous
     from endpoints where id = $1 and deleted_at is null`,
    [id, instant(now)],
  );
  if (!rows[0]) return null;
  const { secret, previous, ...endpoint } = rows[0];
  const sealed = previous ? [secret, previous] : [secret];
  return { ...endpoint, secrets: sealed.map((one) => box.open(one, id)) };
}

/** Writes since when every attempt has failed; null: it works. */
export async function setFailingSince(db: Queryable, id: string, failingSince: number | null): Promise<void> {
  await db.query('update endpoints set failing_since = $2 where id = $1', [id, instant(failingSince)]);
}

/** Nothing is sent any more; events go on being queued and are held. False: it was disabled already, or there is none. */
export async function disableEndpoint(db: Queryable, id: string, reason: string, at: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update endpoints set status = 'disabled', disabled_reason = $2, disabled_at = $3
     where id = $1 and status = 'enabled' and deleted_at is null`,
    [id, reason, instant(at)],
  );
  return rowCount > 0;
}

/** Which held events are sent after enabling: all, none, or those queued at or after an instant (milliseconds). The others are cancelled. */
export type Replay = 'all' | 'none' | { readonly since: number };

/**
 * Enables a disabled endpoint. What is replayed is due at once, in commit order, with a fresh 3 days. An endpoint that is enabled
 * already stays as it is. Null: no such endpoint.
 */
export async function enableEndpoint(
  db: Queryable,
  id: string,
  replay: Replay,
  at: number,
): Promise<EndpointRow | null> {
  const endpoint = await getEndpoint(db, id);
  if (endpoint?.status !== 'disabled') return endpoint;
  if (replay === 'none') await cancelPending(db, id, at + 1);
  else if (replay !== 'all') await cancelPending(db, id, replay.since);
  await startAfresh(db, id);
  await closeEndpointAlerts(db, id, at);
  const { rows } = await db.query<EndpointRow>(
    `update endpoints set status = 'enabled', enabled_at = $2, disabled_reason = null, disabled_at = null, failing_since = null
     where id = $1 and deleted_at is null returning ${COLUMNS}`,
    [id, instant(at)],
  );
  return rows[0] ?? null;
}

/**
 * `webhookUrl` of a capture: makes the one endpoint that is limited to this company and type, moves it to another URL, or deletes
 * it. Call it with the capture's row locked, so that two requests do not make two.
 *
 * @param wanted `secret`: for the case that one is made
 * @returns `made`: true when the secret is now in use and has to be shown
 */
export async function setCaptureEndpoint(
  tx: Transaction,
  box: SecretBox,
  capture: { readonly companyId: string; readonly documentType: DocumentType },
  wanted: { readonly url: string | null; readonly secret: string; readonly at: number },
): Promise<{ readonly endpoint: EndpointRow | null; readonly made: boolean }> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from endpoints where company_ids = array[$1]::uuid[] and company_ids @> array[$1]::uuid[]
       and document_types = array[$2]::text[] and deleted_at is null order by created_at limit 1`,
    [capture.companyId, capture.documentType],
  );
  const [existing] = rows;
  if (wanted.url === null) {
    if (existing) await deleteEndpoint(tx, existing.id, wanted.at);
    return { endpoint: null, made: false };
  }
  if (existing) return { endpoint: await patchEndpoint(tx, existing.id, { url: wanted.url }), made: false };
  const endpoint = await createEndpoint(tx, box, {
    ...wanted,
    url: wanted.url,
    description: `webhookUrl of the ${capture.documentType} capture`,
    companyIds: [capture.companyId],
    documentTypes: [capture.documentType],
  });
  return { endpoint, made: true };
}

/** By the subject alone: which companies the endpoint is limited to may have changed since they were opened. */
export async function closeEndpointAlerts(db: Queryable, id: string, at: number): Promise<void> {
  await db.query('update alerts set closed_at = $2 where subject = $1 and code = any ($3) and closed_at is null', [
    id,
    instant(at),
    ['endpoint_failing', 'endpoint_disabled'] satisfies AlertCode[],
  ]);
}

/** Cancels an endpoint's pending deliveries that were queued before an instant. */
function cancelPending(db: Queryable, endpointId: string, before: number): Promise<void> {
  return inBatches(() =>
    db.query(
      `update deliveries set status = 'cancelled', last_error = coalesce(last_error, 'cancelled: not to be sent')
       where id in (select id from deliveries where endpoint_id = $1 and status = 'pending' and created_at < $2 limit ${BATCH})`,
      [endpointId, instant(before)],
    ),
  );
}

/** Makes pending deliveries due at once, in commit order; those that were never tried are so already. */
function startAfresh(db: Queryable, endpointId: string): Promise<void> {
  return inBatches(() =>
    db.query(
      `update deliveries set attempts = 0, first_attempt_at = null, next_attempt_at = created_at
       where id in (select id from deliveries where endpoint_id = $1 and status = 'pending' and attempts > 0 limit ${BATCH})`,
      [endpointId],
    ),
  );
}

/** A bounded number of rows a statement: an endpoint may hold months of events. */
const BATCH = 10_000;

async function inBatches(change: () => Promise<{ readonly rowCount: number }>): Promise<void> {
  let changed: number;
  do ({ rowCount: changed } = await change());
  while (changed === BATCH);
}

function only<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (!row) throw new Error('a statement that returns one row returned none');
  return row;
}
