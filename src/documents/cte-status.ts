import type { DocumentState } from '../model/document.js';

/** What status codes and event types say about a CT-e. A code that is not here is data: it says nothing. */

/** cStat of a protocol. CT-e were denied up to layout 3.00 only: since 4.00 they are rejected instead, and then there is no document. */
const PROTOCOL_STATES: ReadonlyMap<string, DocumentState> = new Map([
  ['100', 'authorized'],
  ['110', 'denied'],
  ['301', 'denied'],
  ['302', 'denied'],
  ['303', 'denied'],
  ['304', 'denied'],
  ['305', 'denied'],
  ['306', 'denied'],
]);

/** The issuer's cancellation, and what the authorizer writes beside a CT-e when its substitute is authorized. */
const EVENT_STATES: ReadonlyMap<string, DocumentState> = new Map([
  ['110111', 'cancelled'],
  ['240140', 'replaced'],
]);

/** Registered and linked with a warning about the document, registered and linked, registered and not linked yet. */
const REGISTERED: ReadonlySet<string> = new Set(['134', '135', '136']);

/** What the cStat of a CT-e's protocol says of it. Null: nothing that is known. */
export function stateOfCteProtocol(cStat: string | undefined): DocumentState | null {
  return PROTOCOL_STATES.get(cStat ?? '') ?? null;
}

/** The state that a registered event of this type puts its document into. */
export function stateOfCteEvent(tpEvento: string): DocumentState | null {
  return EVENT_STATES.get(tpEvento) ?? null;
}

/** Whether the government registered an event that it answered with this cStat. */
export function isRegisteredCteEvent(cStat: string | undefined): boolean {
  return REGISTERED.has(cStat ?? '');
}
