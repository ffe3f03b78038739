import type { Environment } from '../../model/words.js';
import type { SimulatedType } from '../distribution/dialect.js';
import type { QueueRegistry } from '../queues/registry.js';
import type { Rule } from '../rules/state.js';
import type { CallKind } from '../scripts/scripts.js';
import type { Element } from '../soap/element.js';
import type { SoapOperation } from '../soap/envelope.js';
import type { EventMemory } from './memory.js';
import type { SignatureJudge } from './signature.js';

/** One event of a request, as far as its layout goes. */
export interface EventRequest {
  /** The event's element to the letter: what is signed is these characters. */
  readonly text: string;
  readonly id: string;
  readonly organ: string;
  readonly environmentCode: string;
  /** Tax ID of the author. */
  readonly author: string;
  readonly key: string;
  /** Milliseconds. */
  readonly occurredAt: number;
  readonly type: string;
  readonly sequence: number;
  /** What is wrong with detEvento, whose layout depends on the type; null: nothing. */
  readonly detailFault: string | null;
  /** Text elements of the type's own layout by name. */
  readonly details: Readonly<Record<string, string>>;
}

/** The events of a request, or the status that all of it is refused with. */
export type ReadEvents =
  /** `lot`: idLote, where the layout has one. */
  | { readonly ok: true; readonly lot: string; readonly events: readonly EventRequest[] }
  /** The whole request is refused. `author`: what could be made out, for the journal. */
  | { readonly ok: false; readonly cStat: string; readonly detail: string; readonly author: string | null };

/** What is answered about one event. */
export interface EventVerdict {
  readonly cStat: string;
  readonly rule: Rule | null;
  /** One clause for the journal. */
  readonly detail: string | null;
}

/** What an event is judged by besides itself. */
export interface EventCircumstances {
  readonly environment: Environment;
  readonly at: number;
  readonly registry: QueueRegistry;
  readonly memory: EventMemory;
  readonly signatures: SignatureJudge;
}

/** What is answered about one event. */
export interface AnsweredEvent {
  readonly event: EventRequest;
  readonly cStat: string;
  readonly text: string;
  /** Null: not registered. */
  readonly protocol: string | null;
}

/** What is answered to a request. */
export interface EventsAnswer {
  readonly lot: string;
  readonly environmentCode: '1' | '2';
  /** Of the request as a whole. */
  readonly cStat: string;
  readonly text: string;
  readonly answeredAt: number;
  readonly events: readonly AnsweredEvent[];
}

/** What tells one service that registers events from another. */
export interface EventDialect {
  /** In the journal. */
  readonly name: string;
  readonly path: string;
  readonly documentType: SimulatedType;
  readonly kind: CallKind;
  readonly operation: SoapOperation;
  /** Element of the whole request. */
  readonly root: string;
  /** Events in one request. */
  readonly most: number;
  readonly registered: ReadonlySet<string>;
  /** Status of misuse. */
  readonly misuse: string;
  /**
   * Reads and checks the request's form.
   *
   * @param data the elements inside the data element
   * @param body the whole message, in which the events stand to the letter
   */
  read(data: readonly Element[], body: string): ReadEvents;
  judge(event: EventRequest, now: EventCircumstances): EventVerdict;
  /** xMotivo. `event`: what the status is about, if it is about one. */
  text(cStat: string, event?: EventRequest, now?: Pick<EventCircumstances, 'environment' | 'memory'>): string;
  /** The first digits of its protocols. */
  protocolPrefix(event: EventRequest): string;
  write(answer: EventsAnswer): string;
}
