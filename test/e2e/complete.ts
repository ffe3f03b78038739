import assert from 'node:assert/strict';
import type { CaptureKey, DocumentType } from '../../src/model/words.js';
import type { System } from './system.js';

/** What the government has for a company is what is stored of it, byte for byte, and no rule was broken. Stops the capture. */
export async function assertComplete(system: System, capture: CaptureKey, taxId: string): Promise<void> {
  const documentType = capture.documentType as Exclude<DocumentType, 'nfse'>;
  const truth = system.simulator.companies.truth({ documentType, taxId, limit: 10_000 });
  assert.deepEqual(
    await system.stored(capture.companyId),
    new Map(truth.map((entry) => [entry.nsu as string, entry.sha256])),
  );
  assert.deepEqual(system.simulator.journal.violations({ taxId }), []);
  await system.messenger.stopCapture(capture);
}
