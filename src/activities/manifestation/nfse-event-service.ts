import { decodeItem, extractXml } from '../../documents/index.js';
import { type EventMeaning, type EventResult, shortened } from '../../government/event-answer.js';
import { signedNfseEvent } from '../../government/nfse-event-request.js';
import { readStoredEvent } from '../../government/sefin-answer.js';
import type { SefinEvents } from '../../government/sefin-events.js';
import type { CallAnswer } from '../../government/types.js';
import type { PageItem } from '../../model/document.js';
import { REASON_CODE } from '../../model/manifestation.js';
import type { EventService } from './event-services.js';

/** What Sefin's codes mean for an event (annexes II and IV; nfse.md 1.7, 2.5). Those that are not here refuse it. */
const MEANINGS: Readonly<Record<string, EventMeaning>> = {
  // The Id is known; one statement of the two was made. Which of the two, the read-back says.
  E0802: 'registered_before',
  E1833: 'registered_before',
  E1835: 'registered_before',
  // The list of revoked certificates cannot be read; maintenance; the note has not reached the ADN; our clock is ahead.
  E1206: 'service_failed',
  E1217: 'service_failed',
  E1831: 'service_failed',
  E1843: 'service_failed',
};

/**
 * Statements of the taker about NFS-e, at Sefin Nacional.
 *
 * @param application our name and version, at most 20 characters
 */
export function nfseEventService(sefin: SefinEvents, application: string): EventService {
  return {
    operation: 'nfseEvento',
    sign: ({ justification, fields, ...event }, certificate) => {
      const code = fields?.[REASON_CODE];
      const reasonCode = code === undefined ? null : String(code);
      return signedNfseEvent({ ...event, application, reasonCode, reason: justification }, certificate);
    },
    send: async ({ events: [request = ''], ...call }) => withResults(await sefin.register({ ...call, request })),
    readBack: {
      operation: 'nfseEventoLido',
      ask: async ({ rule, ...call }) => withResults(await sefin.readBack({ ...call, type: rule.type })),
    },
    read: (body, environment) => withResults(readStoredEvent(body, environment)),
    // What Sefin registered has in it what was signed.
    document: (_, { xml }) => ({ schema: 'evento_v1.01.xsd', xml }),
  };
}

function withResults<Answer extends Omit<CallAnswer, 'raw'>>(answer: Answer): Answer & { results: EventResult[] } {
  const { outcome, items, statusText } = answer;
  if (outcome.kind === 'documents') {
    const results = items.map((item) => registered(item, outcome.statusCode)).filter((result) => result !== null);
    return { ...answer, results };
  }
  if (outcome.kind !== 'rejected') return { ...answer, results: [] };
  const { statusCode } = outcome;
  const meaning = MEANINGS[statusCode] ?? 'rejected';
  return { ...answer, results: [{ ...NAMELESS, statusCode, statusText: shortened(statusText), meaning }] };
}

const NAMELESS = { key: null, type: null, sequence: null, protocol: null, registeredAt: null, xml: '' } as const;

/** Null for what cannot be read: then nothing is known of it, and it is read back. */
function registered(item: PageItem, statusCode: string): EventResult | null {
  const decoded = decodeItem(item, 'nfse');
  const extracted = extractXml(item.content, item.encoding);
  if (!decoded.ok || !extracted.ok || decoded.document.kind !== 'evento') return null;
  const { key, event } = decoded.document;
  const registeredAt = Date.parse(event?.registeredAt ?? '');
  return {
    key,
    type: event?.type ?? null,
    sequence: event?.sequence === undefined ? null : String(event.sequence),
    statusCode,
    meaning: 'registered',
    statusText: '',
    // The Id of the event names it; there is no number besides.
    protocol: null,
    registeredAt: Number.isNaN(registeredAt) ? null : registeredAt,
    xml: extracted.xml.toString('utf8'),
  };
}
