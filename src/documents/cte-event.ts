import { isRegisteredCteEvent, stateOfCteEvent } from './cte-status.js';
import { procEvent } from './event-reading.js';

/** Below `detEvento` stands one element whose name is the type's (`evCancCTe`, `evPrestDesacordo` …), with the description inside. */
export const procEventoCTe = procEvent({
  kind: 'procEventoCTe',
  root: 'procEventoCTe',
  event: 'eventoCTe/infEvento',
  result: 'retEventoCTe/infEvento',
  key: 'chCTe',
  description: 'detEvento/*/descEvento',
  implies: (type, statusCode) => (isRegisteredCteEvent(statusCode) ? stateOfCteEvent(type) : null),
});
