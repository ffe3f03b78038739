import type { DocumentState } from '../model/document.js';
import type { DocumentType } from '../model/words.js';
import { stateOfCteEvent } from './cte-status.js';
import { stateOfEvent } from './nfe-status.js';
import { stateOfNfseEvent } from './nfse-status.js';

const BY_TYPE = { nfe: stateOfEvent, cte: stateOfCteEvent, nfse: stateOfNfseEvent } as const;

/** The state that a registered event of this type puts its document into; null: none. */
export function stateOfEventType(documentType: DocumentType, eventType: string): DocumentState | null {
  return BY_TYPE[documentType](eventType);
}
