import { randomUUID } from 'node:crypto';
import { cancellationSignal } from '@temporalio/activity';
import type { DeliveryActivities } from '../../model/activity-contract.js';
import { nextDueAt } from '../../storage/delivery-queue.js';
import { beat } from '../call/call-watch.js';
import { type DeliveryDependencies, DeliveryRun } from './delivery-run.js';

const HEARTBEAT_MS = 5_000;

/** The activities of the delivery workflow. */
export function createDeliveryActivities(deps: DeliveryDependencies): DeliveryActivities {
  return {
    async deliverDue({ endpointId }) {
      const stopBeating = beat(HEARTBEAT_MS);
      try {
        const elapsedFrom = performance.now();
        const startedAt = await deps.clock.now();
        const now = () => Math.floor(startedAt + performance.now() - elapsedFrom);
        const run = new DeliveryRun({
          ...deps,
          endpointId,
          now,
          leaseId: randomUUID(),
          concurrency: deps.concurrency ?? 8,
          budgetMs: deps.budgetMs ?? 50_000,
          // A worker that shuts down, or a person who cancels: what is in the air is finished, the rest is given back.
          stop: cancellationSignal(),
        });
        const { attempts, gone } = await run.run();
        return { attempts, gone, nextDueAt: gone ? null : await nextDueAt(deps.database, endpointId, now()) };
      } finally {
        stopBeating();
      }
    },
  };
}
