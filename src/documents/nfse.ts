import { evento, pedRegEvento } from './nfse-event.js';
import { searchedNfseKey } from './nfse-key.js';
import { dps, nfseNote } from './nfse-note.js';
import { type DocumentReader, present, type RootReader, rootReader } from './reader.js';

/** An entry of the national register of taxpayers: of no note, and with no key. */
const cnc: RootReader = rootReader('CNC', 'CNC', { layout: '@versao' }, (xml) => ({
  key: null,
  metadata: present({ layout: xml.text('layout') }),
  event: null,
  implies: null,
  warnings: [],
}));

/** National NFS-e, layouts 1.00 and 1.01. */
export const nfse: DocumentReader = {
  documentType: 'nfse',
  roots: [nfseNote, dps, evento, pedRegEvento, cnc],
  otherPartyFields: ['recipient', 'intermediary'],
  mentionedFields: ['otherRecipient', 'emitter'],
  searchedKey: searchedNfseKey,
};
