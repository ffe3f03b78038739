import type { Refusal } from '../model/activity-contract.js';
import { compareNsu, type Nsu } from '../model/nsu.js';
import type { CaptureRow } from '../storage/capture-rows.js';
import type { CertificateRow, UsableCertificate } from '../storage/certificates.js';
import type { CompanyRow } from '../storage/companies.js';
import type { ServiceRow } from '../storage/services.js';

/** What the guard looks at, all of it read while the capture's row is locked. */
export interface GuardFacts {
  /** The cursor and the revision that the workflow asks from. */
  readonly asked: { readonly ultNsu: Nsu; readonly revision: number };
  readonly row: CaptureRow;
  readonly company: Pick<CompanyRow, 'deletingAt'>;
  readonly service: ServiceRow;
  readonly certificate: UsableCertificate;
  readonly now: number;
}

/** Refused, or the certificate to call with. */
export type Verdict = { readonly refusal: Refusal } | { readonly refusal: null; readonly certificate: CertificateRow };

/**
 * The last question before a call: may it be made? A pause that is over lets pass here, and needs a probe, which is the caller's to
 * take. The order matters to people: what they did comes first, then what is wrong, then what is merely early.
 */
export function judge(facts: GuardFacts): Verdict {
  const { certificate } = facts;
  const ordered = refusedByPeople(facts) ?? refusedByPlace(facts);
  if (ordered) return { refusal: ordered };
  if (!certificate.ok) {
    return { refusal: { reason: 'certificate', problem: certificate.problem, until: certificate.until } };
  }
  const early = refusedByTime(facts);
  return early ? { refusal: early } : { refusal: null, certificate: certificate.certificate };
}

function refusedByPeople({ row, company, now }: GuardFacts): Refusal | null {
  if (!row.enabled || row.phase === 'disabled' || company.deletingAt !== null) return { reason: 'disabled' };
  if (row.heldUntil === null || row.heldUntil <= now) return null;
  return { reason: 'held', until: Number.isFinite(row.heldUntil) ? row.heldUntil : null };
}

/**
 * Whoever knows less than the row asks from a stale place; whoever knows more talks to a database that was restored from the past.
 * The revision decides: a restore can lose an answer without moving the cursor, and an administrator may lower a cursor.
 */
function refusedByPlace({ asked, row }: GuardFacts): Refusal | null {
  const order = asked.revision - row.revision || compareNsu(asked.ultNsu, row.state.ultNsu);
  if (order === 0) return null;
  return { reason: order > 0 ? 'database_behind' : 'stale' };
}

function refusedByTime({ row, service, now }: GuardFacts): Refusal | null {
  if (service.pausedUntil !== null && service.pausedUntil > now) {
    return { reason: 'paused', until: service.pausedUntil, spread: pauseLength(service) };
  }
  const until = earliest(row);
  return until > now ? { reason: 'too_early', until } : null;
}

/** First permitted instant of a distribution call. Column and state say the same; where they do not, the later one holds. */
function earliest({ state, notBefore }: CaptureRow): number {
  return Math.max(state.nextQueryAt ?? 0, state.blockedUntil ?? 0, notBefore ?? 0);
}

/** Refused captures spread their return over as long as the pause lasted, so that they do not come all at once. */
export function pauseLength({ pausedFrom, pausedUntil }: ServiceRow): number {
  return Math.max((pausedUntil ?? 0) - (pausedFrom ?? pausedUntil ?? 0), 0);
}
