import type { DocumentState } from '../model/document.js';

/** What codes say about an NFS-e. A code that is not here is data: it says nothing. */

/**
 * cStat of a note: issued, by judicial or administrative decision, loose, of a micro-entrepreneur; 101 in early lists was "issued in place
 * of another". It never changes: a cancelled note still says 100 (case C73), and 101 and 102 do not mean cancelled or replaced.
 */
const ISSUED: ReadonlySet<string> = new Set(['100', '101', '102', '103', '107']);

/** The events that have an element in the XSD, with what each makes of its note. Requests, statements and tacit confirmations: nothing. */
export const NFSE_EVENTS: ReadonlyMap<string, DocumentState | null> = new Map<string, DocumentState | null>([
  ['101101', 'cancelled'],
  ['101103', null],
  ['105102', 'replaced'],
  ['105104', 'cancelled'],
  ['105105', null],
  ['202201', null],
  ['203202', null],
  ['204203', null],
  ['205204', null],
  ['202205', null],
  ['203206', null],
  ['204207', null],
  ['205208', null],
  ['305101', 'cancelled'],
  ['305102', 'blocked'],
  ['305103', null],
]);

/** What the cStat of an NFS-e says: it never changes, so it cannot tell of a cancellation. */
export function stateOfNfse(cStat: string | undefined): DocumentState | null {
  return ISSUED.has(cStat ?? '') ? 'authorized' : null;
}

/** The state that a registered event of this type puts its note into. */
export function stateOfNfseEvent(type: string): DocumentState | null {
  return NFSE_EVENTS.get(type) ?? null;
}
