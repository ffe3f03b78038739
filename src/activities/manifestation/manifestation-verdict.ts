import { LEASE_GRACE, STOPPING, scaled } from '../../cadence/index.js';
import type { EventResult } from '../../government/event-answer.js';
import { MANIFESTATION_RULES } from '../../model/manifestation.js';
import type { Outcome } from '../../model/outcome.js';
import type { ManifestationResult } from '../../storage/manifestation-queue.js';
import type { ManifestationRow } from '../../storage/manifestations.js';

/** What an answer makes of an event. The sources of these numbers and codes: nfe-cte.md 1c, cases C53 to C60. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Milliseconds for one request, connection included. Half a minute is too short for the AN (case C16); sent again, an event is not made twice. */
export const EVENT_CALL_LIMIT_MS = MINUTE;
/** How long a request holds its events, in milliseconds: longer than its call can last. */
export const EVENT_LEASE_MS = EVENT_CALL_LIMIT_MS + LEASE_GRACE;

/** A failure to communicate waits 1, 2, 4 … 60 min. */
const FIRST_WAIT = MINUTE;
const LONGEST_WAIT = HOUR;
/** After 656 nothing goes there for an hour, and a minute for the difference of clocks: what comes meanwhile begins the hour anew. */
export const MISUSE_WAIT = 61 * MINUTE;
/** While our certificate is refused: somebody has to act. */
const CERTIFICATE_WAIT = HOUR;
/** As many requests unanswered in a row: one of their events may be the reason, so each goes alone. */
const UNANSWERED_ALONE = 3;
/** What the service says is registered, and is not found: it is looked for again after this, when every copy of its register has it. */
const REPLICA_WAIT = 10 * MINUTE;
/** By then the full document should have come. */
const XML_WAIT = 48 * HOUR;

/** How a request ended, as far as it concerns one of its events. */
export interface Judged {
  readonly outcome: Outcome;
  /** Of the request as a whole. */
  readonly statusText: string;
  /** What was answered about this event; null: nothing. */
  readonly result: EventResult | null;
  /** Milliseconds: when the answer came, or was given up. */
  readonly at: number;
  readonly timeScale: number;
  /**
   * What the call did, of services that are asked what became of an event before it is sent again: such an event stays in doubt until an
   * answer says otherwise. Null: of others, where whatever is in doubt is simply sent again.
   */
  readonly step: 'sending' | 'asking' | null;
}

/** Whether an event may be registered without our knowing it. */
export const isInDoubt = ({ unanswered }: Pick<ManifestationRow, 'unanswered'>): boolean => unanswered > 0;

/** Everything but the document that a registered event becomes. */
export type Verdict = Omit<ManifestationResult, 'documentId'>;

/** What becomes of one event after a request that carried it. */
export function verdictOn(row: ManifestationRow, judged: Judged): Verdict {
  const { outcome, result, step } = judged;
  if (step === 'asking') return onReadBack(row, judged);
  if (result && step === 'sending' && result.meaning === 'registered_before') return inDoubt(row, result, judged);
  if (outcome.kind === 'documents' || result)
    return result ? onResult(row, result, judged) : again(row, judged, { unanswered: true });
  if (outcome.kind === 'rejected') {
    // 215, 225 and their like may be about one of the events only.
    return row.together > 1
      ? alone(row, outcome.statusCode, judged)
      : ended(row, 'rejected', outcome.statusCode, judged.statusText);
  }
  return afterFailure(row, outcome, judged);
}

/** It is registered, or it is not; everything else leaves it in doubt. */
function onReadBack(row: ManifestationRow, judged: Judged): Verdict {
  const { outcome, result } = judged;
  if (outcome.kind === 'none') return onNotThere(row, judged);
  if (result && isNew(result)) return registered(row, result, judged);
  const said = result ?? { statusCode: undefined, statusText: undefined };
  if (outcome.kind === 'documents' || outcome.kind === 'rejected')
    return again(row, judged, {
      statusCode: said.statusCode ?? outcome.statusCode,
      statusText: said.statusText ?? judged.statusText,
    });
  return afterFailure(row, outcome, judged);
}

const NOT_THERE = 'it was not registered: sent again';

/** Its own answer says that it, or another, is registered: which of them is asked at once. */
function inDoubt(row: ManifestationRow, { statusCode, statusText }: EventResult, { at }: Judged): Verdict {
  return { ...kept(row), failures: 0, unanswered: 1, statusCode, statusText, nextAttemptAt: at };
}

/**
 * What got lost on its way is sent again. But what the service itself called registered may be missing in a copy of its register that lags
 * behind; only what is missing twice was refused, because another statement about the document is there. No failure after such a
 * refusal: its code still stands in the row.
 */
function onNotThere(row: ManifestationRow, { at, timeScale }: Judged): Verdict {
  const { statusCode, failures, unanswered } = row;
  if (statusCode === null || failures > 0) {
    return { ...kept(row), unanswered: 0, statusCode: null, statusText: NOT_THERE, nextAttemptAt: at };
  }
  if (unanswered > 1) return ended(row, 'rejected', statusCode, row.statusText ?? '');
  return { ...kept(row), unanswered: unanswered + 1, nextAttemptAt: at + scaled(REPLICA_WAIT, timeScale) };
}

function onResult(row: ManifestationRow, result: EventResult, judged: Judged): Verdict {
  const { statusCode, statusText } = result;
  const said = { statusCode, statusText };
  switch (result.meaning) {
    case 'service_failed':
      return again(row, judged, said);
    case 'misuse':
      return again(row, judged, { ...said, wait: MISUSE_WAIT });
    case 'certificate_refused':
      return again(row, judged, { ...said, wait: CERTIFICATE_WAIT });
    case 'rejected':
      return ended(row, 'rejected', statusCode, statusText);
    default:
      return registered(row, result, judged);
  }
}

/** Whether this answer registered the event. */
const isNew = ({ meaning }: EventResult) => meaning === 'registered' || meaning === 'registered_late';

/**
 * Whether it is an event of ours that this answer calls registered, and so a document: registered now, or before by these very bytes, whose
 * answer got lost. What was registered before without that is another program's, in bytes that are not here.
 */
export const isOurs = ({ answerLost }: Pick<ManifestationRow, 'answerLost'>, result: EventResult): boolean =>
  isNew(result) || (answerLost && result.meaning === 'registered_before');

/** One that was registered before is success, but protocol and time are known only where the answer tells them. */
function registered(row: ManifestationRow, result: EventResult, { at, timeScale }: Judged): Verdict {
  const { statusCode, statusText, meaning, protocol, registeredAt } = result;
  return {
    ...ended(row, 'registered', statusCode, statusText),
    late: meaning === 'registered_late',
    protocol,
    registeredAt: registeredAt ?? (isNew(result) ? at : null),
    xmlDueAt: releasesXml(row.type) ? at + scaled(XML_WAIT, timeScale) : null,
  };
}

/** After Awareness, Confirmation or Operation Not Performed the AN gives the full document under a new NSU (nfe-cte.md 1a). */
function releasesXml(type: string): boolean {
  const rule = MANIFESTATION_RULES.get(type);
  return rule?.documentType === 'nfe' && rule.class !== 'tax_reform' && type !== '210220';
}

function afterFailure(row: ManifestationRow, outcome: Outcome, judged: Judged): Verdict {
  switch (outcome.kind) {
    case 'throttled':
      return again(row, judged, {
        statusCode: outcome.statusCode,
        statusText: 'misuse of the service',
        wait: MISUSE_WAIT,
      });
    case 'certificate_refused':
      return again(row, judged, {
        statusCode: outcome.statusCode,
        statusText: 'the service refused the certificate',
        wait: CERTIFICATE_WAIT,
      });
    case 'paused':
      return again(row, judged, { statusCode: outcome.statusCode, statusText: 'the service is shut down' });
    case 'unreadable':
      return again(row, judged, { statusCode: outcome.statusCode, statusText: outcome.reason, unanswered: true });
    case 'unknown':
      return again(row, judged, { statusText: outcome.reason, unanswered: true });
    case 'not_sent':
      // Our own stopping is nobody's failure.
      return outcome.reason === STOPPING
        ? { ...kept(row), nextAttemptAt: judged.at }
        : again(row, judged, { statusText: outcome.reason });
    default:
      return again(row, judged, { statusText: outcome.kind });
  }
}

interface Failure {
  readonly statusCode?: string;
  readonly statusText?: string;
  /** Milliseconds, before the time scale; absent: by the number of failures. */
  readonly wait?: number;
  /** The request itself may be why. */
  readonly unanswered?: boolean;
}

/** With the same bytes, later. Whether there is still time is looked at then. */
function again(row: ManifestationRow, { at, timeScale, step }: Judged, failure: Failure): Verdict {
  const { statusCode = null, statusText = null } = failure;
  const doubted = step === null ? 0 : row.unanswered;
  const unanswered = failure.unanswered ? row.unanswered + 1 : doubted;
  const wait = failure.wait ?? Math.min(FIRST_WAIT * 2 ** row.failures, LONGEST_WAIT);
  return {
    ...kept(row),
    failures: row.failures + 1,
    unanswered,
    answerLost: step === null && (row.answerLost || failure.unanswered === true),
    alone: row.alone || unanswered >= UNANSWERED_ALONE,
    statusCode,
    statusText,
    nextAttemptAt: Math.min(at + scaled(wait, timeScale), Math.max(row.expiresAt, at)),
  };
}

function alone(row: ManifestationRow, statusCode: string, { at }: Judged): Verdict {
  const statusText = 'the request with several events was refused: sent again by itself';
  return { ...kept(row), alone: true, statusCode, statusText, nextAttemptAt: at };
}

const kept = ({ id, failures, unanswered, answerLost, alone: single, statusCode, statusText }: ManifestationRow) =>
  ({
    id,
    status: 'pending',
    failures,
    unanswered,
    answerLost,
    alone: single,
    late: false,
    statusCode,
    statusText,
    protocol: null,
    registeredAt: null,
    xmlDueAt: null,
  }) as const;

const ended = (row: ManifestationRow, status: 'registered' | 'rejected', statusCode: string, statusText: string) =>
  ({ ...kept(row), status, failures: 0, unanswered: 0, statusCode, statusText, nextAttemptAt: null }) as const;

/** The answer about an event, by its key, type and sequence; in one to a request with a single event any of them may be missing. */
export function resultOf(
  row: Pick<ManifestationRow, 'key' | 'type' | 'sequence' | 'together'>,
  results: readonly EventResult[],
): EventResult | null {
  const mayBeNameless = row.together === 1 && results.length === 1;
  const agrees = <T>(answered: T | null, own: T) => answered === own || (mayBeNameless && answered === null);
  return (
    results.find(
      ({ key, type, sequence }) =>
        agrees(key, row.key) &&
        agrees(type, row.type) &&
        agrees(sequence === null ? null : Number(sequence), row.sequence),
    ) ?? null
  );
}
