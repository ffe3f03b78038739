import { z } from 'zod';
import { captureWorkflowId } from '../client/workflow-messenger.js';
import { lag } from '../model/capture-state.js';
import { PHASES } from '../model/words.js';
import { type CaptureCounts, countCaptures } from '../storage/capture-counts.js';
import type { CaptureRow } from '../storage/capture-rows.js';
import { captureOptionsView } from './capture-options.js';
import type { ApiDependencies } from './dependencies.js';
import { answeredInstant, documentType, environment, isoInstant, nsu, openValue, uuid } from './schemas/common.js';

/** Point queries that may return a document, per tax ID and sliding hour (NT 2014.002). */
const POINT_QUERY_LIMIT = 20;
const HOUR = 3_600_000;

export const captureState = z
  .object({
    companyId: uuid,
    documentType,
    environment,
    enabled: z.boolean(),
    phase: openValue(PHASES),
    reason: z.string().describe('Why the phase is what it is'),
    ultNsu: nsu.describe('The cursor: last NSU searched'),
    maxNsu: nsu.describe('Highest NSU known to exist'),
    lag: z.int().describe('maxNsu − ultNsu'),
    lastQueryAt: answeredInstant.nullable(),
    lastStatusCode: z.string().nullable().describe('cStat of the last answer'),
    lastStatusText: z.string().nullable(),
    nextQueryAt: answeredInstant
      .nullable()
      .describe('Before the random addition of up to a tenth; null: at once, or not at all'),
    blockedUntil: answeredInstant.nullable().describe('End of a rejection; nobody can shorten it'),
    pausedUntil: z
      .union([answeredInstant, z.literal('indefinitely')])
      .nullable()
      .describe("A person's hold"),
    pointQueries: z
      .object({
        limit: z.int(),
        used: z.int(),
        nextSlotAt: answeredInstant.nullable(),
        suspendedUntil: answeredInstant.nullable(),
      })
      .describe('Queries for single documents in the last hour'),
    gaps: z
      .object({ pending: z.int(), recovered: z.int(), nonexistent: z.int(), exhausted: z.int() })
      .catchall(z.int())
      .describe('Recovery items and ranges by status; details at `…/gaps`'),
    documents: z.int().describe('Documents ever captured'),
    failedItems: z.int().describe('Documents that could not be read and are tried again'),
    options: captureOptionsView,
    workflowId: z.string().describe('In Temporal'),
  })
  .meta({ id: 'CaptureState' });

export type CaptureStateView = z.output<typeof captureState>;

/** Rows of captures as the API shows them, with what is counted besides. */
export async function captureViews(
  { database, clock, timeScale }: Pick<ApiDependencies, 'database' | 'clock' | 'timeScale'>,
  rows: readonly CaptureRow[],
): Promise<CaptureStateView[]> {
  const now = await clock.now();
  const window = HOUR / timeScale;
  const counts = await countCaptures(database, rows, now - window);
  return rows.map((row, i) => view(row, counts[i] ?? NOTHING, now, window));
}

const NOTHING: CaptureCounts = { failedItems: 0, gaps: {}, pointQueries: { used: 0, oldestAt: null } };

function view(row: CaptureRow, counts: CaptureCounts, now: number, window: number): CaptureStateView {
  const { state } = row;
  const { used, oldestAt } = counts.pointQueries;
  return {
    companyId: row.companyId,
    documentType: row.documentType,
    environment: row.environment,
    enabled: row.enabled,
    phase: row.phase,
    reason: state.reason,
    ultNsu: row.ultNsu,
    maxNsu: row.maxNsu,
    lag: lag(state),
    lastQueryAt: isoInstant(row.lastQueryAt),
    lastStatusCode: row.lastStatusCode,
    lastStatusText: row.lastStatusText,
    nextQueryAt: isoInstant(nextQuery(state.nextQueryAt, future(row.heldUntil, now))),
    blockedUntil: isoInstant(future(state.blockedUntil, now)),
    pausedUntil: holdView(future(row.heldUntil, now)),
    pointQueries: {
      limit: POINT_QUERY_LIMIT,
      used,
      nextSlotAt: used >= POINT_QUERY_LIMIT && oldestAt !== null ? isoInstant(oldestAt + window) : null,
      suspendedUntil: isoInstant(future(state.quota.suspendedUntil, now)),
    },
    gaps: { pending: 0, recovered: 0, nonexistent: 0, exhausted: 0, ...counts.gaps },
    documents: row.documents,
    failedItems: counts.failedItems,
    options: row.options,
    workflowId: captureWorkflowId(row),
  };
}

/** What has passed says nothing any more. */
function future(instant: number | null, now: number): number | null {
  return instant !== null && instant > now ? instant : null;
}

/** A hold puts the next query off; one without an end leaves none to name. */
function nextQuery(at: number | null, heldUntil: number | null): number | null {
  if (at === null || heldUntil === null) return at;
  return heldUntil === Number.POSITIVE_INFINITY ? null : Math.max(at, heldUntil);
}

function holdView(until: number | null): string | null {
  return until === Number.POSITIVE_INFINITY ? 'indefinitely' : isoInstant(until);
}
