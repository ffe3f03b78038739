import { explainAnswer, isFinalAnswer } from '../model/point-answers.js';
import type { PointAnswer, PointRefusal } from '../model/point-query.js';
import { PointQueryFailed, PointQueryRefused, QuotaExhausted } from './point-errors.js';

/** What came of a question for a single document. Read the documents through the HTTP API. */
export interface FoundDocuments {
  /** Empty: the government has no such document for this company, for good; `statusCode` and `explanation` say why. */
  readonly documentIds: readonly string[];
  /** They were here already: the government was not asked, and their webhooks are sent again. */
  readonly local: boolean;
  /** The government's code; null when it was not asked. */
  readonly statusCode: string | null;
  /** Of an answer without documents: what it means. */
  readonly explanation: string | null;
}

/**
 * @throws {QuotaExhausted}
 * @throws {PointQueryRefused}
 * @throws {PointQueryFailed}
 */
export function foundIn(answer: PointAnswer): FoundDocuments {
  if (answer.kind === 'refused') throw refusedFor(answer.refusal);
  const { documentIds } = answer;
  if (answer.kind === 'local') return { documentIds, local: true, statusCode: null, explanation: null };
  const { outcome, statusCode } = answer;
  const final = outcome === 'none' || (outcome === 'rejected' && statusCode !== null && isFinalAnswer(statusCode));
  if (documentIds.length === 0 && !final) throw new PointQueryFailed(outcome, statusCode);
  const explanation = documentIds.length === 0 && statusCode !== null ? explainAnswer(statusCode) : null;
  return { documentIds, local: false, statusCode, explanation };
}

function refusedFor(refusal: PointRefusal): QuotaExhausted | PointQueryRefused {
  switch (refusal.reason) {
    case 'quota':
    case 'suspended':
    case 'blocked':
      return new QuotaExhausted(new Date(refusal.until));
    default: {
      const until = 'until' in refusal ? refusal.until : null;
      return new PointQueryRefused(refusal.reason, until === null ? null : new Date(until));
    }
  }
}
