import { v7 as uuidv7 } from 'uuid';
import type { DocumentState } from '../model/document.js';
import {
  legalDeadline,
  MANIFESTATION_RULES,
  type ManifestationOrigin,
  type ManifestationRule,
} from '../model/manifestation.js';
import {
  type Decision,
  decideOrder,
  type KnownNote,
  type OrderProblem,
  type Statement,
} from '../model/manifestation-order.js';
import type { CaptureKey } from '../model/words.js';
import { captureValues } from './captures.js';
import { instant, type Transaction } from './database.js';
import { MANIFESTATION_COLUMNS, type ManifestationRow } from './manifestations.js';

/** What people and programs ask to be said about a note. Asking twice for the same makes one event. */

export interface ManifestationOrder {
  /** Company, document type and environment that speak. */
  readonly capture: CaptureKey;
  readonly taxId: string;
  readonly key: string;
  readonly rule: ManifestationRule;
  /** Checked by the caller. */
  readonly justification?: string | null;
  /** Checked by the caller. */
  readonly fields?: Readonly<Record<string, unknown>> | null;
  readonly now: number;
}

/** What came of a statement that was asked for. */
export type OrderAnswer =
  /** `made` false: the same was requested before. */
  | { readonly ok: true; readonly made: boolean; readonly row: ManifestationRow }
  | { readonly ok: false; readonly problem: OrderProblem };

/** Takes a request. Wake the manifestation workflow after the commit. */
export async function requestManifestation(tx: Transaction, order: ManifestationOrder): Promise<OrderAnswer> {
  const { capture, key, rule, now } = order;
  await lockKey(tx, capture, key);
  const { note, statements } = await knownOf(tx, capture, key, order.taxId);
  const fields = order.fields ?? null;
  const decision: Decision = decideOrder({ rule, taxId: order.taxId, fields }, note, statements);
  if (decision.kind === 'refused') return { ok: false, problem: decision.problem };
  if (decision.kind === 'same') return { ok: true, made: false, row: await hurried(tx, decision.id, now) };
  const [row] = await insertManifestations(tx, [
    {
      ...capture,
      key,
      rule,
      sequence: decision.sequence,
      subject: decision.subject,
      origin: 'request',
      justification: order.justification ?? null,
      fields: decision.fields ?? fields,
      requestedAt: now,
      authorizedAt: note.authorizedAt,
      dueAt: now,
    },
  ]);
  if (!row) throw new Error('a manifestation with this Id appeared although its key is locked');
  return { ok: true, made: true, row };
}

/** Orders about one key come one after the other. */
async function lockKey(tx: Transaction, { companyId, environment }: CaptureKey, key: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `manifestation/${companyId}/${environment}/${key}`,
  ]);
}

/** A statement that somebody wants to make. */
export interface NewManifestation extends CaptureKey {
  readonly key: string;
  readonly rule: ManifestationRule;
  readonly sequence: number;
  readonly subject: string;
  readonly origin: ManifestationOrigin;
  readonly justification: string | null;
  readonly fields: Readonly<Record<string, unknown>> | null;
  readonly requestedAt: number;
  /** Null: not known. */
  readonly authorizedAt: number | null;
  readonly dueAt: number;
}

const DAY = 86_400_000;
/** Tries of a request whose deadline is over, is about to be, or is not known to us. */
const LEAST_TRIES = DAY;
const MOST_TRIES = 90 * DAY;

/** Stores what is to be sent; leaves out what is under way or registered already. */
export async function insertManifestations(
  tx: Transaction,
  manifestations: readonly NewManifestation[],
): Promise<ManifestationRow[]> {
  if (manifestations.length === 0) return [];
  const { rows } = await tx.query<ManifestationRow>(
    `insert into manifestations as m (id, company_id, document_type, environment, key, type, sequence, subject, origin, status,
       justification, fields, requested_at, deadline, expires_at, next_attempt_at)
     select r.id, r."companyId", r."documentType", r.environment, r.key, r.type, r.sequence, r.subject, r.origin, 'pending',
       r.justification, r.fields, to_timestamp(r."requestedAt" / 1000.0), to_timestamp(r.deadline / 1000.0),
       to_timestamp(r."expiresAt" / 1000.0), to_timestamp(r."dueAt" / 1000.0)
     from json_to_recordset($1) as r (id uuid, "companyId" uuid, "documentType" text, environment text, key text, type text,
       sequence smallint, subject text, origin text, justification text, fields jsonb, "requestedAt" bigint, deadline bigint,
       "expiresAt" bigint, "dueAt" bigint)
     on conflict do nothing returning ${MANIFESTATION_COLUMNS}`,
    [
      JSON.stringify(
        manifestations.map(({ rule, authorizedAt, ...each }) => {
          const deadline = legalDeadline(rule, authorizedAt);
          const expiresAt = Math.max(deadline ?? each.requestedAt + MOST_TRIES, each.dueAt + LEAST_TRIES);
          return { ...each, id: uuidv7(), type: rule.type, deadline, expiresAt };
        }),
      ),
    ],
  );
  return rows;
}

/** What was scheduled for later is sent now, and whatever the automatic rules say, because somebody asked for it. */
async function hurried(tx: Transaction, id: string, now: number): Promise<ManifestationRow> {
  const { rows } = await tx.query<ManifestationRow>(
    `update manifestations m set origin = 'request',
       next_attempt_at = case when status = 'pending' and attempts = 0 then least(next_attempt_at, $2) else next_attempt_at end
     where id = $1 returning ${MANIFESTATION_COLUMNS}`,
    [id, instant(now)],
  );
  if (!rows[0]) throw new Error('a manifestation disappeared although its key is locked');
  return rows[0];
}

/** What is known of a note and of what this company said about it, from our requests and from the documents that came. */
async function knownOf(
  tx: Transaction,
  capture: CaptureKey,
  key: string,
  taxId: string,
): Promise<{ note: KnownNote; statements: Statement[] }> {
  const { rows: documents } = await tx.query<KnownDocument>(
    `select kind, state, issuer_tax_id as "issuerTaxId", recipient_tax_id as "recipientTaxId",
       metadata #>> '{taker,taxId}' as "takerTaxId", metadata #>> '{emitter,taxId}' as "emitterTaxId",
       metadata ->> 'authorizedAt' as "authorizedAt", event_type as "eventType", event_sequence as "eventSequence",
       event ->> 'author' as author, event ->> 'registeredAt' as "registeredAt", event ->> 'protocol' as protocol,
       captured_at as "capturedAt"
     from documents where key = $4 and company_id = $1 and document_type = $2 and environment = $3`,
    [...captureValues(capture), key],
  );
  const { rows: own } = await tx.query<Statement>(
    `select id, type, sequence, subject, status, fields, protocol,
       coalesce(registered_at, settled_at, requested_at) as at
     from manifestations
     where key = $4 and company_id = $1 and document_type = $2 and environment = $3 and status in ('pending', 'registered')`,
    [...captureValues(capture), key],
  );
  return { note: noteOf(documents), statements: [...own, ...foreignStatements(documents, own, taxId)] };
}

interface KnownDocument {
  readonly kind: string;
  readonly state: DocumentState;
  readonly issuerTaxId: string | null;
  readonly recipientTaxId: string | null;
  readonly takerTaxId: string | null;
  readonly emitterTaxId: string | null;
  readonly authorizedAt: string | null;
  readonly eventType: string | null;
  readonly eventSequence: number | null;
  readonly author: string | null;
  readonly registeredAt: string | null;
  readonly protocol: string | null;
  readonly capturedAt: number;
}

/** Of NFS-e (nfse.md 2.3). */
const TACIT_CONFIRMATION = '205204';
const REJECTION_ANNULLED = '205208';

function noteOf(documents: readonly KnownDocument[]): KnownNote {
  const notes = documents.filter(({ eventType }) => eventType === null);
  // A summary comes beside its whole note and says less.
  const best = notes.find(({ kind }) => kind !== 'resNFe') ?? notes[0];
  return {
    // An event that came before its note says what has become of it.
    state: best?.state ?? documents[0]?.state ?? null,
    issuerTaxId: best?.issuerTaxId ?? null,
    recipientTaxId: best?.recipientTaxId ?? null,
    takerTaxId: notes.find(({ takerTaxId }) => takerTaxId !== null)?.takerTaxId ?? null,
    emitterTaxId: best?.emitterTaxId ?? null,
    confirmedTacitly: documents.some(({ eventType }) => eventType === TACIT_CONFIRMATION),
    rejectionAnnulled: documents.some(({ eventType }) => eventType === REJECTION_ANNULLED),
    authorizedAt: instantOf(best?.authorizedAt ?? null),
  };
}

/** Made by another program of the same company, and distributed to us. */
function foreignStatements(documents: readonly KnownDocument[], own: readonly Statement[], taxId: string): Statement[] {
  const known = new Set(own.map(({ type, sequence }) => `${type}/${sequence}`));
  return documents.flatMap(({ eventType, eventSequence, author, registeredAt, protocol, capturedAt }) => {
    if (eventType === null || author !== taxId || !MANIFESTATION_RULES.has(eventType)) return [];
    const sequence = eventSequence ?? 1;
    if (known.has(`${eventType}/${sequence}`)) return [];
    known.add(`${eventType}/${sequence}`);
    const at = instantOf(registeredAt) ?? capturedAt;
    return [
      { id: null, type: eventType, sequence, subject: '', status: 'registered' as const, at, fields: null, protocol },
    ];
  });
}

/** Milliseconds of a time as documents write it; null without an offset, because then it is no instant. */
function instantOf(written: string | null): number | null {
  if (!written || !/T.*(Z|[+-]\d\d:\d\d)$/.test(written)) return null;
  const at = Date.parse(written);
  return Number.isNaN(at) ? null : at;
}
