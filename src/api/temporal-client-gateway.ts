import { Client, type Connection, WorkflowNotFoundError } from '@temporalio/client';
import { WorkflowMessenger } from '../client/workflow-messenger.js';
import type { TemporalGateway } from './temporal-gateway.js';

/** Milliseconds that Temporal may take: a caller of the API waits meanwhile, and what was asked is stored already. */
const LIMIT_MS = 3_000;
/** As long as a caller waits for what the government says: below the time-outs of most HTTP clients. */
const ANSWER_LIMIT_MS = 25_000;

/** The gateway over a connection, which may be a lazy one: nothing is asked before the first use. */
export function temporalGateway(connection: Connection, namespace: string): TemporalGateway {
  const messenger = new WorkflowMessenger(new Client({ connection, namespace }));
  const inTime = <T>(work: () => Promise<T>) => connection.withDeadline(Date.now() + LIMIT_MS, work);
  return {
    startCapture: (capture) => inTime(async () => void (await messenger.startCapture(capture, {}))),
    stopCapture: (capture) =>
      inTime(async () => {
        try {
          await messenger.stopCapture(capture);
        } catch (error) {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        }
      }),
    resumeCapture: (capture) => inTime(() => messenger.resumeCapture(capture)),
    wakeCapture: (capture) => inTime(() => messenger.wakeCapture(capture)),
    wakeManifestation: (capture) => inTime(() => messenger.wakeManifestation(capture)),
    wakeDelivery: (endpointId) => inTime(() => messenger.wakeDelivery(endpointId)),
    captureOnDemand: (capture, key) =>
      connection.withDeadline(Date.now() + ANSWER_LIMIT_MS, () => messenger.captureOnDemand(capture, key)),
    check: () => inTime(async () => void (await connection.workflowService.describeNamespace({ namespace }))),
  };
}
