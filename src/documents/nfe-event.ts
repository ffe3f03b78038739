import type { EventInfo } from '../model/document.js';
import { keyMetadata } from './access-key.js';
import { type DocumentKey, documentKey } from './document-key.js';
import { isRegisteredEvent, stateOfEvent } from './nfe-status.js';
import { environment } from './nfe-values.js';
import { present, type Reading, rootReader } from './reader.js';

const EVENT = 'evento/infEvento';
const RESULT = 'retEvento/infEvento';

/**
 * An event with its registration. Every field is read by its whole path: `detEvento` of several types holds protocols and keys of other
 * documents (a cancellation the cancelled note's nProt, 610130 a CT-e's), and `retEvento` came with elements of no schema (case C31).
 */
export const procEventoNFe = rootReader(
  'procEventoNFe',
  'procEventoNFe',
  {
    layout: '@versao',
    id: `${EVENT}@Id`,
    key: `${EVENT}/chNFe`,
    environment: `${EVENT}/tpAmb`,
    cnpj: `${EVENT}/CNPJ`,
    cpf: `${EVENT}/CPF`,
    type: `${EVENT}/tpEvento`,
    sequence: `${EVENT}/nSeqEvento`,
    occurredAt: `${EVENT}/dhEvento`,
    description: `${EVENT}/detEvento/descEvento`,
    resultKey: `${RESULT}/chNFe`,
    resultDescription: `${RESULT}/xEvento`,
    statusCode: `${RESULT}/cStat`,
    registeredAt: `${RESULT}/dhRegEvento`,
    protocol: `${RESULT}/nProt`,
  },
  (xml) => {
    const id = /^ID([0-9]{6})([0-9A-Z]{44})([0-9]{2,3})$/.exec(xml.text('id') ?? '');
    const statusCode = xml.text('statusCode');
    const event = eventInfo(xml.text('type') ?? id?.[1], {
      description: xml.text('description') ?? xml.text('resultDescription'),
      sequence: sequenceNumber(xml.text('sequence') ?? id?.[3]),
      occurredAt: xml.text('occurredAt'),
      registeredAt: xml.text('registeredAt'),
      author: xml.text('cnpj') ?? xml.text('cpf'),
      protocol: xml.text('protocol'),
      statusCode,
    });
    return reading(documentKey(xml.text('key'), xml.text('resultKey'), id?.[2]), event, isRegisteredEvent(statusCode), {
      layout: xml.text('layout'),
      environment: environment(xml.text('environment')),
    });
  },
);

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
    return reading(documentKey(xml.text('key')), event, true, { layout: xml.text('layout') });
  },
);

type Optional<T> = { [K in keyof T]?: T[K] | undefined };

function eventInfo(type: string | undefined, fields: Optional<Omit<EventInfo, 'type'>>): EventInfo | null {
  return type === undefined ? null : { type, ...present(fields) };
}

function reading(
  { key, agreed, warnings }: DocumentKey,
  event: EventInfo | null,
  registered: boolean,
  metadata: { layout?: string | undefined; environment?: string | undefined },
): Reading {
  return {
    key,
    metadata: { ...(key && keyMetadata(key)), ...present(metadata) },
    event,
    implies: event !== null && registered && agreed ? stateOfEvent(event.type) : null,
    warnings: event === null ? [...warnings, 'event_type_missing: the event says not what it is'] : warnings,
  };
}

function sequenceNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9]{1,3}$/.test(text) ? Number(text) : undefined;
}
