import { log } from '@temporalio/activity';
import pLimit from 'p-limit';
import { scaled } from '../../cadence/index.js';
import type { HousekeepingActivities } from '../../model/activity-contract.js';
import { closeEnded } from '../../storage/alert-closing.js';
import {
  type DueAlert,
  reviewDeadlines,
  reviewExpired,
  reviewExpiring,
  reviewNumbering,
  reviewStalled,
} from '../../storage/alert-reviews.js';
import { getCompany } from '../../storage/companies.js';
import { isContentError } from '../../storage/database-error.js';
import { beat } from '../call/call-watch.js';
import { type ActivityDependencies, limitsOf } from '../dependencies.js';
import { rebuilding } from '../failures.js';
import { Announcements } from '../page/announcements.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Ages of alerts, before the time scale. Dates of the calendar (certificates, legal deadlines) are not scaled. */
const AGES = {
  /** Documents pending and none captured. */
  pending: 6 * HOUR,
  /** A query that is due. */
  overdue: HOUR,
  /** No query of a known company: the government stops numbering after 60 days, for good. */
  numberingRisk: 45 * DAY,
  numberingStop: 60 * DAY,
  /** No sign of another program on the tax ID. It may ask once an hour, or once a night. */
  otherConsumer: DAY,
  /** No number that came twice. */
  sameNsu: 7 * DAY,
} as const;

/** Companies told at once. */
const AT_ONCE = 4;

type Parts = Pick<ActivityDependencies, 'database' | 'clock' | 'timeScale' | 'wakeEndpoints' | 'limits'>;

/** Looks after the alerts that no single call opens or closes: a few statements over all captures, then one transaction for each company that is to be told. */
export function createWatchAlerts(deps: Parts): Pick<HousekeepingActivities, 'watchAlerts'> {
  return {
    watchAlerts: ({ every }) => {
      const stopBeating = beat(limitsOf(deps).beat);
      return rebuilding(() => (every === 'minute' ? eachMinute(deps) : eachHour(deps))).finally(stopBeating);
    },
  };
}

async function eachMinute(deps: Parts): Promise<{ opened: number }> {
  const { database, timeScale } = deps;
  const now = await deps.clock.now();
  const ago = (age: number) => now - scaled(age, timeScale);
  await closeEnded(database, now, { otherConsumer: ago(AGES.otherConsumer), sameNsu: ago(AGES.sameNsu) });
  const stalled = await reviewStalled(database, now, { pending: ago(AGES.pending), overdue: ago(AGES.overdue) });
  return { opened: await open(deps, stalled, now) };
}

async function eachHour(deps: Parts): Promise<{ opened: number }> {
  const { database, timeScale } = deps;
  const now = await deps.clock.now();
  const numbering = await reviewNumbering(database, now, {
    risk: scaled(AGES.numberingRisk, timeScale),
    stop: scaled(AGES.numberingStop, timeScale),
  });
  const due = [
    ...numbering,
    ...(await reviewExpired(database, now)),
    ...(await reviewExpiring(database, now)),
    ...(await reviewDeadlines(database, now)),
  ];
  return { opened: await open(deps, due, now) };
}

/** Each company in a transaction of its own: what the database refuses of one does not keep the others waiting. Gives how many alerts. */
async function open(deps: Parts, due: readonly DueAlert[], now: number): Promise<number> {
  const byCompany = new Map<string, DueAlert[]>();
  for (const alert of due) byCompany.set(alert.companyId, [...(byCompany.get(alert.companyId) ?? []), alert]);
  const opened = await pLimit(AT_ONCE).map([...byCompany], async ([companyId, alerts]) => {
    try {
      await tell(deps, companyId, alerts, now);
      return alerts.length;
    } catch (error) {
      if (!isContentError(error)) throw error;
      log.error('alerts of a company cannot be opened', { companyId });
      return 0;
    }
  });
  return opened.reduce((sum, count) => sum + count, 0);
}

async function tell(deps: Parts, companyId: string, alerts: readonly DueAlert[], now: number): Promise<void> {
  const wake = await deps.database.transaction(async (tx) => {
    const company = await getCompany(tx, companyId);
    if (!company) return [];
    const announcements = new Announcements(tx, { companyId }, company, now);
    for (const { detail, severity, ...identity } of alerts) await announcements.raise(identity, detail, severity);
    return announcements.publish();
  });
  deps.wakeEndpoints(wake);
}
