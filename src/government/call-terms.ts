import type { Environment } from '../model/words.js';
import type { GovernmentRequest } from './types.js';

type OnTheWire = Pick<GovernmentRequest, 'certificate' | 'limitMs' | 'signal' | 'beforeSend'>;

/** What every call to the government is given besides its question. */
export interface CallTerms extends OnTheWire {
  readonly environment: Environment;
}

/** The part of a request that its call's terms decide. */
export function termsOf({ certificate, limitMs, signal, beforeSend }: OnTheWire): OnTheWire {
  return { certificate, limitMs, ...(signal && { signal }), ...(beforeSend && { beforeSend }) };
}
