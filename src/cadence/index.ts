import type { DocumentType } from '../model/words.js';
import { CTE_RULES, type DistributionRules, NFE_RULES } from './constants.js';
import { NFSE_RULES, nfseCadence, nfsePointCadence } from './nfse.js';
import { type PointCadence, pointCadence } from './point.js';
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
export {
  NIGHTLY_WINDOW,
  RECOVERY_ATTEMPTS,
  RECOVERY_DISPATCH,
  RECOVERY_EXPIRES,
  RECOVERY_SPACING,
  recoveryWait,
} from './point.js';
export { STOPPING } from './soap.js';
export type { Cadence, Step } from './step.js';

/** The polling rules and the call limit of one document type. */
export interface CaptureRules {
  readonly next: Cadence;
  /** Milliseconds for one government call. Never scaled. */
  readonly callLimit: number;
  /** Milliseconds after an empty queue, before time scale. */
  readonly emptyQueue: number;
  readonly point: PointRules;
  /** Least time between two calls with one certificate, whoever makes them; milliseconds, before time scale. Default: none. */
  readonly pacing?: number;
  /** Without a usable certificate it is looked again after this; milliseconds, before time scale. Default: when one is stored, or people act. */
  readonly certificateRetry?: number;
}

/** How a service takes questions for single documents. */
interface PointRules {
  readonly next: PointCadence;
  /** By access key too (CT-e's cannot be asked so). */
  readonly byKey: boolean;
  /** A 656 on distribution holds point queries as well. */
  readonly heldByThrottle: boolean;
}

const RULES: Readonly<Record<DocumentType, CaptureRules>> = {
  nfe: rulesOf(NFE_RULES, { byKey: true }),
  cte: rulesOf(CTE_RULES, { byKey: false }),
  nfse: {
    next: nfseCadence,
    callLimit: NFSE_RULES.callLimit,
    emptyQueue: NFSE_RULES.emptyQueue,
    pacing: NFSE_RULES.pacing,
    certificateRetry: NFSE_RULES.certificateMissing,
    point: { next: nfsePointCadence, byKey: false, heldByThrottle: true },
  },
};

function rulesOf(rules: DistributionRules, { byKey }: Pick<PointRules, 'byKey'>): CaptureRules {
  const point = { next: pointCadence(rules), byKey, heldByThrottle: rules.throttleSuspendsPointQueries };
  return { next: soapCadence(rules), callLimit: rules.callLimit, emptyQueue: rules.emptyQueue, point };
}

/** The rules of one document type. */
export function cadenceOf(documentType: DocumentType): CaptureRules {
  return RULES[documentType];
}
