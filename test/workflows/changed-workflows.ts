import { capture as today } from '../../src/workflows/capture.js';
import type { CaptureInput } from '../../src/workflows/messages.js';
import { captureRow } from '../../src/workflows/proxies.js';

/** The workflow with one activity more at its beginning: what the replay test must refuse. */
export async function capture(input: CaptureInput): Promise<void> {
  await captureRow(input.capture, 'one more').openCapture({ capture: input.capture });
  await captureRow(input.capture, 'and another').holdCapture({ capture: input.capture, until: null });
  await today(input);
}
