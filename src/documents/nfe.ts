import { procEventoNFe, resEvento } from './nfe-event.js';
import { procNFe, resNFe } from './nfe-note.js';
import type { DocumentReader } from './reader.js';

/** NF-e (model 55) and NFC-e (model 65). The issuer gets no own NF-e by distribution, but may import one. */
export const nfe: DocumentReader = {
  documentType: 'nfe',
  roots: [procNFe, resNFe, procEventoNFe, resEvento],
  otherPartyFields: ['recipient', 'carrier'],
};
