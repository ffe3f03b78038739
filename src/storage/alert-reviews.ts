import type { AlertCode, AlertSeverity, DocumentType, Environment } from '../model/words.js';
import type { Queryable } from './database.js';
import { instant } from './database.js';
import { isOverdue, OVERDUE_CAPTURES } from './overdue.js';
import { ANSWER_TIME, ANSWERABLE_FROM, AWAITS_ANSWER } from './work-list.js';

/**
 * Alerts whose reason is a matter of time: one statement for each looks at every capture at once, closes the alerts that are over, and
 * gives those that are to be opened.
 */

/** An alert that should be open and is not. */
export interface DueAlert {
  readonly code: AlertCode;
  readonly companyId: string;
  readonly documentType: DocumentType | null;
  readonly environment: Environment | null;
  readonly subject: string;
  readonly severity: AlertSeverity;
  readonly detail: string;
}

/** The reasons that hold now. The SQL gives company_id, document_type, environment, subject, severity, detail; companies being deleted are left out of it later. */
interface Review {
  readonly code: AlertCode;
  readonly found: string;
  readonly values: readonly unknown[];
}

/** Most alerts opened in one go; the next look opens the rest. */
const MOST = 10_000;

async function look(db: Queryable, now: number, { code, found, values }: Review): Promise<DueAlert[]> {
  const [codeAt, nowAt] = [`$${values.length + 1}`, `$${values.length + 2}`];
  // As the index alerts_open has them.
  const same = `a.code = ${codeAt} and a.closed_at is null
    and coalesce(a.company_id, '00000000-0000-0000-0000-000000000000') = f.company_id
    and coalesce(a.document_type, '') = coalesce(f.document_type, '')
    and coalesce(a.environment, '') = coalesce(f.environment, '') and a.subject = f.subject`;
  const { rows } = await db.query<DueAlert>(
    `with reasons (company_id, document_type, environment, subject, severity, detail) as (${found}),
     found as materialized (
       select r.* from reasons r join companies co on co.id = r.company_id where co.deleting_at is null),
     over as (
       update alerts a set closed_at = ${nowAt}
       where a.code = ${codeAt} and a.closed_at is null and not exists (select from found f where ${same}))
     select ${codeAt} as code, f.company_id as "companyId", f.document_type as "documentType", f.environment, f.subject, f.severity,
       f.detail
     from found f where not exists (select from alerts a where ${same}) order by f.company_id limit ${MOST}`,
    [...values, code, instant(now)],
  );
  return rows;
}

const day = (instant: string) => `to_char(${instant} at time zone 'America/Sao_Paulo', 'YYYY-MM-DD')`;

/** Instants before which a capture counts as standing still. Milliseconds. */
export interface StalledSince {
  /** Documents are pending and none has come since. */
  readonly pending: number;
  /** Its query has been due since. */
  readonly overdue: number;
}

/** Captures that stand still although somebody should come and take documents. Not those that a person holds. */
export function reviewStalled(db: Queryable, now: number, since: StalledSince): Promise<DueAlert[]> {
  const utc = `to_char(c.progressed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
  return look(db, now, {
    code: 'capture_stalled',
    found: `
      select c.company_id, c.document_type, c.environment, '', 'warning',
        format('documents are pending and none came since %s; %s: %s', ${utc}, c.phase, c.state ->> 'reason')
      from captures c
      where c.enabled and c.max_nsu > c.ult_nsu and c.progressed_at < $3 and (c.held_until is null or c.held_until < $3)
      union all
      select c.company_id, c.document_type, c.environment, '', 'warning',
        'its query is overdue by more than an hour although it was woken: look at its workflow and its workers'
      from ${OVERDUE_CAPTURES}
      where ${isOverdue('$1', '$2')} and not (c.max_nsu > c.ult_nsu and c.progressed_at < $3)`,
    values: [instant(now), instant(since.overdue), instant(since.pending)],
  });
}

/** Durations in milliseconds. */
export interface NumberingTimes {
  /** Without a query for so long numbering is at risk. */
  readonly risk: number;
  /** After so long it stops. */
  readonly stop: number;
}

/**
 * Captures, stopped and paused ones too, whose tax ID nobody has asked for in a long time (NT 2014.002 v1.10: numbering stops after 60
 * days). Told twice: when it is at risk, and when it has stopped. Not those whose company is captured in the other environment.
 */
export function reviewNumbering(db: Queryable, now: number, { risk, stop }: NumberingTimes): Promise<DueAlert[]> {
  const asked = 'coalesce(c.searched_at, c.created_at)';
  return look(db, now, {
    code: 'numbering_at_risk',
    found: `
      select c.company_id, c.document_type, c.environment, case when ${asked} < $2 then '60' else '45' end,
        case when c.enabled then 'critical' else 'warning' end,
        case when ${asked} < $2
          then format('nobody has asked since %s: the government numbers no more documents, and never makes that up', ${day(asked)})
          else format('nobody has asked since %s: from %s on the government numbers no more documents, and never makes that up',
            ${day(asked)}, ${day(`(${asked} + $3 * interval '1 millisecond')`)}) end
      from captures c
      where ${asked} < $1 and c.document_type in ('nfe', 'cte')
        and not exists (
          select from captures o where o.company_id = c.company_id and o.document_type = c.document_type
            and o.environment <> c.environment and o.enabled)`,
    values: [instant(now - risk), instant(now - stop), stop],
  });
}

/** Days before the end of a certificate at which people are told; the last two are critical. */
const CERTIFICATE_STEPS = [30, 15, 7, 3, 1] as const;

/**
 * Certificates that end soon, serve a capture, and that none of the same root outlives. One alert for each, whatever the number of its
 * branches; the subject is the step, so that each step opens anew and closes the one before.
 */
export function reviewExpiring(db: Queryable, now: number): Promise<DueAlert[]> {
  const steps = CERTIFICATE_STEPS.toSorted((a, b) => a - b).map(
    (days) => `when x.not_after <= $1::timestamptz + interval '${days} days' then ${days}`,
  );
  return look(db, now, {
    code: 'certificate_expiring',
    found: `
      select x.company_id, null::text, null::text, step.days::text, case when step.days <= 3 then 'critical' else 'warning' end,
        format('the certificate ends on %s, and there is no other one', ${day('x.not_after')})
      from certificates x cross join lateral (select case ${steps.join(' ')} end as days) step
      where x.not_after > $1 and x.not_after <= $1::timestamptz + interval '${CERTIFICATE_STEPS[0]} days'
        and not exists (select from certificates y where y.root = x.root and y.not_after > x.not_after)
        and exists (
          select from companies co join captures c on c.company_id = co.id
          where co.root = x.root and co.deleting_at is null and c.enabled)`,
    values: [instant(now)],
  });
}

/** Companies that are captured and have no certificate to call with. The guard finds them too, as soon as it is asked. */
export function reviewExpired(db: Queryable, now: number): Promise<DueAlert[]> {
  const valid = (whose: string) => `exists (
    select from certificates v where ${whose} and v.not_before <= $1 and v.not_after > $1)`;
  return look(db, now, {
    code: 'certificate_expired',
    found: `
      select co.id, null::text, null::text, '', 'critical', 'no call is made: no certificate of the company is valid'
      from (
        select c.company_id from captures c where c.phase = 'certificate' and c.enabled
        union
        select c.company_id from certificates x
          join companies b on b.root = x.root join captures c on c.company_id = b.id
        where x.not_after <= $1 and c.enabled) k
      join companies co on co.id = k.company_id
      where not ${valid('v.company_id = co.id')} and not ${valid('v.root = co.root')}`,
    values: [instant(now)],
  });
}

/** Days before the end of the time for a conclusive manifestation at which the customer is told. */
const DEADLINE_NOTICE = `interval '10 days'`;

/** Captures with a note that must be answered soon. One alert for all of them; the work list names them. */
export function reviewDeadlines(db: Queryable, now: number): Promise<DueAlert[]> {
  return look(db, now, {
    code: 'manifestation_deadline',
    found: `
      select c.company_id, c.document_type, c.environment, '', 'warning',
        format('the time for a conclusive manifestation of a note ends on %s: list documents with deadlineBefore',
          ${day(`(first.since + ${ANSWER_TIME})`)})
      from captures c
      cross join lateral (
        select ${ANSWERABLE_FROM} as since from documents d
        where d.company_id = c.company_id and d.environment = c.environment and ${AWAITS_ANSWER}
          and ${ANSWERABLE_FROM} > $1::timestamptz - ${ANSWER_TIME}
          and ${ANSWERABLE_FROM} <= $1::timestamptz - ${ANSWER_TIME} + ${DEADLINE_NOTICE}
        order by ${ANSWERABLE_FROM} limit 1) first
      where c.document_type = 'nfe' and c.enabled`,
    values: [instant(now)],
  });
}
