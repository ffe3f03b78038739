import type { Asked, PointQuestion, ReprocessArchiveInput } from '../client/workflow-messenger.js';
import type { ExportInput } from '../model/export-contract.js';
import type { ImportInput } from '../model/import-contract.js';
import type { OnDemandResult } from '../model/on-demand.js';
import type { CaptureKey } from '../model/words.js';

/**
 * All that the API says to Temporal. Each method rejects when Temporal does not take it within a few seconds; what it was
 * about stands in the database by then, and housekeeping finds it there.
 */
export interface TemporalGateway {
  /** Signal-with-start `start`: runs the capture, or tells the running one that its row changed. */
  startCapture(capture: CaptureKey): Promise<void>;
  /** Tells the run that its row is stopped. Resolves also when none is open. */
  stopCapture(capture: CaptureKey): Promise<void>;
  resumeCapture(capture: CaptureKey): Promise<void>;
  /** "Look at your row again." */
  wakeCapture(capture: CaptureKey): Promise<void>;
  /** "There are manifestations to send." */
  wakeManifestation(capture: CaptureKey): Promise<void>;
  /** "There are rows to deliver." */
  wakeDelivery(endpointId: string): Promise<void>;
  /** "There is a company to delete", or a deletion that was hurried or taken back. */
  wakeErasure(companyId: string): Promise<void>;
  /**
   * One NFS-e by its key. The same question twice is asked once.
   *
   * Rejects when there is no answer within 25 s; the same question later gets it.
   */
  captureOnDemand(capture: CaptureKey, key: string): Promise<OnDemandResult>;
  /**
   * A question for one document. Wakes a capture whose run was lost; asks again while ten others wait.
   *
   * @param id of the question: a repeat of it is the same one
   * @param waitMs so long the answer is waited for
   */
  askCapture(capture: CaptureKey, question: PointQuestion, id: string, waitMs: number): Promise<Asked>;
  /** Decodes an archive again. True: it was done within `waitMs`. */
  reprocessArchive(input: ReprocessArchiveInput, waitMs: number): Promise<boolean>;
  startExport(input: ExportInput): Promise<void>;
  /** Resolves also when no run is open. */
  cancelExport(exportId: string): Promise<void>;
  startImport(input: ImportInput): Promise<void>;
  /** The nightly look for missing numbers, now. */
  runNightlyGaps(): Promise<void>;
  /** Rejects when Temporal does not answer. */
  check(): Promise<void>;
}
