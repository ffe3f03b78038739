import type { EventAnswer, EventResult, ReadEventAnswer } from '../../government/event-answer.js';
import type { EventsCall } from '../../government/event-call.js';
import type { ClientCertificate } from '../../government/types.js';
import type { ManifestationRule } from '../../model/manifestation.js';
import type { DocumentType, Environment } from '../../model/words.js';

/**
 * How the events of each document type are made, sent and read. Everything else about a manifestation is the same for all: who may make
 * one is decided in the model, what becomes of it by the meaning of its answer.
 */

/** An event to be signed. */
export interface EventToSign {
  readonly rule: ManifestationRule;
  readonly environment: Environment;
  /** Tax ID and UF of the company that speaks. */
  readonly author: string;
  readonly uf: string;
  /** Access key of the document. */
  readonly key: string;
  readonly sequence: number;
  /** Milliseconds. */
  readonly occurredAt: number;
  readonly justification: string | null;
  readonly fields: Readonly<Record<string, unknown>> | null;
}

/** One request. Its events are of one authority, at most as many as that takes. */
export interface EventRequest extends EventsCall {
  /** Of the first event; where an authority takes only one, of the event. */
  readonly rule: ManifestationRule;
  readonly key: string;
  readonly sequence: number;
  /** When the call began, milliseconds. */
  readonly startedAt: number;
}

/** How the events about one document type are sent. */
export interface EventService {
  /** The operation, in the call log. */
  readonly operation: string;
  /** An event by itself, signed: these characters are kept, and sent as they are however often. */
  sign(event: EventToSign, certificate: ClientCertificate): string;
  /** One call. Whatever happens on the wire is an outcome. */
  send(request: EventRequest): Promise<EventAnswer>;
  /**
   * Where an event that may have been registered must not be sent again before this said that it was not: outcome `none`. With outcome
   * `documents` the result tells of the registered event.
   */
  readonly readBack?: {
    /** In the call log. */
    readonly operation: string;
    ask(request: Omit<EventRequest, 'events'>): Promise<EventAnswer>;
  };
  /** Reads the archived answer of a call. Pure; never throws. */
  read(body: Uint8Array, environment: Environment): ReadEventAnswer;
  /** A registered event as a document of its own (design.md section 7), with its schema. */
  document(signed: string, result: EventResult): { readonly schema: string; readonly xml: string };
}

/** By document type; one that is missing takes no events. */
export type EventServices = { readonly [type in DocumentType]?: EventService };

/** @throws {Error} for a document type about which a company can say nothing */
export function eventServiceOf(services: EventServices, documentType: DocumentType): EventService {
  const service = services[documentType];
  if (!service) throw new Error(`there are no manifestations of ${documentType}`);
  return service;
}
