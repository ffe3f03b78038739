import type { CaptureKey } from '../model/words.js';

/** The company was never registered (HTTP API or command line), or was erased. Register it, then start again. */
export class CompanyUnknown extends Error {
  override readonly name = 'CompanyUnknown';
  constructor(readonly companyId: string) {
    super(`company ${companyId} is not registered: create it with POST /v1/companies or "malote company add"`);
  }
}

/** The company's documents of this type are captured in the other environment, and one at a time: stop it there, then start again. */
export class EnvironmentInUse extends Error {
  override readonly name = 'EnvironmentInUse';
  constructor(readonly capture: CaptureKey) {
    super(
      `the ${capture.documentType} capture of company ${capture.companyId} does not run in ${capture.environment}: it runs in the other environment; stop it there first`,
    );
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

/**
 * Which environment is meant cannot be told: no capture of the company runs in either, or one runs in both. Pass `environment`: a legal
 * statement is never made in one that was only guessed.
 */
export class EnvironmentUnknown extends Error {
  override readonly name = 'EnvironmentUnknown';
  constructor(readonly companyId: string) {
    super(`the environment of company ${companyId} cannot be told from its running captures: pass environment`);
  }
}

/** This request cannot travel through Temporal, whose histories anybody may read there, or is none. Use the HTTP API, or correct it. */
export class ManifestationNotPossible extends Error {
  override readonly name = 'ManifestationNotPossible';
}

/** No worker answered in time. What was asked (a start, a signal) is kept by Temporal and done when a worker is there. */
export class NoWorkerAnswered extends Error {
  override readonly name = 'NoWorkerAnswered';
  constructor(readonly seconds: number) {
    super(`no capture worker answered within ${seconds} s: check that one runs ("malote worker") in this namespace`);
  }
}
