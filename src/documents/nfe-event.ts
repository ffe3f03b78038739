import { documentKey } from './document-key.js';
import { eventInfo, eventReading, procEvent, sequenceNumber } from './event-reading.js';
import { isRegisteredEvent, stateOfEvent } from './nfe-status.js';
import { rootReader } from './reader.js';

/** An event about an NF-e with its registration. */
export const procEventoNFe = procEvent({
  kind: 'procEventoNFe',
  root: 'procEventoNFe',
  event: 'evento/infEvento',
  result: 'retEvento/infEvento',
  key: 'chNFe',
  description: 'detEvento/descEvento',
  implies: (type, statusCode) => (isRegisteredEvent(statusCode) ? stateOfEvent(type) : null),
});

/** The summary of an event: only registered ones are distributed. */
export const resEvento = rootReader(
  'resEvento',
  'resEvento',
  {
    layout: '@versao',
    key: 'chNFe',
    cnpj: 'CNPJ',
    cpf: 'CPF',
    type: 'tpEvento',
    sequence: 'nSeqEvento',
    description: 'xEvento',
    occurredAt: 'dhEvento',
    registeredAt: 'dhRecbto',
    protocol: 'nProt',
  },
  (xml) => {
    const event = eventInfo(xml.text('type'), {
      description: xml.text('description'),
      sequence: sequenceNumber(xml.text('sequence')),
      occurredAt: xml.text('occurredAt'),
      registeredAt: xml.text('registeredAt'),
      author: xml.text('cnpj') ?? xml.text('cpf'),
      protocol: xml.text('protocol'),
    });
    const implies = event && stateOfEvent(event.type);
    return eventReading(documentKey(xml.text('key')), event, implies, { layout: xml.text('layout') });
  },
);
