import type { Outcome } from '../model/outcome.js';
import { type CallAnswer, type FailureStage, TransportFailure } from './types.js';

/** A call that brought no answer, from whatever the transport threw. One that breaks its word, by throwing something else, may have sent the request. */
export function nothingCame(error: unknown): CallAnswer {
  const { stage, reason } =
    error instanceof TransportFailure
      ? error
      : new TransportFailure('unknown', 'the transport failed without saying how far it got');
  const statusText = reason.slice(0, 500);
  return { outcome: outcomeOf(stage, statusText), items: [], statusText, serverTime: null, warnings: [], raw: null };
}

function outcomeOf(stage: FailureStage, reason: string): Outcome {
  switch (stage) {
    case 'not_sent':
    case 'unknown':
      return { kind: stage, reason };
    case 'certificate_refused':
      return { kind: 'certificate_refused', statusCode: 'TLS' };
    case 'answer_too_large':
      return { kind: 'unreadable', statusCode: 'none', reason };
  }
}
