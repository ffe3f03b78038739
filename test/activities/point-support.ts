import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { Activities } from '../../src/activities/index.js';
import type { CallAnswer } from '../../src/government/types.js';
import type { PointAsk, PointResult, RecoveryResult } from '../../src/model/point-query.js';
import type { CaptureKey } from '../../src/model/words.js';
import { documents, type Item, none, nsu } from './government.js';
import { rowOf, type World } from './support.js';

/** One activity for a point query; `attempt` runs it once more under the same ids, as Temporal's retries do. */
export class PointActivity {
  readonly #info = { workflowExecution: { workflowId: 'capture', runId: randomUUID() }, activityId: '1' };
  #remembered: unknown;

  constructor(
    private readonly input: { readonly capture: CaptureKey; readonly ask: PointAsk; readonly requestId?: string },
    private readonly revision: number,
  ) {}

  get callId(): string {
    return `${this.#info.workflowExecution.runId}:${this.#info.activityId}`;
  }

  attempt(activities: Activities): Promise<PointResult> {
    return this.#environment().run(activities.government.queryPoint, { ...this.input, revision: this.revision });
  }

  #environment(): MockActivityEnvironment {
    const info = { ...this.#info, heartbeatDetails: this.#remembered };
    const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
    // As Temporal does: the next attempt gets what the last heartbeat said.
    environment.on('heartbeat', (details: unknown) => {
      this.#remembered = details;
    });
    return environment;
  }
}

/** A point query by a workflow that knows the committed state. */
export async function ask(
  w: World,
  capture: CaptureKey,
  what: number | string,
  { activities = w.activities, requestId }: { activities?: Activities; requestId?: string } = {},
): Promise<PointResult> {
  const { revision } = await rowOf(w, capture);
  const input = { capture, ask: asking(what), ...(requestId === undefined ? {} : { requestId }) };
  return new PointActivity(input, revision).attempt(activities);
}

/** A number asks for an NSU, anything else for a key. */
export const asking = (what: number | string): PointAsk =>
  typeof what === 'number' ? { nsu: nsu(what) } : { key: what };

/** One step of recovery by a workflow that knows the committed state. */
export async function recover(
  w: World,
  capture: CaptureKey,
  activities: Activities = w.activities,
): Promise<RecoveryResult> {
  const { revision } = await rowOf(w, capture);
  const info = { workflowExecution: { workflowId: 'capture', runId: randomUUID() }, activityId: '1' };
  const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
  environment.on('heartbeat', () => {});
  return environment.run(activities.government.recoverNext, { capture, revision });
}

/** An answer to a point query with these items; the pointers that it prints mean nothing. */
export const one = (...items: Item[]): CallAnswer => documents(items, 700_000, 800_000);
export const nobody = (): CallAnswer => none(700_000);

export function asked(result: PointResult | RecoveryResult) {
  if (result.kind !== 'asked') throw new Error(`not asked: ${JSON.stringify(result)}`);
  return result;
}

export function refusalIn(result: PointResult | RecoveryResult) {
  if (result.kind !== 'refused') throw new Error(`not refused: ${result.kind}`);
  return result.refusal;
}
