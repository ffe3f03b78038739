import { isWholeDocument, rolesOf } from '../../documents/index.js';
import type { DocumentKind, DocumentMetadata, Party } from '../../model/document.js';
import { cameSilently, isUnlisted, ON_DEMAND, UNLISTED } from '../../model/suppression.js';
import type { CaptureOptions, DocumentType } from '../../model/words.js';
import type { DocumentRow } from '../../storage/documents.js';
import type { HeldDocument } from '../../storage/held-documents.js';
import type { Relative } from '../../storage/page.js';

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
const POLICIES: { readonly [type in DocumentType]?: DeliveryPolicy } = {
  cte: byRoleAndEventType,
  nfse: byPartAndDate,
};

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
  // What the company said itself waits for no document: somebody asked for it, as the taker.
  if (!interestedParties || document.origin === 'manifestation') return NOTIFY;
  if (document.event) return document.key === null ? NOTIFY : { kind: 'follow' };
  // Nobody can say who takes part in a document of an unknown kind: rather one webhook too many.
  if (!isWholeDocument(document.kind)) return NOTIFY;
  const roles = rolesOf(document.documentType, document.metadata, taxId);
  if (roles.some((role) => interestedParties.includes(role))) return NOTIFY;
  const held = roles.length === 0 ? 'none of its parties' : `only its ${roles.join(' and ')}`;
  return { kind: 'suppress', reason: `role_not_selected: the company is ${held}` };
}

/**
 * The company takes part in the note, did not issue it itself (unless that is wanted too), and the note is not older than the customer
 * wants. Events are treated as their note. Who has a certificate of the root asks for the root: the service does not check whose documents
 * it gives (case C78).
 */
function byPartAndDate(document: DocumentRow, { taxId, options }: Chosen): Verdict {
  if (document.origin === 'on_demand') {
    return { kind: 'suppress', reason: `${ON_DEMAND}: it was the answer to a request` };
  }
  // What somebody asked to be said is told of, whatever is known of its note.
  if (document.origin === 'manifestation') return NOTIFY;
  if (document.event) return document.key === null ? NOTIFY : { kind: 'follow' };
  // Nobody can say who takes part in a document of another kind: rather one webhook too many.
  if (!NAMES_PARTIES.has(document.kind)) return NOTIFY;
  const { metadata, direction } = document;
  if (rolesOf(document.documentType, metadata, taxId).length === 0) {
    return { kind: 'suppress', reason: `not_a_party: the company is none of ${partiesOf(metadata)}` };
  }
  if (direction === 'issued' && !options.captureIssued) {
    return { kind: 'suppress', reason: `${UNLISTED.issued}: the company issued it, and captureIssued is off` };
  }
  // The day as the note says it, in its own offset: never moved to another day by a conversion.
  const day = /^\d{4}-\d{2}-\d{2}/.exec(metadata.issuedAt ?? '')?.[0];
  if (options.cutoffDate && day !== undefined && day < options.cutoffDate) {
    return { kind: 'suppress', reason: `${UNLISTED.beforeCutoff}: issued on ${day}, before ${options.cutoffDate}` };
  }
  return NOTIFY;
}

const NAMES_PARTIES: ReadonlySet<DocumentKind> = new Set(['NFSe', 'DPS']);

/** Endings only: enough to see a mistyped number or a branch. */
function partiesOf(metadata: DocumentMetadata): string {
  const fields = { issuer: 'provider', recipient: 'taker', intermediary: 'intermediary' } as const;
  const named = Object.entries(fields).map(([field, role]) => {
    const taxId = (metadata[field] as Party | undefined)?.taxId;
    return `${role} ${taxId === undefined ? '(none)' : `…${taxId.slice(-4)}`}`;
  });
  return named.join(', ');
}

const WAITS = 'waits_for_document: its document has not come yet';
const NOT_SELECTED = 'document_not_selected: no webhook was sent for its document';

/** Documents with the policy's decision about each. */
export interface Decided {
  /** The documents, with `suppressed` as decided. */
  readonly documents: DocumentRow[];
  /** Which of them wait for the document that they speak of. */
  readonly held: HeldDocument[];
}

/**
 * Decides for documents that come together, in whatever order they and those that were there before came.
 *
 * @param documents with `suppressed` where there is a reason already
 * @param stored what was there with the same keys
 */
export function decideDeliveries(
  documents: readonly DocumentRow[],
  stored: readonly Relative[],
  chosen: Chosen,
): Decided {
  const policy = documents[0] && POLICIES[documents[0].documentType];
  if (!policy) return { documents: [...documents], held: [] };
  const verdicts = documents.map((document) => known(document) ?? policy(document, chosen));
  const alone = documents.map((document, i) => ({ ...document, suppressed: reasonOf(verdicts[i]) }));
  const reasons = reasonsByKey([...stored, ...alone]);
  const decided = alone.map((document, i): DocumentRow => {
    if (verdicts[i]?.kind !== 'follow' || document.key === null) return document;
    return { ...document, suppressed: followed(reasons.get(document.key)) };
  });
  const held = decided.flatMap(({ id, key, suppressed }) =>
    suppressed === WAITS && key !== null ? [{ documentId: id, key }] : [],
  );
  return { documents: decided, held };
}

/**
 * By the key of each whole document: why its webhook was not sent, or null. Of two copies one that was is enough. One that was only
 * an answer to a request, or imported, counts as not come yet.
 */
export function reasonsByKey(
  documents: readonly Pick<DocumentRow, 'key' | 'kind' | 'suppressed'>[],
): ReadonlyMap<string, string | null> {
  const reasons = new Map<string, string | null>();
  for (const { key, kind, suppressed } of documents) {
    if (key === null || !isWholeDocument(kind) || cameSilently(suppressed)) continue;
    reasons.set(key, reasons.get(key) === null ? null : suppressed);
  }
  return reasons;
}

/** Why an event makes no webhook, if its document's was sent (null), was not sent for a reason, or has not come (undefined). */
export function followed(reason: string | null | undefined): string | null {
  if (reason === undefined) return WAITS;
  if (reason === null) return null;
  return isUnlisted(reason) ? reason : NOT_SELECTED;
}

/** One of which it is known already why nobody is told. */
const known = ({ suppressed }: DocumentRow): Verdict | null =>
  suppressed === null ? null : { kind: 'suppress', reason: suppressed };

function reasonOf(verdict: Verdict | undefined): string | null {
  return verdict?.kind === 'suppress' ? verdict.reason : null;
}
