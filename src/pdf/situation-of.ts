import { stateOfEventType } from '../documents/index.js';
import type { Queryable } from '../storage/database.js';
import { type DocumentRow, listEventsOfKey } from '../storage/documents.js';
import type { Situation } from './situation.js';

/** What the company's other documents of the same key say about this one. */
export async function situationOf(db: Queryable, document: DocumentRow): Promise<Situation> {
  const { key, state } = document;
  if (key === null || (state !== 'cancelled' && state !== 'replaced')) return { state };
  const events = await listEventsOfKey(db, { ...document, key });
  // The event itself before a summary of it, which some services leave without a protocol.
  const causes = events.filter(({ eventType }) => stateOfEventType(document.documentType, eventType ?? '') === state);
  const cause = (causes.find(({ kind }) => kind !== 'resEvento') ?? causes[0])?.event;
  const cancelledAt = cause?.registeredAt ?? cause?.occurredAt;
  return {
    state,
    ...(cancelledAt !== undefined && { cancelledAt }),
    ...(cause?.protocol !== undefined && { cancellationProtocol: cause.protocol }),
  };
}
