import type { DocumentState } from './document.js';
import {
  AWARENESS_TYPE,
  CONCLUSIVE_TYPES,
  DISAGREEMENT_CANCELLATION,
  DISAGREEMENT_PROTOCOL,
  DISAGREEMENT_TYPE,
  EVENT_CANCELLATION,
  MANIFESTATION_RULES,
  type ManifestationRule,
} from './manifestation.js';

/**
 * Whether a requested manifestation is a new event, one that was requested before, or one that cannot be. Only what is certain is refused
 * here; of everything else the government decides, and its answer is recorded.
 */

export interface Order {
  readonly rule: ManifestationRule;
  /** Of the company that speaks. */
  readonly taxId: string;
  /** As given: of Tax Reform events, and the protocol that a cancellation names. */
  readonly fields: Readonly<Record<string, unknown>> | null;
}

/** What is known of the document; nulls where nothing is. */
export interface KnownNote {
  readonly state: DocumentState | null;
  readonly issuerTaxId: string | null;
  /** Only a whole note names it. */
  readonly recipientTaxId: string | null;
  /** Who pays for the transport. */
  readonly takerTaxId: string | null;
  /** NFS-e: who emitted it, which need not be the provider. */
  readonly emitterTaxId: string | null;
  /** NFS-e: it counts as confirmed because its taker said nothing in time. */
  readonly confirmedTacitly: boolean;
  /** NFS-e: the tax office annulled a rejection of it. */
  readonly rejectionAnnulled: boolean;
  /** Milliseconds. */
  readonly authorizedAt: number | null;
}

/** A manifestation of this company about the note, under way or registered: ours, or one of another program that came by distribution. */
export interface Statement {
  /** Null: of another program. */
  readonly id: string | null;
  readonly type: string;
  readonly sequence: number;
  readonly subject: string;
  readonly status: 'pending' | 'registered';
  /** Milliseconds: when it was registered; of a pending one when it was requested. */
  readonly at: number;
  readonly fields: Readonly<Record<string, unknown>> | null;
  readonly protocol: string | null;
}

/** Why a statement that is certain to be rejected is not sent, in words for its author. */
export const ORDER_PROBLEMS = {
  own_document: 'the company itself issued this note: only its recipient can say something about it',
  not_the_recipient: 'the note was issued to another company: only its recipient can say something about it',
  note_cancelled: 'the note is cancelled: the government takes this statement no more (650, 651)',
  note_denied: 'the note was denied: the government takes no such statement (650, 651)',
  conclusive_exists: 'a conclusive statement about this note is registered: Awareness comes too late (655)',
  another_pending: 'another statement about this document is on its way: ask again when its result is there',
  limit_reached: 'this statement was made as often as the government takes it (594, of CT-e 636)',
  not_the_taker: 'the company is not the taker of this CT-e: only who pays for the service can disagree (755)',
  nothing_to_cancel:
    'no disagreement of the company with this CT-e is registered that Malote knows of: name its protocol in fields.nProtEvPrestDes',
  note_closed:
    'the note is cancelled, replaced or confirmed tacitly: Sefin takes no statement about it any more (E0861, E0866)',
  statement_exists:
    'the company has made the other statement about this note: Sefin takes one, and it cannot be taken back (E1833)',
} as const;
export type OrderProblem = keyof typeof ORDER_PROBLEMS;

/** Whether a statement may be made, and as what: a new one under its number, or one that was made before. */
export type Decision =
  | {
      readonly kind: 'new';
      readonly sequence: number;
      readonly subject: string;
      /** In place of those of the order. */
      readonly fields?: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'same'; readonly id: string }
  | { readonly kind: 'refused'; readonly problem: OrderProblem };

/** What was taken is the same when it is asked for again, whatever became known of the note since. */
export function decideOrder(order: Order, note: KnownNote, statements: readonly Statement[]): Decision {
  const decision = decideBySaid(order, note, statements);
  const problem = decision.kind === 'same' ? null : problemOfNote(order, note);
  return problem ? { kind: 'refused', problem } : decision;
}

function decideBySaid(order: Order, note: KnownNote, statements: readonly Statement[]): Decision {
  switch (order.rule.class) {
    case 'awareness':
      return decideAwareness(order, statements);
    case 'conclusive':
      return decideConclusive(order, statements);
    case 'tax_reform':
      return order.rule.type === EVENT_CANCELLATION
        ? decideCancellation(order, statements)
        : decideTaxReform(order, statements);
    case 'disagreement':
      return order.rule.type === DISAGREEMENT_CANCELLATION
        ? decideDisagreementCancellation(order, statements)
        : decideDisagreement(order, statements);
    case 'once':
      return decideOnce(order, note, statements);
  }
}

function problemOfNote({ rule, taxId, fields }: Order, note: KnownNote): OrderProblem | null {
  if (rule.class === 'disagreement') {
    // A branch is another taker than its head office.
    return note.takerTaxId !== null && note.takerTaxId !== taxId ? 'not_the_taker' : null;
  }
  if (rule.class === 'once') return problemOfNfse(taxId, note);
  if (rule.class === 'tax_reform') {
    // The issuer may be the author of some of them, a successor company of others.
    return rule.type !== EVENT_CANCELLATION && fields?.tpAutor === undefined && note.issuerTaxId === taxId
      ? 'own_document'
      : null;
  }
  if (note.issuerTaxId === taxId) return 'own_document';
  if (note.recipientTaxId !== null && rootOf(note.recipientTaxId) !== rootOf(taxId)) return 'not_the_recipient';
  // 650 and 651 are about Awareness and Operation Unknown; of the others the norm says nothing.
  if (rule.type !== AWARENESS_TYPE && rule.type !== '210220') return null;
  if (note.state === 'cancelled') return 'note_cancelled';
  return note.state === 'denied' ? 'note_denied' : null;
}

/** Only the taker speaks, and only about a note that stands. One that is known and names no taker has none. */
function problemOfNfse(taxId: string, note: KnownNote): OrderProblem | null {
  if (note.issuerTaxId === taxId || note.emitterTaxId === taxId) return 'own_document';
  if (note.state === 'cancelled' || note.state === 'replaced' || note.confirmedTacitly) return 'note_closed';
  const isRead = note.state !== null && note.state !== 'unknown';
  const isTakers = note.recipientTaxId === null ? !isRead : rootOf(note.recipientTaxId) === rootOf(taxId);
  return isTakers ? null : 'not_the_recipient';
}

function decideAwareness({ rule }: Order, statements: readonly Statement[]): Decision {
  const own = statements.find(({ type, id }) => type === rule.type && id !== null);
  if (own?.id) return { kind: 'same', id: own.id };
  if (statements.some((each) => isConclusive(each) && each.status === 'registered')) {
    return { kind: 'refused', problem: 'conclusive_exists' };
  }
  return { kind: 'new', sequence: 1, subject: '' };
}

/** The last statement counts, so one that was overtaken by another may be made once more (nSeqEvento 2). */
function decideConclusive({ rule }: Order, statements: readonly Statement[]): Decision {
  const last = latest(statements.filter(({ type }) => type === rule.type));
  if (!last) return { kind: 'new', sequence: 1, subject: '' };
  const since = statements.filter((each) => isConclusive(each) && each.type !== rule.type && each.at > last.at);
  if (last.status === 'pending' || since.length === 0) {
    // One of another program has no id here: sent again, it is answered 573, which is what was wanted.
    return last.id === null ? { kind: 'new', sequence: last.sequence, subject: '' } : { kind: 'same', id: last.id };
  }
  if (since.every(({ status }) => status === 'pending')) return { kind: 'refused', problem: 'another_pending' };
  return next(rule, last.sequence);
}

/** A note may need several of a type, for different items: the same is what says the same. */
function decideTaxReform({ rule, fields }: Order, statements: readonly Statement[]): Decision {
  const ofType = statements.filter(({ type }) => type === rule.type);
  const same = ofType.find(
    (each) => each.id !== null && sameJson(each.fields, fields) && !isCancelled(each, statements),
  );
  if (same?.id) return { kind: 'same', id: same.id };
  return next(rule, Math.max(0, ...ofType.map(({ sequence }) => sequence)));
}

/** Bears the sequence of the event that it cancels (NT 2025.002). */
function decideCancellation({ rule, fields }: Order, statements: readonly Statement[]): Decision {
  const subject = String(fields?.tpEventoAut);
  const cancelled = statements.find(({ type, protocol }) => type === subject && protocol === fields?.nProtEvento);
  const sequence = cancelled?.sequence ?? 1;
  const same = statements.find(
    (each) => each.type === rule.type && each.subject === subject && each.sequence === sequence && each.id !== null,
  );
  return same?.id ? { kind: 'same', id: same.id } : { kind: 'new', sequence, subject };
}

/** Said once; taken back, it may be said again, as the next of its kind. */
function decideDisagreement({ rule }: Order, statements: readonly Statement[]): Decision {
  const last = latestSequence(statements, DISAGREEMENT_TYPE);
  if (!last) return { kind: 'new', sequence: 1, subject: '' };
  const cancellation = cancellationOf(last, statements);
  if (cancellation?.status === 'pending') return { kind: 'refused', problem: 'another_pending' };
  if (cancellation) return next(rule, last.sequence);
  return last.id === null ? { kind: 'new', sequence: last.sequence, subject: '' } : { kind: 'same', id: last.id };
}

/** Names the protocol of the disagreement, and bears its sequence: so each has an Id of its own. */
function decideDisagreementCancellation({ fields }: Order, statements: readonly Statement[]): Decision {
  const named = fields?.[DISAGREEMENT_PROTOCOL];
  const said = statements.filter(({ type }) => type === DISAGREEMENT_TYPE);
  const cancelled =
    said.find(({ protocol }) => named !== undefined && protocol === named) ??
    (named === undefined ? latestSequence(statements, DISAGREEMENT_TYPE) : undefined);
  if (cancelled?.status === 'pending') return { kind: 'refused', problem: 'another_pending' };
  const before = cancelled && cancellationOf(cancelled, statements);
  if (before?.id) return { kind: 'same', id: before.id };
  const protocol = named ?? cancelled?.protocol ?? null;
  if (protocol === null) return { kind: 'refused', problem: 'nothing_to_cancel' };
  // One that is not known here is of another program: it cannot be one that was numbered here.
  const sequence = cancelled?.sequence ?? 1;
  return { kind: 'new', sequence, subject: '', fields: { [DISAGREEMENT_PROTOCOL]: protocol } };
}

/** A rejection that the tax office annulled leaves room for the other statement; whether Sefin takes it, Sefin says. */
function decideOnce({ rule }: Order, note: KnownNote, statements: readonly Statement[]): Decision {
  const same = statements.find(({ type }) => type === rule.type);
  if (same?.id) return { kind: 'same', id: same.id };
  const other = statements.find(({ type }) => type !== rule.type && MANIFESTATION_RULES.get(type)?.class === 'once');
  // One of another program has no id here: sent again it is answered E0802, and read back.
  const isFree = same !== undefined || !other || (other.status === 'registered' && note.rejectionAnnulled);
  if (isFree) return { kind: 'new', sequence: 1, subject: '' };
  return { kind: 'refused', problem: other.status === 'pending' ? 'another_pending' : 'statement_exists' };
}

function cancellationOf({ sequence }: Statement, statements: readonly Statement[]): Statement | undefined {
  return statements.find((each) => each.type === DISAGREEMENT_CANCELLATION && each.sequence === sequence);
}

function latestSequence(statements: readonly Statement[], ofType: string): Statement | undefined {
  return statements
    .filter(({ type }) => type === ofType)
    .toSorted((a, b) => a.sequence - b.sequence)
    .at(-1);
}

function isCancelled({ type, sequence }: Statement, statements: readonly Statement[]): boolean {
  return statements.some(
    (each) =>
      each.type === EVENT_CANCELLATION &&
      each.status === 'registered' &&
      each.subject === type &&
      each.sequence === sequence,
  );
}

function next({ times }: ManifestationRule, last: number): Decision {
  return last >= times
    ? { kind: 'refused', problem: 'limit_reached' }
    : { kind: 'new', sequence: last + 1, subject: '' };
}

const isConclusive = ({ type }: Statement) => CONCLUSIVE_TYPES.includes(type);
const latest = (statements: readonly Statement[]) => statements.toSorted((a, b) => a.at - b.at).at(-1);
const rootOf = (taxId: string) => (taxId.length === 14 ? taxId.slice(0, 8) : taxId);

/** Equal as JSON, whatever the order of names. */
function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, content]) => [name, sorted(content)] as const)
      .toSorted(([x], [y]) => (x < y ? -1 : 1)),
  );
}
