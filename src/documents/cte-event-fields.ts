import { DISAGREEMENT_CANCELLATION, DISAGREEMENT_PROTOCOL } from '../model/manifestation.js';
import { type Field, type FieldError, faultsOf } from './event-layout.js';

/** evCancPrestDesacordo_v4.00.xsd */
const CANCELLATION: readonly Field[] = [
  {
    name: DISAGREEMENT_PROTOCOL,
    pattern: /^[0-9]{15}$/,
    means: 'the protocol of the disagreement, 15 digits',
    // Found by itself where Malote knows the disagreement.
    optional: true,
  },
];

/** Everything that is wrong with the fields given for a taker's event about a CT-e. */
export function cteEventFaults(type: string, given: unknown): FieldError[] {
  if (type === DISAGREEMENT_CANCELLATION) return faultsOf(CANCELLATION, given);
  return [{ field: '', message: `belong to other events: ${type} has none` }];
}
