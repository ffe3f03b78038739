import type { DocumentType } from '../model/words.js';
import { CTE_RULES, type DistributionRules, NFE_RULES } from './constants.js';
import { soapCadence } from './soap.js';
import type { Cadence } from './step.js';

export {
  jitter,
  LEASE_GRACE,
  OUTAGE_CAPTURES,
  OUTAGE_PAUSE_FIRST,
  OUTAGE_PAUSE_MAX,
  OUTAGE_WINDOW,
  scaled,
} from './constants.js';
export { STOPPING } from './soap.js';
export type { Cadence, Circumstances, JumpedRange, Step } from './step.js';

/** The polling rules and the call limit of one document type. */
export interface CaptureRules {
  readonly next: Cadence;
  /** Milliseconds for one government call. Never scaled. */
  readonly callLimit: number;
}

const RULES: Partial<Record<DocumentType, CaptureRules>> = {
  nfe: rulesOf(NFE_RULES),
  cte: rulesOf(CTE_RULES),
};

function rulesOf(rules: DistributionRules): CaptureRules {
  return { next: soapCadence(rules), callLimit: rules.callLimit };
}

/** @throws Error for a document type whose capture this version does not have */
export function cadenceOf(documentType: DocumentType): CaptureRules {
  const rules = RULES[documentType];
  if (!rules) throw new Error(`this version captures no ${documentType}`);
  return rules;
}
