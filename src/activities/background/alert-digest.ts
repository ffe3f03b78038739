import { createHash } from 'node:crypto';
import { ALERT_GUIDE } from '../../model/alert-guide.js';
import { ALERT_CODES, type AlertCode } from '../../model/words.js';
import type { MailMessage } from '../../platform/mailer.js';
import { scrub } from '../../platform/scrub.js';
import type { MailedAlert } from '../../storage/alert-mail.js';

/** Mails about alerts as text. No company is named in them: ids, and the last 4 characters of tax IDs. */

/** Alerts of one kind that a mail shows; of the others it gives the number. */
const EXAMPLES = 5;

/** @param alerts opened since the last mail, at least one @param open how many are open in all */
export function openedMail(alerts: readonly MailedAlert[], open: number): MailMessage {
  const critical = alerts.filter(({ severity }) => severity === 'critical').length;
  const groups = byCode(alerts);
  const urgency = critical === 0 ? '' : `, ${critical} critical`;
  return {
    id: idOf('opened', alerts),
    subject: `Malote: ${counted(alerts.length)}${urgency} (${summary(groups)})`,
    text: [
      `${counted(alerts.length)} opened${urgency && `${urgency}: documents may be missed until somebody acts`}.`,
      ...groups.map(([code, ofCode]) => section(code, ofCode)),
      `Open in all: ${open}. GET /v1/alerts?open=true lists them; docs/operating.md explains each.`,
    ].join('\n\n'),
  };
}

/** @param alerts closed since the last such mail, at least one @param standing how many are left that wait for people */
export function overMail(alerts: readonly MailedAlert[], standing: number): MailMessage {
  const groups = byCode(alerts);
  const left =
    standing === 0 ? [] : [`Still open, and waiting for somebody: ${standing} (GET /v1/alerts?open=true lists them).`];
  return {
    id: idOf('over', alerts),
    subject: `Malote: all is over (${summary(groups)})`,
    text: [
      'All alerts that these mails told of are closed.',
      groups.map(([code, { length }]) => `${code}: ${length}`).join('\n'),
      ...left,
    ].join('\n\n'),
  };
}

function section(code: AlertCode, alerts: readonly MailedAlert[]): string {
  const { means, whatToDo } = ALERT_GUIDE[code];
  const shown = alerts.slice(0, EXAMPLES).map((alert) => `  - ${line(alert)}`);
  const others = alerts.length - shown.length;
  return [
    `${code}: ${alerts.length}`,
    `  What it means: ${means}`,
    `  What to do: ${whatToDo}`,
    ...shown,
    ...(others === 0 ? [] : [`  - and ${others} more`]),
  ].join('\n');
}

function line({ companyId, taxIdEnding, documentType, environment, subject, detail, openedAt }: MailedAlert): string {
  const about = [
    companyId && `company ${companyId} (tax ID …${taxIdEnding ?? '????'})`,
    documentType,
    environment,
    companyId === null && subject,
  ].filter(Boolean);
  const since = `${new Date(openedAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `${about.join(', ')}${about.length === 0 ? '' : '; '}since ${since}: ${scrub(detail)}`;
}

/** In the order of the list of codes, so that mails look alike. */
function byCode(alerts: readonly MailedAlert[]): [AlertCode, MailedAlert[]][] {
  const groups = ALERT_CODES.map((code): [AlertCode, MailedAlert[]] => [
    code,
    alerts.filter((alert) => alert.code === code),
  ]);
  return groups.filter(([, ofCode]) => ofCode.length > 0);
}

const summary = (groups: readonly [AlertCode, readonly MailedAlert[]][]) =>
  groups.map(([code, { length }]) => (length === 1 ? code : `${code} ${length}`)).join(', ');
const counted = (count: number) => (count === 1 ? '1 alert' : `${count} alerts`);

/** The same for the same alerts: a mail that went out although its sender did not learn of it is recognizable when it comes again. */
function idOf(kind: string, alerts: readonly MailedAlert[]): string {
  const hash = createHash('sha256').update(alerts.map(({ id }) => id).join());
  return `${kind}-${hash.digest('hex').slice(0, 32)}`;
}
