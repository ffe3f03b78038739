import { Client, type Connection, WorkflowNotFoundError } from '@temporalio/client';
import { ranOutOfTime } from '../client/deadline.js';
import { WorkflowMessenger } from '../client/workflow-messenger.js';
import type { TemporalGateway } from './temporal-gateway.js';

/** Milliseconds that Temporal may take: a caller of the API waits meanwhile, and what was asked is stored already. */
const LIMIT_MS = 3_000;
/** As long as a caller waits for what the government says: below the time-outs of most HTTP clients. */
const ANSWER_LIMIT_MS = 25_000;

/**
 * The gateway over a connection, which may be a lazy one: nothing is asked before the first use. `close` waits for what is still pending,
 * 3 s at most, and closes the connection: the SDK's own retries would run into a closed one, outside of every `catch`.
 */
export function temporalGateway(
  connection: Connection,
  namespace: string,
): TemporalGateway & { close(): Promise<void> } {
  const messenger = new WorkflowMessenger(new Client({ connection, namespace }));
  const pending = new Set<Promise<unknown>>();
  const inTime = async <T>(work: () => Promise<T>): Promise<T> => {
    const answer = connection.withDeadline(Date.now() + LIMIT_MS, work);
    pending.add(answer);
    try {
      return await answer;
    } finally {
      pending.delete(answer);
    }
  };
  return {
    close: async () => {
      await Promise.allSettled(pending);
      await connection.close();
    },
    startCapture: (capture) => inTime(async () => void (await messenger.startCapture(capture, {}))),
    stopCapture: (capture) => inTime(() => ifRunning(messenger.stopCapture(capture))),
    resumeCapture: (capture) => inTime(() => messenger.resumeCapture(capture)),
    wakeCapture: (capture) => inTime(() => messenger.wakeCapture(capture)),
    wakeManifestation: (capture) => inTime(() => messenger.wakeManifestation(capture)),
    wakeDelivery: (endpointId) => inTime(() => messenger.wakeDelivery(endpointId)),
    wakeErasure: (companyId) => inTime(() => messenger.wakeErasure(companyId)),
    captureOnDemand: (capture, key) =>
      connection.withDeadline(Date.now() + ANSWER_LIMIT_MS, () => messenger.captureOnDemand(capture, key)),
    askCapture: async (capture, question, id, waitMs) => {
      const by = Date.now() + waitMs;
      const times = { takenBy: by, answeredBy: by };
      const asked = await messenger.askCapture(capture, question, { ...times, takenBy: Date.now() + LIMIT_MS }, id);
      if (asked.kind === 'not_running') await inTime(() => messenger.wakeCapture(capture));
      const again = asked.kind === 'not_running' || asked.kind === 'busy';
      return again ? messenger.askCapture(capture, question, times, id) : asked;
    },
    reprocessArchive: async (input, waitMs) => {
      const run = await inTime(() => messenger.reprocessArchive(input));
      try {
        await connection.withDeadline(Date.now() + waitMs, () => run.result());
        return true;
      } catch (error) {
        if (ranOutOfTime(error)) return false;
        throw error;
      }
    },
    startExport: (input) => inTime(() => messenger.startExport(input)),
    cancelExport: (exportId) => inTime(() => ifRunning(messenger.cancelExport(exportId))),
    startImport: (input) => inTime(() => messenger.startImport(input)),
    runNightlyGaps: () => inTime(() => messenger.runNightlyGaps()),
    check: () => inTime(async () => void (await connection.workflowService.describeNamespace({ namespace }))),
  };
}

/** That there is nobody to tell is no failure. */
async function ifRunning(told: Promise<void>): Promise<void> {
  try {
    await told;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
