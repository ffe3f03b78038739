import { v7 as uuidv7 } from 'uuid';
import type { AlertCode, AlertSeverity, DocumentType, Environment } from '../model/words.js';
import type { Queryable } from './database.js';
import { instant } from './database.js';
import { Filter } from './filter.js';
import type { Page, PageRequest } from './keyset.js';
import { pageOf, readCursor } from './keyset.js';

/** What an alert is about. The same identity is open at most once. */
export interface AlertIdentity {
  readonly code: AlertCode;
  readonly companyId?: string | null | undefined;
  readonly documentType?: DocumentType | null | undefined;
  readonly environment?: Environment | null | undefined;
  /** Further identity: an endpoint's id, a service. */
  readonly subject?: string | undefined;
}

/** An alert, open or over. */
export interface AlertRow {
  readonly id: string;
  readonly code: AlertCode;
  readonly companyId: string | null;
  readonly documentType: DocumentType | null;
  readonly environment: Environment | null;
  readonly subject: string;
  readonly detail: string;
  readonly severity: AlertSeverity;
  readonly openedAt: number;
  readonly closedAt: number | null;
}

const COLUMNS = `id, code, company_id as "companyId", document_type as "documentType", environment, subject, detail, severity,
  opened_at as "openedAt", closed_at as "closedAt"`;

/** An alert's identity as the index `alerts_open` has it. */
const IDENTITY = `code, coalesce(company_id, '00000000-0000-0000-0000-000000000000'), coalesce(document_type, ''),
  coalesce(environment, ''), subject`;

/**
 * Opens an alert. Null: it is open already, and nobody needs to be told again; that its reason was seen again is kept. Only
 * `Announcements` calls this (src/activities/announcements.ts), so that no alert opens without an event.
 */
export async function openAlert(
  db: Queryable,
  identity: AlertIdentity,
  detail: string,
  now: number,
  severity: AlertSeverity = 'warning',
): Promise<AlertRow | null> {
  const { rows } = await db.query<AlertRow & { isNew: boolean }>(
    `insert into alerts (id, code, company_id, document_type, environment, subject, detail, opened_at, seen_at, severity)
     values ($6, $1, $2, $3, $4, $5, $7, $8, $8, $9)
     on conflict (${IDENTITY}) where closed_at is null do update set seen_at = excluded.seen_at
     returning ${COLUMNS}, xmax = 0 as "isNew"`,
    [...identityValues(identity), uuidv7(), detail, instant(now), severity],
  );
  if (!rows[0]) return null;
  const { isNew, ...row } = rows[0];
  return isNew ? row : null;
}

/** Closes an alert. Null: none was open. */
export async function closeAlert(db: Queryable, identity: AlertIdentity, now: number): Promise<AlertRow | null> {
  const { rows } = await db.query<AlertRow>(
    `update alerts set closed_at = $6
     where closed_at is null and code = $1
       and coalesce(company_id, '00000000-0000-0000-0000-000000000000') = coalesce($2, '00000000-0000-0000-0000-000000000000'::uuid)
       and coalesce(document_type, '') = coalesce($3, '') and coalesce(environment, '') = coalesce($4, '') and subject = $5
     returning ${COLUMNS}`,
    [...identityValues(identity), instant(now)],
  );
  return rows[0] ?? null;
}

export interface AlertFilter {
  readonly open?: boolean | undefined;
  readonly code?: AlertCode | undefined;
  readonly companyId?: string | undefined;
  readonly documentType?: DocumentType | undefined;
  /** The companies that an API key may see; undefined: all, and the alerts that concern no company. */
  readonly visible?: readonly string[] | undefined;
}

/** Newest first. @throws {InvalidCursor} */
export async function listAlerts(
  db: Queryable,
  filter: AlertFilter,
  { limit, cursor }: PageRequest,
): Promise<Page<AlertRow>> {
  const where = new Filter()
    .add(filter.code, (v) => `code = ${v}`)
    .add(filter.companyId, (v) => `company_id = ${v}`)
    .add(filter.documentType, (v) => `document_type = ${v}`)
    .add(filter.visible, (v) => `company_id = any(${v}::uuid[])`)
    .after(readCursor(cursor, ['instant', 'uuid']), 'opened_at, id', '<');
  if (filter.open !== undefined) where.always(`closed_at is ${filter.open ? '' : 'not'} null`);
  const { rows } = await db.query<AlertRow>(
    `select ${COLUMNS} from alerts ${where.where} order by opened_at desc, id desc limit ${limit + 1}`,
    where.values,
  );
  return pageOf(rows, limit, (row) => [row.openedAt, row.id]);
}

/** How many alerts are open, for metrics. */
export async function openAlertFigures(
  db: Queryable,
): Promise<{ code: AlertCode; severity: AlertSeverity; alerts: number }[]> {
  const { rows } = await db.query<{ code: AlertCode; severity: AlertSeverity; alerts: number }>(
    'select code, severity, count(*)::int as alerts from alerts where closed_at is null group by code, severity',
  );
  return rows;
}

const identityValues = ({ code, companyId, documentType, environment, subject }: AlertIdentity) => [
  code,
  companyId ?? null,
  documentType ?? null,
  environment ?? null,
  subject ?? '',
];
