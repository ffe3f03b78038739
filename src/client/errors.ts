import type { CaptureKey } from '../model/words.js';

/** The company was never registered (HTTP API or command line), or was erased. Register it, then start again. */
export class CompanyUnknown extends Error {
  override readonly name = 'CompanyUnknown';
  constructor(readonly companyId: string) {
    super(`company ${companyId} is not registered: create it with POST /v1/companies or "malote company add"`);
  }
}

/** No such capture runs: it was never started, or it was stopped. Start it with `startCapture`. */
export class CaptureNotFound extends Error {
  override readonly name = 'CaptureNotFound';
  constructor(readonly capture: CaptureKey) {
    super(
      `no ${capture.documentType} capture of company ${capture.companyId} runs in ${capture.environment}: start it with startCapture`,
    );
  }
}

/** No worker answered in time. What was asked (a start, a signal) is kept by Temporal and done when a worker is there. */
export class NoWorkerAnswered extends Error {
  override readonly name = 'NoWorkerAnswered';
  constructor(readonly seconds: number) {
    super(`no capture worker answered within ${seconds} s: check that one runs ("malote worker") in this namespace`);
  }
}
