import type { ManifestationOrigin, ManifestationStatus } from '../model/manifestation.js';
import type { CaptureKey, Environment } from '../model/words.js';
import type { Queryable } from './database.js';
import { Filter } from './filter.js';
import type { Page, PageRequest } from './keyset.js';
import { pageOf, readCursor } from './keyset.js';

/** A manifestation, from the request to what became of it. Instants in milliseconds. */
export interface ManifestationRow extends CaptureKey {
  readonly id: string;
  /** Access key of the document that it is about. */
  readonly key: string;
  /** tpEvento. */
  readonly type: string;
  /** nSeqEvento. */
  readonly sequence: number;
  /** Of a cancellation of an event: the cancelled event's type; else empty. */
  readonly subject: string;
  readonly origin: ManifestationOrigin;
  readonly status: ManifestationStatus;
  readonly justification: string | null;
  readonly fields: Readonly<Record<string, unknown>> | null;
  readonly requestedAt: number;
  /** By law; null: none, or not known. */
  readonly deadline: number | null;
  /** End of tries. */
  readonly expiresAt: number;
  /** Null once it is settled. */
  readonly nextAttemptAt: number | null;
  /** Times sent. */
  readonly attempts: number;
  readonly failures: number;
  readonly unanswered: number;
  /** A request with these signed bytes may have registered the event, and its answer got lost. */
  readonly answerLost: boolean;
  readonly alone: boolean;
  /** The signed event, UTF-8; every attempt sends these bytes. */
  readonly signed: Buffer | null;
  readonly signedUntil: number | null;
  /** The last request that held it. */
  readonly callId: string | null;
  readonly callStartedAt: number | null;
  /** Events in that request. */
  readonly together: number;
  /** Until then that request may be answered; null: it is settled. */
  readonly callDeadline: number | null;
  /** Registered after its deadline (155). */
  readonly late: boolean;
  readonly statusCode: string | null;
  readonly statusText: string | null;
  readonly protocol: string | null;
  readonly registeredAt: number | null;
  readonly settledAt: number | null;
  readonly documentId: string | null;
}

/** For `select … from manifestations m`. */
export const MANIFESTATION_COLUMNS = `m.id, m.company_id as "companyId", m.document_type as "documentType", m.environment, m.key, m.type,
  m.sequence, m.subject, m.origin, m.status, m.justification, m.fields, m.requested_at as "requestedAt", m.deadline,
  m.expires_at as "expiresAt", m.next_attempt_at as "nextAttemptAt", m.attempts, m.failures, m.unanswered, m.answer_lost as "answerLost", m.alone, m.signed,
  m.signed_until as "signedUntil", m.call_id as "callId", m.call_started_at as "callStartedAt", m.together, m.call_deadline as "callDeadline",
  m.late, m.status_code as "statusCode", m.status_text as "statusText", m.protocol, m.registered_at as "registeredAt",
  m.settled_at as "settledAt", m.document_id as "documentId"`;

/** The statement of this id, or null. */
export async function getManifestation(db: Queryable, id: string): Promise<ManifestationRow | null> {
  const { rows } = await db.query<ManifestationRow>(
    `select ${MANIFESTATION_COLUMNS} from manifestations m where id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

export interface ManifestationFilter {
  readonly companyId?: string | undefined;
  readonly environment?: Environment | undefined;
  readonly key?: string | undefined;
  readonly type?: string | undefined;
  readonly status?: ManifestationStatus | undefined;
  /** The companies that an API key may see; undefined: all. */
  readonly visible?: readonly string[] | undefined;
}

/** Newest first. @throws {InvalidCursor} */
export async function listManifestations(
  db: Queryable,
  filter: ManifestationFilter,
  { limit, cursor }: PageRequest,
): Promise<Page<ManifestationRow>> {
  const where = new Filter()
    .add(filter.companyId, (v) => `m.company_id = ${v}`)
    .add(filter.environment, (v) => `m.environment = ${v}`)
    .add(filter.key, (v) => `m.key = ${v}`)
    .add(filter.type, (v) => `m.type = ${v}`)
    .add(filter.status, (v) => `m.status = ${v}`)
    .add(filter.visible, (v) => `m.company_id = any(${v}::uuid[])`)
    .after(readCursor(cursor, ['instant', 'uuid']), 'm.requested_at, m.id', '<');
  const { rows } = await db.query<ManifestationRow>(
    `select ${MANIFESTATION_COLUMNS} from manifestations m ${where.where}
     order by m.requested_at desc, m.id desc limit ${limit + 1}`,
    where.values,
  );
  return pageOf(rows, limit, (row) => [row.requestedAt, row.id]);
}
