import type { ManifestationStatus } from '../model/manifestation.js';
import type { CaptureKey } from '../model/words.js';
import { captureValues } from './captures.js';
import type { Queryable, Transaction } from './database.js';
import { instant } from './database.js';
import { MANIFESTATION_COLUMNS, type ManifestationRow } from './manifestations.js';

/** The sender's side of manifestations: what is due, who has it in hand, how it went. All instants are milliseconds of the one clock. */

/**
 * What is due, in the order in which it is to be sent, with what was put off for want of a certificate: there is one now. Rows that another
 * sender is just looking at are passed over.
 */
export async function lockDue(
  tx: Transaction,
  capture: CaptureKey,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<ManifestationRow[]> {
  const { rows } = await tx.query<ManifestationRow>(
    `select ${MANIFESTATION_COLUMNS} from manifestations m
     where company_id = $1 and document_type = $2 and environment = $3 and status = 'pending'
       and (next_attempt_at <= $4 or put_off)
     order by next_attempt_at, requested_at, id limit ${limit} for no key update skip locked`,
    [...captureValues(capture), instant(now)],
  );
  return rows;
}

/** Puts off what is due until there may be a certificate. A wake-up looks at it earlier. */
export async function putOff(tx: Transaction, capture: CaptureKey, now: number, until: number): Promise<void> {
  await tx.query(
    `update manifestations set next_attempt_at = $5, put_off = true
     where company_id = $1 and document_type = $2 and environment = $3 and status = 'pending' and next_attempt_at <= $4
       and call_deadline is null`,
    [...captureValues(capture), instant(now), instant(until)],
  );
}

/** When a service last said that this company misuses it, for services that said so since an instant. Milliseconds. */
export async function misuseSince(
  tx: Transaction,
  capture: CaptureKey,
  since: number,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await tx.query<{ service: string; at: number }>(
    `select service, max(answered_at) as at from calls
     where company_id = $1 and document_type = $2 and environment = $3 and started_at > $4 and outcome = 'throttled' and answered_at > $5
     group by service`,
    // A call is answered soon after it began, and its row found by when it began.
    [...captureValues(capture), instant(since - LONGEST_CALL), instant(since)],
  );
  return new Map(rows.map(({ service, at }) => [service, at]));
}

const LONGEST_CALL = 600_000;

/** Puts events off to an instant, or to the end of their tries if that is sooner. */
export async function holdBack(tx: Transaction, ids: readonly string[], until: number): Promise<void> {
  await tx.query(
    'update manifestations set next_attempt_at = greatest(next_attempt_at, least($2, expires_at)) where id = any($1)',
    [ids, instant(until)],
  );
}

/** A request with an event in it, about to leave. */
export interface SentManifestation {
  readonly id: string;
  readonly signed: Uint8Array;
  readonly signedUntil: number;
}

/**
 * Gives events to a call whose row this same transaction writes. Until its deadline nobody else takes them; whoever finds them due
 * afterwards settles that call first.
 *
 * @param isAttempt false: the call only asks what became of them
 */
export async function giveToCall(
  tx: Transaction,
  call: { readonly id: string; readonly startedAt: number; readonly deadline: number },
  sent: readonly SentManifestation[],
  { isAttempt = true }: { readonly isAttempt?: boolean } = {},
): Promise<void> {
  await tx.query(
    `update manifestations m set signed = s.signed, signed_until = s.signed_until, attempts = m.attempts + $7,
       -- What was signed anew is not what an earlier request may have registered.
       answer_lost = m.answer_lost and m.signed = s.signed,
       call_id = $1, call_started_at = $2, call_deadline = $3, next_attempt_at = $3, together = cardinality($4::uuid[]),
       put_off = false
     from unnest($4::uuid[], $5::bytea[], $6::timestamptz[]) as s (id, signed, signed_until) where m.id = s.id`,
    [
      call.id,
      instant(call.startedAt),
      instant(call.deadline),
      sent.map(({ id }) => id),
      sent.map(({ signed }) => Buffer.from(signed)),
      sent.map(({ signedUntil }) => instant(signedUntil)),
      isAttempt ? 1 : 0,
    ],
  );
}

/** The events that a call holds, or held last. */
export async function lockOfCall(tx: Transaction, capture: CaptureKey, callId: string): Promise<ManifestationRow[]> {
  const { rows } = await tx.query<ManifestationRow>(
    `select ${MANIFESTATION_COLUMNS} from manifestations m
     where call_id = $4 and company_id = $1 and document_type = $2 and environment = $3
     order by requested_at, id for no key update`,
    [...captureValues(capture), callId],
  );
  return rows;
}

/** What a call made of an event. */
export interface ManifestationResult {
  readonly id: string;
  readonly status: ManifestationStatus;
  /** Of `pending`. */
  readonly nextAttemptAt: number | null;
  readonly failures: number;
  readonly unanswered: number;
  readonly answerLost: boolean;
  readonly alone: boolean;
  readonly late: boolean;
  readonly statusCode: string | null;
  readonly statusText: string | null;
  readonly protocol: string | null;
  readonly registeredAt: number | null;
  readonly documentId: string | null;
  /** When the full document should have come; null: it is not waited for. */
  readonly xmlDueAt: number | null;
}

/** Writes results. A settled event keeps its signed bytes: they are part of the evidence. */
export async function recordResults(
  tx: Transaction,
  results: readonly ManifestationResult[],
  now: number,
): Promise<void> {
  if (results.length === 0) return;
  await tx.query(
    `update manifestations m set status = r.status, next_attempt_at = to_timestamp(r."nextAttemptAt" / 1000.0), failures = r.failures,
       unanswered = r.unanswered, answer_lost = r."answerLost", alone = r.alone, late = r.late, status_code = r."statusCode", status_text = r."statusText", protocol = r.protocol,
       registered_at = to_timestamp(r."registeredAt" / 1000.0), document_id = r."documentId", call_deadline = null,
       xml_due_at = to_timestamp(r."xmlDueAt" / 1000.0), settled_at = case when r.status <> 'pending' then $2::timestamptz end
     from json_to_recordset($1) as r (id uuid, status text, "nextAttemptAt" bigint, failures int, unanswered int, "answerLost" boolean, alone boolean,
       late boolean, "statusCode" text, "statusText" text, protocol text, "registeredAt" bigint, "documentId" uuid, "xmlDueAt" bigint)
     where m.id = r.id`,
    [JSON.stringify(results), instant(now)],
  );
}

/**
 * Ends what could not be sent, or was never answered, until its time was over. Gives how many. Scheduled Awareness that was never sent is
 * withdrawn instead, with its reason.
 */
export async function expireManifestations(tx: Transaction, capture: CaptureKey, now: number): Promise<number> {
  const { rowCount } = await tx.query(
    `update manifestations set status = 'expired', next_attempt_at = null, settled_at = $4
     where company_id = $1 and document_type = $2 and environment = $3 and status = 'pending' and expires_at <= $4
       and call_deadline is null and not (origin = 'awareness' and attempts = 0)`,
    [...captureValues(capture), instant(now)],
  );
  return rowCount;
}

/** Takes back scheduled Awareness that turned out not to be wanted. Only what was never sent. */
export async function withdrawManifestations(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.query('delete from manifestations where id = any($1::uuid[]) and attempts = 0', [ids]);
}

/** What is still to be sent, and when. */
export interface Outlook {
  readonly pending: number;
  /** When the next is due; null: none is pending. */
  readonly nextDueAt: number | null;
}

/** What a capture's manifestation workflow has to do and when. */
export async function outlookOf(db: Queryable, capture: CaptureKey): Promise<Outlook> {
  const { rows } = await db.query<Outlook>(
    `select count(*)::int as pending, min(next_attempt_at) as "nextDueAt" from manifestations
     where company_id = $1 and document_type = $2 and environment = $3 and status = 'pending'`,
    captureValues(capture),
  );
  return rows[0] ?? { pending: 0, nextDueAt: null };
}

/** Which of these companies have something pending. */
export async function pendingManifestations(db: Queryable, companyIds: readonly string[]): Promise<CaptureKey[]> {
  const { rows } = await db.query<CaptureKey>(
    `select distinct company_id as "companyId", document_type as "documentType", environment from manifestations
     where company_id = any($1::uuid[]) and status = 'pending'`,
    [companyIds],
  );
  return rows;
}

/** Who has had something due since `before`: nobody seems to be sending it. */
export async function overdueManifestations(db: Queryable, before: number, limit: number): Promise<CaptureKey[]> {
  const { rows } = await db.query<CaptureKey>(
    `select distinct company_id as "companyId", document_type as "documentType", environment from manifestations
     where status = 'pending' and next_attempt_at <= $1 limit $2`,
    [instant(before), limit],
  );
  return rows;
}
