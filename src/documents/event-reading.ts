import type { DocumentKind, DocumentState, EventInfo } from '../model/document.js';
import { keyMetadata } from './access-key.js';
import { type DocumentKey, documentKey } from './document-key.js';
import { present, type Reading, type RootReader, rootReader } from './reader.js';
import { environment } from './values.js';

/** Where one family of documents keeps what every event says. */
export interface EventLayout {
  readonly kind: DocumentKind;
  readonly root: string;
  /** Paths of the signed part and of the government's answer to it. */
  readonly event: string;
  readonly result: string;
  /** Name of the element with the key, the same in both parts. */
  readonly key: string;
  /** Path of the description inside the signed part. */
  readonly description: string;
  /** The state that an event of this type, answered with this cStat, puts its document into. */
  readonly implies: (type: string, statusCode: string | undefined) => DocumentState | null;
}

/**
 * An event with its registration. Every field is read by its whole path: `detEvento` of several types holds protocols and keys of other
 * documents (a cancellation the cancelled document's nProt, 610130 a CT-e's), and `retEvento` came with elements of no schema (case C31).
 */
export function procEvent(layout: EventLayout): RootReader {
  const { event, result } = layout;
  return rootReader(
    layout.kind,
    layout.root,
    {
      layout: '@versao',
      id: `${event}@Id`,
      key: `${event}/${layout.key}`,
      environment: `${event}/tpAmb`,
      cnpj: `${event}/CNPJ`,
      cpf: `${event}/CPF`,
      type: `${event}/tpEvento`,
      sequence: `${event}/nSeqEvento`,
      occurredAt: `${event}/dhEvento`,
      description: `${event}/${layout.description}`,
      resultKey: `${result}/${layout.key}`,
      resultDescription: `${result}/xEvento`,
      statusCode: `${result}/cStat`,
      registeredAt: `${result}/dhRegEvento`,
      protocol: `${result}/nProt`,
    },
    (xml) => {
      // The sequence has two digits in NF-e and up to CT-e 3.00, three in CT-e 4.00.
      const id = /^ID([0-9]{6})([0-9A-Z]{44})([0-9]{2,3})$/.exec(xml.text('id') ?? '');
      const statusCode = xml.text('statusCode');
      const info = eventInfo(xml.text('type') ?? id?.[1], {
        description: xml.text('description') ?? xml.text('resultDescription'),
        sequence: sequenceNumber(xml.text('sequence') ?? id?.[3]),
        occurredAt: xml.text('occurredAt'),
        registeredAt: xml.text('registeredAt'),
        author: xml.text('cnpj') ?? xml.text('cpf'),
        protocol: xml.text('protocol'),
        statusCode,
      });
      const implies = info && layout.implies(info.type, statusCode);
      return eventReading(documentKey(xml.text('key'), xml.text('resultKey'), id?.[2]), info, implies, {
        layout: xml.text('layout'),
        environment: environment(xml.text('environment')),
      });
    },
  );
}

type Optional<T> = { [K in keyof T]?: T[K] | undefined };

/** What an event says, without the fields that are absent; null without a type. */
export function eventInfo(type: string | undefined, fields: Optional<Omit<EventInfo, 'type'>>): EventInfo | null {
  return type === undefined ? null : { type, ...present(fields) };
}

/** @param implies what the event says of its document's state, if its places agree on which document that is */
export function eventReading(
  { key, agreed, warnings }: DocumentKey,
  event: EventInfo | null,
  implies: DocumentState | null,
  metadata: { layout?: string | undefined; environment?: string | undefined },
): Reading {
  return {
    key,
    metadata: { ...(key && keyMetadata(key)), ...present(metadata) },
    event,
    implies: agreed ? implies : null,
    warnings: event === null ? [...warnings, 'event_type_missing: the event says not what it is'] : warnings,
  };
}

/** nSeqEvento, with or without leading zeros. */
export function sequenceNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9]{1,3}$/.test(text) ? Number(text) : undefined;
}
