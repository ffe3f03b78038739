import type { DocumentKind, DocumentState, FullXml } from '../model/document.js';

/**
 * Which of two statements about one key holds. A cancellation is final whatever else is known, and a document can only lose by an event:
 * so the later word in this list wins, in whatever order the documents came (cases C32, C48).
 */
const WEAKEST_TO_STRONGEST: readonly DocumentState[] = [
  'unknown',
  'authorized',
  'denied',
  'blocked',
  'replaced',
  'cancelled',
];

/**
 * The state of a key, from what each of its documents and events implies ({@link DecodedDocument.implies}). Order and repetition do not
 * matter: folding in one more statement later gives the same as having it from the start.
 */
export function stateOf(implied: Iterable<DocumentState | null>): DocumentState {
  let strongest = 0;
  for (const state of implied) {
    strongest = Math.max(strongest, state === null ? 0 : WEAKEST_TO_STRONGEST.indexOf(state));
  }
  return WEAKEST_TO_STRONGEST[strongest] ?? 'unknown';
}

const BLOCKS = '305102';
const LIFTS_A_BLOCK = '305103';

/**
 * The state of a key from all of its documents. Every statement but one holds for good, so {@link stateOf} of the states before is enough;
 * a block alone can be lifted. Each lifting ends one block, in whatever order both came, so a key is blocked while it has more of these
 * events than of those; the state that a block had given to the documents is therefore not taken over, but found anew.
 */
export function stateOfKey(
  documents: readonly {
    readonly kind: DocumentKind;
    readonly state: DocumentState;
    readonly eventType: string | null;
    readonly eventSequence: number | null;
  }[],
): DocumentState {
  const lasting = documents.map(({ kind, state }) => {
    if (state !== 'blocked') return state;
    return isWholeDocument(kind) ? 'authorized' : null;
  });
  const countOf = (type: string) =>
    new Set(documents.filter(({ eventType }) => eventType === type).map(({ eventSequence }) => eventSequence)).size;
  return stateOf([...lasting, countOf(BLOCKS) > countOf(LIFTS_A_BLOCK) ? 'blocked' : null]);
}

const WHOLE_DOCUMENTS: ReadonlySet<DocumentKind> = new Set([
  'procNFe',
  'procCTe',
  'procCTeOS',
  'procCTeSimp',
  'procGTVe',
  'NFSe',
]);

/** Whether documents of this kind are the thing itself: no summary, no event, nothing unknown. */
export function isWholeDocument(kind: DocumentKind): boolean {
  return WHOLE_DOCUMENTS.has(kind);
}

/**
 * Where the whole XML of a document is.
 *
 * @param about `state` and `received` (a whole document is stored) of the document's key; `overdue`: it should have come by now
 */
export function fullXmlOf(
  kind: DocumentKind,
  about: { readonly state: DocumentState; readonly received: boolean; readonly overdue: boolean },
): FullXml {
  if (isWholeDocument(kind)) {
    return 'present';
  }
  if (kind !== 'resNFe') {
    return 'not_applicable';
  }
  if (about.received) {
    return 'present';
  }
  // The government takes no manifestation of a denied or cancelled note (650, 651), so its XML never comes.
  if (about.state === 'denied' || about.state === 'cancelled') {
    return 'not_applicable';
  }
  return about.overdue ? 'overdue' : 'awaited';
}
