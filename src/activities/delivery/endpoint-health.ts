import { getCompany } from '../../storage/companies.js';
import type { Transaction } from '../../storage/database.js';
import type { LeasedDelivery, RecordedAttempt } from '../../storage/delivery-queue.js';
import { closeEndpointAlerts, disableEndpoint, setFailingSince } from '../../storage/endpoints.js';
import { nextAttemptAt, RETRY } from '../../webhooks/retry.js';
import { isDelivered, type SendResult } from '../../webhooks/sender.js';
import { Announcements } from '../page/announcements.js';

/** An attempt that has ended. `at` and `endedAt`: milliseconds of the one clock. */
export interface Attempt {
  readonly delivery: LeasedDelivery;
  readonly at: number;
  readonly endedAt: number;
  readonly result: SendResult;
}

/** What some attempts say about their endpoint. */
export interface Verdict {
  /** Since when every attempt has failed; null: the last one got through. */
  readonly failingSince: number | null;
  readonly changed: boolean;
  /** Something got through after failures. */
  readonly recovered: boolean;
  readonly notice: Notice | null;
}

/** Something that people have to know. */
interface Notice {
  readonly code: 'endpoint_failing' | 'endpoint_disabled';
  readonly detail: string;
  /** Null: only a warning. */
  readonly disabledReason: string | null;
  /** Whose event failed last: an endpoint of many companies has no company of its own that an event could belong to. */
  readonly companyId: string;
}

const WARN_AFTER_MS = 24 * 3_600_000;
/** As long as one delivery is retried: so while nothing at all gets through, no event is given up; they are held. */
const DISABLE_AFTER_MS = RETRY.horizonMs;

/** @param failingSince as it was before these attempts, which are in the order of their ends and at least one */
export function judge(attempts: readonly Attempt[], failingSince: number | null): Verdict {
  let since = failingSince;
  for (const { at, result } of attempts) since = isDelivered(result.statusCode) ? null : (since ?? at);
  return {
    failingSince: since,
    changed: since !== failingSince,
    recovered: failingSince !== null && attempts.some(({ result }) => isDelivered(result.statusCode)),
    notice: noticeOf(attempts, since),
  };
}

function noticeOf(attempts: readonly Attempt[], failingSince: number | null): Notice | null {
  const gone = attempts.find(({ result }) => result.statusCode === 410);
  if (gone) {
    return {
      code: 'endpoint_disabled',
      detail: 'The receiver answered 410 Gone. Its events are held until the endpoint is enabled.',
      disabledReason: 'the receiver answered 410 Gone',
      companyId: gone.delivery.companyId,
    };
  }
  const last = attempts.at(-1);
  if (!last || failingSince === null) return null;
  const failingFor = last.endedAt - failingSince;
  if (failingFor < WARN_AFTER_MS) return null;
  const why = `Every delivery since ${new Date(failingSince).toISOString()} failed, the last with "${last.result.error}".`;
  const { companyId } = last.delivery;
  if (failingFor >= DISABLE_AFTER_MS) {
    return {
      code: 'endpoint_disabled',
      detail: `${why} Events are held until the endpoint is enabled.`,
      disabledReason: 'every delivery of 3 days failed',
      companyId,
    };
  }
  const until = new Date(failingSince + DISABLE_AFTER_MS).toISOString();
  return {
    code: 'endpoint_failing',
    detail: `${why} Unless one succeeds, the endpoint is disabled at ${until}.`,
    disabledReason: null,
    companyId,
  };
}

/** Keeps a verdict. Returns the endpoints that got an event about it; wake them after the commit. */
export async function writeVerdict(
  tx: Transaction,
  endpointId: string,
  verdict: Verdict,
  at: number,
): Promise<string[]> {
  const { failingSince, changed, recovered, notice } = verdict;
  if (changed) await setFailingSince(tx, endpointId, failingSince);
  if (recovered) await closeEndpointAlerts(tx, endpointId, at);
  if (!notice) return [];
  if (notice.disabledReason && !(await disableEndpoint(tx, endpointId, notice.disabledReason, at))) return [];
  const { code, detail, companyId } = notice;
  const company = await getCompany(tx, companyId);
  if (!company) return [];
  const announcements = new Announcements(tx, { companyId }, company, at);
  await announcements.raise({ code, subject: endpointId }, detail);
  return announcements.publish();
}

/**
 * An attempt as it is kept. When it is the one that disables the endpoint, its delivery is held whatever its age.
 *
 * @param random uniform in [0, 1)
 */
export function recordOf(attempt: Attempt, verdict: Verdict, random: number): RecordedAttempt {
  const { delivery, at, endedAt, result } = attempt;
  const { statusCode, error, durationMs, response } = result;
  const record = { deliveryId: delivery.id, at, durationMs, statusCode, error, response };
  if (isDelivered(statusCode)) return { ...record, status: 'delivered', nextAttemptAt: null };
  const next = nextAttemptAt(
    {
      attempts: delivery.attempts + 1,
      firstAttemptAt: delivery.firstAttemptAt ?? at,
      failedAt: endedAt,
      retryAfterMs: result.retryAfterMs,
    },
    random,
  );
  if (verdict.notice?.disabledReason) return { ...record, status: 'pending', nextAttemptAt: next ?? endedAt };
  return { ...record, status: next === null ? 'exhausted' : 'pending', nextAttemptAt: next };
}
