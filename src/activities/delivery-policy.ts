import { isWholeDocument, rolesOf } from '../documents/index.js';
import type { CaptureOptions, DocumentType } from '../model/words.js';
import type { DocumentRow } from '../storage/documents.js';
import type { HeldDocument } from '../storage/held-documents.js';
import type { Relative } from '../storage/page.js';

/**
 * Which documents a customer is told of. Whatever is decided here, the document itself is stored and shown by the API; `suppressed` in
 * its record says why no webhook was sent.
 */

/** What a policy says of one document by itself. */
type Verdict =
  | { readonly kind: 'notify' }
  | { readonly kind: 'suppress'; readonly reason: string }
  /** As was decided for the whole document of the same key; held while that has not come. */
  | { readonly kind: 'follow' };

/** Whose documents they are, and what was chosen for them. */
export interface Chosen {
  readonly taxId: string;
  readonly options: CaptureOptions;
}

type DeliveryPolicy = (document: DocumentRow, chosen: Chosen) => Verdict;

const NOTIFY: Verdict = { kind: 'notify' };

/** Document types without a policy notify of everything. */
const POLICIES: { readonly [type in DocumentType]?: DeliveryPolicy } = { cte: byRoleAndEventType };

/** Whether documents of this type may have to wait for another one. */
export function mayHold(documentType: DocumentType): boolean {
  return POLICIES[documentType] !== undefined;
}

/** The company takes part in one of the chosen roles; of events, those of the chosen types about such documents. */
function byRoleAndEventType(document: DocumentRow, { taxId, options }: Chosen): Verdict {
  const { eventTypes, interestedParties } = options;
  if (document.event && eventTypes && !eventTypes.includes(document.event.type)) {
    return {
      kind: 'suppress',
      reason: `event_type_not_selected: ${document.event.type} is not among the capture's eventTypes`,
    };
  }
  if (!interestedParties) return NOTIFY;
  if (document.event) return document.key === null ? NOTIFY : { kind: 'follow' };
  // Nobody can say who takes part in a document of an unknown kind: rather one webhook too many.
  if (!isWholeDocument(document.kind)) return NOTIFY;
  const roles = rolesOf(document.documentType, document.metadata, taxId);
  if (roles.some((role) => interestedParties.includes(role))) return NOTIFY;
  const held = roles.length === 0 ? 'none of its parties' : `only its ${roles.join(' and ')}`;
  return { kind: 'suppress', reason: `role_not_selected: the company is ${held}` };
}

const WAITS = 'waits_for_document: its document has not come yet';
const NOT_SELECTED = 'document_not_selected: no webhook was sent for its document';

export interface Decided {
  /** The documents, with `suppressed` as decided. */
  readonly documents: DocumentRow[];
  /** Which of them wait for the document that they speak of. */
  readonly held: HeldDocument[];
}

/**
 * Decides for documents that come together, in whatever order they and those that were there before came.
 *
 * @param stored what was there with the same keys
 */
export function decideDeliveries(
  documents: readonly DocumentRow[],
  stored: readonly Relative[],
  chosen: Chosen,
): Decided {
  const policy = documents[0] && POLICIES[documents[0].documentType];
  if (!policy) return { documents: [...documents], held: [] };
  const verdicts = documents.map((document) => policy(document, chosen));
  const alone = documents.map((document, i) => ({ ...document, suppressed: reasonOf(verdicts[i]) }));
  const selected = selectedKeys([...stored, ...alone]);
  const decided = alone.map((document, i): DocumentRow => {
    if (verdicts[i]?.kind !== 'follow' || document.key === null) return document;
    return { ...document, suppressed: followed(selected.get(document.key)) };
  });
  const held = decided.flatMap(({ id, key, suppressed }) =>
    suppressed === WAITS && key !== null ? [{ documentId: id, key }] : [],
  );
  return { documents: decided, held };
}

/**
 * By the key of each whole document: whether its webhook was sent. Of two copies one that was is enough.
 */
export function selectedKeys(
  documents: readonly Pick<DocumentRow, 'key' | 'kind' | 'suppressed'>[],
): ReadonlyMap<string, boolean> {
  const selected = new Map<string, boolean>();
  for (const { key, kind, suppressed } of documents) {
    if (key === null || !isWholeDocument(kind)) continue;
    selected.set(key, selected.get(key) === true || suppressed === null);
  }
  return selected;
}

/** Why an event makes no webhook, if its document's was sent (true), was not sent (false), or has not come (undefined). */
export function followed(selected: boolean | undefined): string | null {
  if (selected === undefined) return WAITS;
  return selected ? null : NOT_SELECTED;
}

function reasonOf(verdict: Verdict | undefined): string | null {
  return verdict?.kind === 'suppress' ? verdict.reason : null;
}
