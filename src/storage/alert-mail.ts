import { ALERT_GUIDE } from '../model/alert-guide.js';
import {
  ALERT_CODES,
  type AlertCode,
  type AlertSeverity,
  type DocumentType,
  type Environment,
} from '../model/words.js';
import type { Database, Queryable } from './database.js';
import { instant } from './database.js';

/** What was told of alerts by mail, and who is telling just now. Instants in milliseconds. */

/** An alert as a mail shows it. */
export interface MailedAlert {
  readonly id: string;
  readonly code: AlertCode;
  readonly severity: AlertSeverity;
  readonly companyId: string | null;
  /** Last 4 characters of the company's tax ID. */
  readonly taxIdEnding: string | null;
  readonly documentType: DocumentType | null;
  readonly environment: Environment | null;
  readonly subject: string;
  readonly detail: string;
  readonly openedAt: number;
  readonly closedAt: number | null;
}

const COLUMNS = `a.id, a.code, a.severity, a.company_id as "companyId", right(co.tax_id, 4) as "taxIdEnding",
  a.document_type as "documentType", a.environment, a.subject, a.detail, a.opened_at as "openedAt", a.closed_at as "closedAt"`;
const ALERTS = 'alerts a left join companies co on co.id = a.company_id';

/** Alerts in one mail; the next mail tells of the rest. */
const MOST = 10_000;

/** Open alerts that no mail told of, oldest first. */
export async function untoldAlerts(db: Queryable): Promise<MailedAlert[]> {
  const { rows } = await db.query<MailedAlert>(
    `select ${COLUMNS} from ${ALERTS} where a.closed_at is null and a.mailed_at is null order by a.opened_at, a.id limit ${MOST}`,
  );
  return rows;
}

/** Closed alerts that a mail told of while they were open, and none since, in the order in which they closed. */
export async function untoldEnds(db: Queryable): Promise<MailedAlert[]> {
  const { rows } = await db.query<MailedAlert>(
    `select ${COLUMNS} from ${ALERTS}
     where a.closed_at is not null and a.mailed_at is not null and a.over_mailed_at is null order by a.closed_at, a.id limit ${MOST}`,
  );
  return rows;
}

/** How many alerts are open: those that wait for people as a matter of course (alert-guide.ts), and the others. */
export async function openCounts(db: Queryable): Promise<{ standing: number; trouble: number }> {
  const { rows } = await db.query<{ standing: number; trouble: number }>(
    `select count(*) filter (where code = any ($1))::int as standing, count(*) filter (where code <> all ($1))::int as trouble
     from alerts where closed_at is null`,
    [ALERT_CODES.filter((code) => ALERT_GUIDE[code].standing)],
  );
  return rows[0] ?? { standing: 0, trouble: 0 };
}

/** Where mailing stands; kept in `settings`. */
export interface MailState {
  /** The last mail about alerts that opened; 0: none yet. */
  readonly toldAt: number;
  /** Not before: a mail is just being sent, or the server failed. */
  readonly notBefore: number;
  /** In a row. */
  readonly failures: number;
}

const SETTING = 'alert-mail';
const FIRST: MailState = { toldAt: 0, notBefore: 0, failures: 0 };

/** How far operators have been mailed. */
export async function readMailState(db: Queryable): Promise<MailState> {
  const { rows } = await db.query<{ value: MailState }>('select value from settings where name = $1', [SETTING]);
  return rows[0]?.value ?? FIRST;
}

/** Makes the caller the one who sends until an instant. False: another one was faster. */
export async function claimMail(db: Queryable, seen: MailState, until: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into settings (name, value) values ($1, $2)
     on conflict (name) do update set value = excluded.value where settings.value = $3::jsonb`,
    [SETTING, JSON.stringify({ ...seen, notBefore: until }), JSON.stringify(seen)],
  );
  return rowCount === 1;
}

/** Remembers how far operators have been mailed. */
export async function writeMailState(db: Queryable, state: MailState): Promise<void> {
  await db.query('update settings set value = $2 where name = $1', [SETTING, JSON.stringify(state)]);
}

/** What a mail told, once the server has it. */
export async function recordMail(
  db: Database,
  { told, state, now }: { told: { opened: readonly string[]; over: readonly string[] }; state: MailState; now: number },
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('update alerts set mailed_at = $2 where id = any ($1::uuid[])', [told.opened, instant(now)]);
    await tx.query('update alerts set over_mailed_at = $2 where id = any ($1::uuid[])', [told.over, instant(now)]);
    await writeMailState(tx, state);
  });
}
