import { procCTe, procCTeOS, procCTeSimp, procGTVe } from './cte-document.js';
import { procEventoCTe } from './cte-event.js';
import type { DocumentReader } from './reader.js';

/** CT-e (model 57, simplified or not), CT-e OS (67) and GTV-e (64). */
export const cte: DocumentReader = {
  documentType: 'cte',
  roots: [procCTe, procCTeOS, procCTeSimp, procGTVe, procEventoCTe],
  otherPartyFields: ['sender', 'dispatcher', 'receiver', 'recipient', 'taker'],
};
