import { log } from '@temporalio/activity';
import type { HousekeepingActivities } from '../../model/activity-contract.js';
import { ALERT_GUIDE } from '../../model/alert-guide.js';
import type { Clock } from '../../platform/clock.js';
import { MailFailed, type MailMessage, type SendMail } from '../../platform/mailer.js';
import {
  claimMail,
  type MailedAlert,
  type MailState,
  openCounts,
  readMailState,
  recordMail,
  untoldAlerts,
  untoldEnds,
  writeMailState,
} from '../../storage/alert-mail.js';
import type { Database } from '../../storage/database.js';
import { rebuilding } from '../failures.js';
import { openedMail, overMail } from './alert-digest.js';

/** What mailing alerts to operators needs. */
export interface MailDependencies {
  readonly database: Database;
  readonly clock: Clock;
  /** Null: no mail server is configured. */
  readonly sendMail: SendMail | null;
  /** For metrics. Must not throw. */
  readonly onMail?: (result: 'sent' | 'failed') => void;
}

const MINUTE = 60_000;
/** From the first alert to its mail: what one cause brings comes together. From the last end to the mail that all is over, too: what comes and goes is not over. */
const GATHER = 5 * MINUTE;
/** Between two mails about alerts that opened. */
const INTERVAL = 30 * MINUTE;
/** Longer than sending may take. */
const CLAIM = 2 * MINUTE;
const RETRY_MAX = 30 * MINUTE;

/**
 * Tells operators by mail, since a webhook may be what broke: one mail for many alerts, one when all is over. Never throws for a mail
 * server that fails: what is to be told stays in the database, and is tried again after 1, 2, 4 … 30 minutes. None of it is scaled.
 */
export function createMailAlerts(deps: MailDependencies): Pick<HousekeepingActivities, 'mailAlerts'> {
  return { mailAlerts: () => rebuilding(async () => ({ mails: (await mail(deps)) ? 1 : 0 })) };
}

interface Plan {
  readonly message: MailMessage;
  readonly told: { readonly opened: readonly string[]; readonly over: readonly string[] };
  readonly toldAt: number;
}

/** True: a mail went out. */
async function mail({ database, clock, sendMail, onMail }: MailDependencies): Promise<boolean> {
  if (!sendMail) return false;
  const now = await clock.now();
  const state = await readMailState(database);
  if (now < state.notBefore) return false;
  const plan = await planMail(database, state, now);
  if (!plan || !(await claimMail(database, state, now + CLAIM))) return false;
  try {
    await sendMail(plan.message);
  } catch (error) {
    if (!(error instanceof MailFailed)) throw error;
    const failures = state.failures + 1;
    log.warn(error.message, { failures });
    onMail?.('failed');
    const notBefore = (await clock.now()) + Math.min(2 ** (failures - 1) * MINUTE, RETRY_MAX);
    await writeMailState(database, { ...state, failures, notBefore });
    return false;
  }
  onMail?.('sent');
  await recordMail(database, {
    told: plan.told,
    state: { toldAt: plan.toldAt, notBefore: 0, failures: 0 },
    now,
  });
  return true;
}

async function planMail(database: Database, state: MailState, now: number): Promise<Plan | null> {
  const opened = await untoldAlerts(database);
  const first = opened[0];
  if (first && now >= Math.max(first.openedAt + GATHER, state.toldAt + INTERVAL)) {
    const { standing, trouble } = await openCounts(database);
    return { message: openedMail(opened, standing + trouble), told: { opened: idsOf(opened), over: [] }, toldAt: now };
  }
  const ended = await untoldEnds(database);
  const last = ended.at(-1);
  if (!last || now < (last.closedAt ?? 0) + GATHER) return null;
  const { standing, trouble } = await openCounts(database);
  const onlyStanding = ended.every(({ code }) => ALERT_GUIDE[code].standing);
  if (trouble > 0 || (onlyStanding && standing > 0)) return null;
  return { message: overMail(ended, standing), told: { opened: [], over: idsOf(ended) }, toldAt: state.toldAt };
}

const idsOf = (alerts: readonly MailedAlert[]) => alerts.map(({ id }) => id);
