import { createHash } from 'node:crypto';
import type { Client, WorkflowHandleWithSignaledRunId } from '@temporalio/client';
import { TASK_QUEUES } from '../model/activity-contract.js';
import type { ExportInput } from '../model/export-contract.js';
import type { ImportInput } from '../model/import-contract.js';
import type { RequestedManifestation } from '../model/manifestation-contract.js';
import { ON_DEMAND_WORKFLOW, type OnDemandInput, type OnDemandResult } from '../model/on-demand.js';
import type { CaptureKey } from '../model/words.js';
import {
  type CaptureInput,
  captureWorkflowId,
  type DeliveryInput,
  deliveryWorkflowId,
  type ErasureInput,
  erasureWorkflowId,
  exportWorkflowId,
  importWorkflowId,
  type ManifestationInput,
  manifestationWorkflowId,
  NIGHTLY_GAPS_ID,
  type PauseSignal,
  type ReprocessArchiveInput,
  reprocessWorkflowId,
  SIGNALS,
  type StartSignal,
  WORKFLOW_TYPES,
} from '../workflows/messages.js';

import { type Asked, type AskTimes, askCapture, type PointQuestion } from './point-question.js';

export type { ReprocessArchiveInput } from '../workflows/messages.js';
export { captureWorkflowId } from '../workflows/messages.js';
export type { Asked, AskTimes, PointQuestion } from './point-question.js';

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

  /** "There are manifestations to send, or to wait for." */
  async wakeManifestation(capture: CaptureKey): Promise<void> {
    await this.#toManifestations(capture, SIGNALS.wake, []);
  }

  /** The request itself, for programs that speak to Temporal alone. */
  async requestManifestation(capture: CaptureKey, request: RequestedManifestation): Promise<void> {
    await this.#toManifestations(capture, SIGNALS.request, [request]);
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

  /** "There is a company to delete", or a deletion that was hurried or taken back. */
  async wakeErasure(companyId: string): Promise<void> {
    const input: ErasureInput = { companyId };
    await this.#client.workflow.signalWithStart(WORKFLOW_TYPES.erasure, {
      workflowId: erasureWorkflowId(companyId),
      taskQueue: TASK_QUEUES.workflows,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [input],
      signal: SIGNALS.wake,
      signalArgs: [],
      staticSummary: 'deletion of a company',
    });
  }

  /** Asks for one document by its key and waits for the answer. The same question meanwhile is the same run. */
  async captureOnDemand(capture: CaptureKey, key: string): Promise<OnDemandResult> {
    const { companyId, documentType, environment } = capture;
    const input: OnDemandInput = { capture: { companyId, documentType, environment }, key };
    const question = createHash('sha256').update(key).digest('hex').slice(0, 16);
    const handle = await this.#client.workflow.start<(input: OnDemandInput) => Promise<OnDemandResult>>(
      ON_DEMAND_WORKFLOW,
      {
        workflowId: `on-demand/${documentType}/${environment}/${companyId}/${question}`,
        taskQueue: TASK_QUEUES.workflows,
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowExecutionTimeout: '10 minutes',
        args: [input],
        staticSummary: `one ${documentType} by its key, ${environment}`,
      },
    );
    return handle.result();
  }

  /** @see askCapture */
  askCapture(capture: CaptureKey, question: PointQuestion, times: AskTimes, id?: string): Promise<Asked> {
    return askCapture(this.#client, capture, question, times, id);
  }

  /** Decodes an archive again. The answer's `result` is waited for by whoever wants to. */
  async reprocessArchive(input: ReprocessArchiveInput): Promise<{ result(): Promise<unknown> }> {
    return this.#client.workflow.start(WORKFLOW_TYPES.reprocessArchive, {
      workflowId: reprocessWorkflowId(input.requestId),
      taskQueue: TASK_QUEUES.workflows,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [input],
      staticSummary: 'decode an archive again',
    });
  }

  /** Runs an export; one that runs already is not disturbed. */
  async startExport(input: ExportInput): Promise<void> {
    await this.#client.workflow.start(WORKFLOW_TYPES.exportDocuments, {
      workflowId: exportWorkflowId(input.exportId),
      taskQueue: TASK_QUEUES.workflows,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [input],
      staticSummary: 'export documents of a period',
    });
  }

  /** @throws {WorkflowNotFoundError} when no run is open */
  async cancelExport(exportId: string): Promise<void> {
    await this.#client.workflow.getHandle(exportWorkflowId(exportId)).cancel();
  }

  /** Runs an import; one that runs already is not disturbed. */
  async startImport(input: ImportInput): Promise<void> {
    await this.#client.workflow.start(WORKFLOW_TYPES.importDocuments, {
      workflowId: importWorkflowId(input.importId),
      taskQueue: TASK_QUEUES.workflows,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [input],
      staticSummary: 'import documents from a file',
    });
  }

  /** The nightly look for missing numbers, now. One that runs already is not disturbed. */
  async runNightlyGaps(): Promise<void> {
    await this.#client.workflow.start(WORKFLOW_TYPES.nightlyGaps, {
      workflowId: NIGHTLY_GAPS_ID,
      taskQueue: TASK_QUEUES.workflows,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [{}],
      staticSummary: 'look for missing numbers',
    });
  }

  async #toManifestations(capture: CaptureKey, signal: string, signalArgs: unknown[]): Promise<void> {
    const { companyId, documentType, environment } = capture;
    const input: ManifestationInput = { capture: { companyId, documentType, environment } };
    await this.#client.workflow.signalWithStart(WORKFLOW_TYPES.manifestation, {
      workflowId: manifestationWorkflowId(capture),
      taskQueue: TASK_QUEUES.workflows,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [input],
      signal,
      signalArgs,
      staticSummary: `manifestations of ${documentType}, ${environment}`,
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
