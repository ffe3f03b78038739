import { randomUUID } from 'node:crypto';
import { cancellationSignal } from '@temporalio/activity';
import type { DeliveryActivities } from '../../model/activity-contract.js';
import type { Clock } from '../../platform/clock.js';
import type { Database } from '../../storage/database.js';
import { nextDueAt } from '../../storage/delivery-queue.js';
import type { SecretBox } from '../../storage/endpoints.js';
import type { WebhookSender } from '../../webhooks/sender.js';
import { beat } from '../call/call-watch.js';
import { DeliveryRun } from './delivery-run.js';

export interface DeliveryDependencies {
  readonly database: Database;
  readonly clock: Clock;
  /** Opens endpoints' signing secrets. */
  readonly box: SecretBox;
  readonly sender: Pick<WebhookSender, 'send'>;
  /** Called after a commit with the endpoints that got deliveries (about a failing endpoint); returns at once. */
  readonly wakeEndpoints: (endpointIds: readonly string[]) => void;
  /** Most messages in the air to one endpoint. Default 8. */
  readonly concurrency?: number;
  /** How long one activity goes on taking up work, milliseconds. Default 50,000. */
  readonly budgetMs?: number;
}

const HEARTBEAT_MS = 5_000;

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
