import { createHash } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import type { CallAnswer } from '../../government/types.js';
import type { Outcome, OutcomeKind } from '../../model/outcome.js';
import { insertArchive } from '../../storage/archives.js';
import { type CallRow, holdAnswer } from '../../storage/calls.js';
import type { Transaction } from '../../storage/database.js';
import { ObjectNotFound, ObjectStoreUnavailable } from '../../storage/object-store/index.js';
import { type ActivityDependencies, limitsOf } from '../dependencies.js';
import { patiently } from './patience.js';

type Stores = Pick<ActivityDependencies, 'database' | 'objectStore' | 'limits'>;

/** Small answers, kept in the row of their call: an idle capture writes no objects. */
const IN_THE_LOG: ReadonlySet<OutcomeKind> = new Set(['none', 'paused', 'throttled']);

/** HTTP status of an answer that was found: only its bytes were kept. */
export const STATUS_NOT_KEPT = 0;

/** The answer of a call that brought none. */
export function silence(outcome: Extract<Outcome, { kind: 'not_sent' | 'unknown' }>): CallAnswer {
  return { outcome, items: [], statusText: outcome.reason, serverTime: null, warnings: [], raw: null };
}

/** Answers whose bytes get an object: documents, rejections, what is not readable. */
export function keepsObject({ outcome, raw }: CallAnswer): boolean {
  return raw !== null && raw.body.length > 0 && !IN_THE_LOG.has(outcome.kind);
}

/** Where the request of a call stands, if its service keeps them. */
function requestKeyOf({ archiveKey }: CallRow): string {
  return `${archiveKey}.request`;
}

/**
 * Writes the answer's bytes where every attempt of the call looks for them, before any row refers to them; the request first, so that
 * whoever finds the answer finds both.
 */
export async function putAnswer(
  { objectStore }: Pick<Stores, 'objectStore'>,
  call: CallRow,
  { raw, request }: CallAnswer,
): Promise<void> {
  if (raw && request) await objectStore.put(requestKeyOf(call), request, { contentType: 'application/soap+xml' });
  if (raw) await objectStore.put(call.archiveKey, raw.body, { contentType: raw.contentType ?? undefined });
}

/**
 * As {@link putAnswer}, with patience.
 *
 * @throws ObjectStoreUnavailable when the store fails for longer; the call's row then holds the bytes for the next attempt
 */
export async function archiveAnswer(deps: Stores, call: CallRow, answer: CallAnswer): Promise<void> {
  const isDown = (error: unknown) => error instanceof ObjectStoreUnavailable;
  try {
    await patiently(limitsOf(deps), isDown, () => putAnswer(deps, call, answer));
  } catch (error) {
    if (isDown(error) && answer.raw) await holdAnswer(deps.database, call, answer.raw.body);
    throw error;
  }
}

/** The bytes that an attempt of this call left, if it got so far. */
export async function findAnswer({ objectStore }: Pick<Stores, 'objectStore'>, call: CallRow): Promise<Buffer | null> {
  if (call.body) return call.body;
  try {
    return await objectStore.get(call.archiveKey);
  } catch (error) {
    if (error instanceof ObjectNotFound) return null;
    throw error;
  }
}

/** Where the request of an archived answer stands; null when it was not kept. */
export async function archivedRequest(
  { objectStore, services }: ActivityDependencies,
  call: CallRow,
  { request }: CallAnswer,
): Promise<string | null> {
  const key = requestKeyOf(call);
  if (request) return key;
  if (!services[call.documentType]?.keepsRequests) return null;
  // Another attempt's answer: its request is there unless only the answer could be saved.
  try {
    await objectStore.get(key);
    return key;
  } catch (error) {
    if (error instanceof ObjectNotFound) return null;
    throw error;
  }
}

/** The archive's row. Its object stands. Gives the archive's id. */
export async function storeArchive(
  tx: Transaction,
  call: CallRow,
  { raw }: CallAnswer,
  requestKey: string | null,
  capturedAt: number,
): Promise<string> {
  const body = raw?.body ?? Buffer.alloc(0);
  return insertArchive(tx, {
    companyId: call.companyId,
    documentType: call.documentType,
    environment: call.environment,
    id: uuid(),
    objectKey: call.archiveKey,
    requestKey,
    callId: call.id,
    size: body.length,
    sha256: createHash('sha256').update(body).digest('hex'),
    contentType: raw?.contentType ?? null,
    httpStatus: raw?.status || null,
    capturedAt,
  });
}
