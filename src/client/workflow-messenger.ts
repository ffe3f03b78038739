import type { Client, WorkflowHandleWithSignaledRunId } from '@temporalio/client';
import { TASK_QUEUES } from '../model/activity-contract.js';
import type { CaptureKey } from '../model/words.js';
import {
  type CaptureInput,
  captureWorkflowId,
  type DeliveryInput,
  deliveryWorkflowId,
  type PauseSignal,
  SIGNALS,
  type StartSignal,
  WORKFLOW_TYPES,
} from '../workflows/messages.js';

export { captureWorkflowId } from '../workflows/messages.js';

type CaptureWorkflow = (input: CaptureInput) => Promise<void>;

/** How the SDK and the HTTP API speak to workflows, so that both say the same. */
export class WorkflowMessenger {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Starts the workflow or reaches the running one: a start that was already made changes nothing. */
  startCapture(capture: CaptureKey, argument: StartSignal): Promise<WorkflowHandleWithSignaledRunId<CaptureWorkflow>> {
    return this.#signalWithStart(capture, SIGNALS.start, [argument]);
  }

  /** "Look at your row again." Starts a capture whose run was lost; one that is stopped reads so and completes. */
  async wakeCapture(capture: CaptureKey): Promise<void> {
    await this.#signalWithStart(capture, SIGNALS.wake, []);
  }

  /** Starts a lost run first: an order of a person must not get lost with it. */
  async resumeCapture(capture: CaptureKey): Promise<void> {
    await this.#signalWithStart(capture, SIGNALS.resume, []);
  }

  /** As {@link resumeCapture}. */
  async pauseCapture(capture: CaptureKey, argument: PauseSignal): Promise<void> {
    await this.#signalWithStart(capture, SIGNALS.pause, [argument]);
  }

  /** @throws {WorkflowNotFoundError} when no run is open */
  async stopCapture(capture: CaptureKey): Promise<void> {
    await this.#client.workflow.getHandle(captureWorkflowId(capture)).signal(SIGNALS.stop);
  }

  /** "There are rows to deliver." */
  async wakeDelivery(endpointId: string): Promise<void> {
    const input: DeliveryInput = { endpointId };
    await this.#client.workflow.signalWithStart(WORKFLOW_TYPES.delivery, {
      workflowId: deliveryWorkflowId(endpointId),
      taskQueue: TASK_QUEUES.workflows,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [input],
      signal: SIGNALS.wake,
      signalArgs: [],
    });
  }

  #signalWithStart(capture: CaptureKey, signal: string, signalArgs: unknown[]) {
    return this.#client.workflow.signalWithStart<CaptureWorkflow, unknown[]>(WORKFLOW_TYPES.capture, {
      workflowId: captureWorkflowId(capture),
      taskQueue: TASK_QUEUES.workflows,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [{ capture }],
      signal,
      signalArgs,
      // Who it is (ending of the tax ID, UF) is published by the workflow itself, which reads it from the row.
      staticSummary: `capture of ${capture.documentType}, ${capture.environment}`,
    });
  }
}
