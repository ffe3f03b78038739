import { log } from '@temporalio/activity';
import pLimit from 'p-limit';
import { NIGHTLY_WINDOW, RECOVERY_EXPIRES, scaled } from '../../cadence/index.js';
import type { NightlyActivities } from '../../model/nightly-contract.js';
import { RECOVERY_MEANS } from '../../model/recovery.js';
import type { CaptureKey } from '../../model/words.js';
import { lockCapture } from '../../storage/captures.js';
import { getCompany } from '../../storage/companies.js';
import type { Transaction } from '../../storage/database.js';
import { gapOf, insertGaps } from '../../storage/gaps.js';
import {
  activeCaptures,
  duePasses,
  expireGaps,
  type MissingRange,
  missingRanges,
  reopenExhausted,
} from '../../storage/missing-nsus.js';
import { beat } from '../call/call-watch.js';
import { type ActivityDependencies, limitsOf } from '../dependencies.js';
import { rebuilding } from '../failures.js';
import { Announcements } from '../page/announcements.js';

/** What the nightly look for missing numbers needs. */
export interface NightlyDependencies
  extends Pick<ActivityDependencies, 'database' | 'clock' | 'timeScale' | 'wakeEndpoints' | 'limits'> {
  /** Signal-with-start of `wake`: its workflow reads that items are due. */
  readonly wakeCapture: (capture: CaptureKey) => Promise<void>;
}

/** Captures looked over by one activity. */
const BATCH = 200;
/** Signals in the air at once. */
const AT_ONCE = 20;

/** The nightly look: numbers of the last three days that nothing is known of become recovery items; those that rested are due again. */
export function createNightlyGaps(deps: NightlyDependencies): NightlyActivities {
  return {
    lookForGaps: ({ after }) => {
      const stopBeating = beat(limitsOf(deps).beat);
      return rebuilding(() => look(deps, after)).finally(stopBeating);
    },
  };
}

async function look(deps: NightlyDependencies, after: CaptureKey | null): ReturnType<NightlyActivities['lookForGaps']> {
  const { database, clock, timeScale } = deps;
  const now = await clock.now();
  const captures = await activeCaptures(database, after, BATCH);
  const expired = await expireGaps(database, captures, { now, before: now - RECOVERY_EXPIRES });
  const reopened = await reopenExhausted(database, captures, now);
  await duePasses(database, captures, now);
  // The others go over their numbers in a second pass, which finds what it can.
  const oneByOne = captures.filter(({ documentType }) => RECOVERY_MEANS[documentType] === 'point');
  const missing = await missingRanges(database, oneByOne, now - scaled(NIGHTLY_WINDOW, timeScale));
  const concerned = byCapture(missing);
  for (const ranges of concerned.values()) await store(deps, ranges, now);
  await wakeAll(deps, [...reopened.captures, ...missing]);
  return {
    captures: captures.length,
    found: missing.length,
    reopened: reopened.items,
    expired,
    next: captures.length < BATCH ? null : (captures.at(-1) ?? null),
  };
}

async function store(
  { database, wakeEndpoints }: NightlyDependencies,
  ranges: readonly [MissingRange, ...MissingRange[]],
  now: number,
): Promise<void> {
  const wake = await database.transaction(async (tx: Transaction) => {
    const [capture] = ranges;
    await lockCapture(tx, capture);
    const company = await getCompany(tx, capture.companyId);
    if (!company) return [];
    const gaps = ranges.map(({ from, to }) => gapOf(from, to, 'nightly'));
    await insertGaps(tx, capture, gaps, now);
    const announcements = new Announcements(tx, capture, company, now);
    const large = gaps.find(({ status }) => status === 'awaiting_confirmation');
    if (large) {
      await announcements.open('gap_too_large', `NSU ${large.from} to ${large.to} did not come; recover by hand`);
    }
    return announcements.publish();
  });
  wakeEndpoints(wake);
}

/** One that cannot be reached finds its items at its next page. */
async function wakeAll({ wakeCapture }: NightlyDependencies, captures: readonly CaptureKey[]): Promise<void> {
  await pLimit(AT_ONCE).map([...new Map(captures.map((one) => [nameOf(one), one])).values()], async (capture) => {
    const { companyId, documentType, environment } = capture;
    try {
      await wakeCapture({ companyId, documentType, environment });
    } catch (error) {
      log.warn('could not wake', { error: error instanceof Error ? error.name : 'unknown' });
    }
  });
}

function byCapture(ranges: readonly MissingRange[]): Map<string, [MissingRange, ...MissingRange[]]> {
  const found = new Map<string, [MissingRange, ...MissingRange[]]>();
  for (const range of ranges) {
    const others = found.get(nameOf(range));
    if (others) others.push(range);
    else found.set(nameOf(range), [range]);
  }
  return found;
}

const nameOf = ({ companyId, documentType, environment }: CaptureKey) => `${companyId}/${documentType}/${environment}`;
