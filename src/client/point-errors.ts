import type { OutcomeKind } from '../model/outcome.js';
import type { PointRefusal } from '../model/point-query.js';

/** Why a question for a single document brought none. None of these means that the document does not exist. */

/**
 * The hour's quota of point queries is used up, or a refusal of the government suspended them. Ask again at `retryAt`: the slot is kept
 * for this question for a minute from then.
 */
export class QuotaExhausted extends Error {
  override readonly name = 'QuotaExhausted';
  constructor(readonly retryAt: Date) {
    super(`the hour's point queries are used up: ask again at ${retryAt.toISOString()}`);
  }
}

/** The capture lets no point query through now. `reason` says why; `retryAt` when it ends, if that is known. */
export class PointQueryRefused extends Error {
  override readonly name = 'PointQueryRefused';
  constructor(
    readonly reason: Exclude<PointRefusal['reason'], 'quota' | 'suspended' | 'blocked'>,
    readonly retryAt: Date | null,
  ) {
    super(`no point query is let through (${reason})${retryAt ? `: ask again at ${retryAt.toISOString()}` : ''}`);
  }
}

/** Ten questions wait already. Ask again in a few seconds. */
export class CaptureBusy extends Error {
  override readonly name = 'CaptureBusy';
  constructor() {
    super('ten questions of this capture wait already: ask again in a few seconds');
  }
}

/** The government was asked and gave no usable answer. Ask again later. */
export class PointQueryFailed extends Error {
  override readonly name = 'PointQueryFailed';
  constructor(
    readonly outcome: OutcomeKind,
    /** The government's code, if there was an answer. */
    readonly statusCode: string | null,
  ) {
    super(`the government gave no usable answer (${statusCode ?? outcome}): ask again later`);
  }
}

/** What was asked for is no NSU or no access key. */
export class MalformedQuestion extends Error {
  override readonly name = 'MalformedQuestion';
}
