import type { DocumentState } from '../model/document.js';

/** What status codes and event types say about an NF-e. A code that is not here is data: it says nothing. */

/** cStat of a protocol. 120 is "authorized with alert" (NT 2026.002), 150 "authorized late" (case C48). */
const PROTOCOL_STATES: ReadonlyMap<string, DocumentState> = new Map([
  ['100', 'authorized'],
  ['120', 'authorized'],
  ['150', 'authorized'],
  ['110', 'denied'],
  ['205', 'denied'],
  ['301', 'denied'],
  ['302', 'denied'],
  ['303', 'denied'],
]);

/** cSitNFe of a summary. The schema allows 3 and its text forgets to say what it means (case C33). */
const SUMMARY_STATES: ReadonlyMap<string, DocumentState> = new Map([
  ['1', 'authorized'],
  ['2', 'denied'],
  ['3', 'cancelled'],
]);

/** Cancellation, and cancellation by substitution (NFC-e). */
const CANCELLATIONS: ReadonlySet<string> = new Set(['110111', '110112']);

/** Registered and linked, registered but not linked (case C60), registered late (case C48). */
const REGISTERED: ReadonlySet<string> = new Set(['135', '136', '155']);

/** What the cStat of an NF-e's protocol says of it. Null: nothing that is known. */
export function stateOfProtocol(cStat: string | undefined): DocumentState | null {
  return PROTOCOL_STATES.get(cStat ?? '') ?? null;
}

/** What cSitNFe of a summary says of its note. Null: nothing that is known. */
export function stateOfSummary(cSitNFe: string | undefined): DocumentState | null {
  return SUMMARY_STATES.get(cSitNFe ?? '') ?? null;
}

/** The state that a registered event of this type puts its document into. */
export function stateOfEvent(tpEvento: string): DocumentState | null {
  return CANCELLATIONS.has(tpEvento) ? 'cancelled' : null;
}

/** Whether the government registered an event that it answered with this cStat. */
export function isRegisteredEvent(cStat: string | undefined): boolean {
  return REGISTERED.has(cStat ?? '');
}
