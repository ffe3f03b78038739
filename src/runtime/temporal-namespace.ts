import {
  type Client,
  type Connection,
  ScheduleAlreadyRunning,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { TASK_QUEUES } from '../model/activity-contract.js';
import {
  type HousekeepingInput,
  NIGHTLY_GAPS_ID,
  type NightlyGapsInput,
  WORKFLOW_TYPES,
} from '../workflows/messages.js';

/** Search attributes that the capture workflow sets (design.md section 5). Nothing personal: they are never encrypted. */
export const SEARCH_ATTRIBUTES = {
  CompanyId: 'Keyword',
  TaxIdEnding: 'Keyword',
  DocumentType: 'Keyword',
  Environment: 'Keyword',
  Uf: 'Keyword',
  CaptureState: 'Keyword',
  LastStatus: 'Keyword',
  Lag: 'Int',
} as const;

/** Temporal's API enum IndexedValueType, as far as we use it. */
const INDEXED_VALUE_TYPES = { Keyword: 2, Int: 3 } as const;

/**
 * Makes a namespace ready for Malote: registers the search attributes that it lacks, and creates or updates the Schedules
 * of housekeeping and of the nightly look for missing numbers. Safe to repeat and to run in several processes at once. A Schedule that an operator paused stays paused.
 *
 * @throws Error that says what an administrator has to do, when the server does not let us register
 */
export async function ensureNamespace(client: Client): Promise<void> {
  await ensureSearchAttributes(client.connection as Connection, client.options.namespace);
  for (const schedule of SCHEDULES) await ensureSchedule(client, schedule);
}

/** @throws Error as {@link ensureNamespace} */
export async function ensureSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const { customAttributes } = await connection.operatorService
    .listSearchAttributes({ namespace })
    .catch((error: unknown) => {
      throw refused('list', namespace, Object.keys(SEARCH_ATTRIBUTES), error);
    });
  const missing: Record<string, number> = {};
  for (const [name, type] of Object.entries(SEARCH_ATTRIBUTES)) {
    const present = customAttributes?.[name];
    const wanted = INDEXED_VALUE_TYPES[type];
    if (present === undefined) missing[name] = wanted;
    else if (present !== wanted) {
      throw new Error(
        `Temporal's namespace "${namespace}" has a search attribute ${name} of another type than ${type}: remove it with "temporal operator search-attribute remove --name ${name}", or use another namespace (TEMPORAL_NAMESPACE)`,
      );
    }
  }
  const names = Object.keys(missing);
  if (names.length === 0) return;
  await connection.operatorService
    .addSearchAttributes({ namespace, searchAttributes: missing })
    .catch(async (error: unknown) => {
      // Another process may have been first.
      const now = await connection.operatorService.listSearchAttributes({ namespace });
      if (names.some((name) => now.customAttributes?.[name] === undefined))
        throw refused('register', namespace, names, error);
    });
}

const GRPC_NOT_FOUND = 5;

function refused(doing: string, namespace: string, names: readonly string[], error: unknown): Error {
  if ((error as { code?: unknown }).code === GRPC_NOT_FOUND) {
    return new Error(
      `Temporal has no namespace "${namespace}": make it with "temporal operator namespace create ${namespace}", or name another in TEMPORAL_NAMESPACE`,
    );
  }
  const why = error instanceof Error ? ((error as Error & { details?: string }).details ?? error.message) : 'unknown';
  const commands = names.map(
    (name) => `--name ${name} --type ${SEARCH_ATTRIBUTES[name as keyof typeof SEARCH_ATTRIBUTES]}`,
  );
  return new Error(
    `Temporal does not let Malote ${doing} the search attributes of namespace "${namespace}" (${why}): register them as an administrator with "temporal operator search-attribute create --namespace ${namespace} ${commands.join(' ')}"`,
  );
}

interface OurSchedule {
  readonly scheduleId: string;
  readonly spec: ScheduleOptions['spec'];
  readonly workflowType: string;
  readonly argument: HousekeepingInput | NightlyGapsInput;
}

const TIMEZONE = 'America/Sao_Paulo';

/**
 * The day's run is at night in Brazil, away from midnight, where a return of daylight saving time would skip or repeat it. The nightly look
 * for missing numbers is at 23:00: that hour was never skipped, and came twice in the night when summer time ended, which does it no harm.
 */
const SCHEDULES: readonly OurSchedule[] = [
  housekeeping('minute', { intervals: [{ every: '1 minute' }] }),
  housekeeping('hour', { intervals: [{ every: '1 hour', offset: '7 minutes' }] }),
  housekeeping('day', { calendars: [{ hour: 4, minute: 20 }], timezone: TIMEZONE }),
  {
    scheduleId: NIGHTLY_GAPS_ID,
    spec: { calendars: [{ hour: 23, minute: 0 }], timezone: TIMEZONE },
    workflowType: WORKFLOW_TYPES.nightlyGaps,
    argument: {},
  },
];

function housekeeping(every: HousekeepingInput['every'], spec: ScheduleOptions['spec']): OurSchedule {
  return { scheduleId: `housekeeping-${every}`, spec, workflowType: WORKFLOW_TYPES.housekeeping, argument: { every } };
}

async function ensureSchedule(
  client: Client,
  { scheduleId, spec, workflowType, argument }: OurSchedule,
): Promise<void> {
  const wanted = {
    spec,
    action: {
      type: 'startWorkflow',
      workflowType,
      workflowId: scheduleId,
      taskQueue: TASK_QUEUES.workflows,
      args: [argument],
    },
    // Left to itself the server would catch up a year of missed minutes.
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '12 hours' },
  } as const;
  try {
    await client.schedule.create({ scheduleId, ...wanted });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule.getHandle(scheduleId).update(({ state }) => ({ ...wanted, state }));
  }
}
