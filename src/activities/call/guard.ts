import type { Refusal } from '../../model/activity-contract.js';
import { compareNsu, type Nsu } from '../../model/nsu.js';
import type { PointRefusal } from '../../model/point-query.js';
import { isFree, nextFree, type QuotaFacts } from '../../model/point-quota.js';
import type { CaptureRow } from '../../storage/capture-rows.js';
import type { CertificateRow, UsableCertificate } from '../../storage/certificates.js';
import type { CompanyRow } from '../../storage/companies.js';
import type { ServiceRow } from '../../storage/services.js';

/** What the guard looks at whatever is asked, all of it read while the capture's row is locked. */
interface Facts {
  readonly row: CaptureRow;
  readonly company: Pick<CompanyRow, 'deletingAt'>;
  readonly service: ServiceRow;
  readonly certificate: UsableCertificate;
  readonly now: number;
}

/** What is looked at before a page. */
export interface GuardFacts extends Facts {
  /** The cursor and the revision that the workflow asks from. */
  readonly asked: { readonly ultNsu: Nsu; readonly revision: number };
}

/** What is looked at before a point query. */
export interface PointFacts extends Facts {
  /** No cursor: a point query has none. */
  readonly asked: { readonly revision: number };
  readonly quota: QuotaFacts;
  /** A 656 on distribution holds point queries too (NF-e; CT-e's go on). */
  readonly heldByThrottle: boolean;
}

/** Refused, or the certificate to call with. */
export type Verdict<R = Refusal> =
  | { readonly refusal: R }
  | { readonly refusal: null; readonly certificate: CertificateRow };

type Reason<R extends Refusal['reason']> = Extract<Refusal, { reason: R }>;

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

/**
 * The same question before a point query. Neither the cursor nor the wait of an empty queue concerns it, and `attention` lets it pass; every
 * block and every pause holds it.
 */
export function judgePoint(facts: PointFacts): Verdict<PointRefusal> {
  const { asked, row, certificate } = facts;
  const ordered = refusedByPeople(facts);
  if (ordered) return { refusal: ordered };
  if (row.behind || asked.revision > row.revision) return { refusal: { reason: 'database_behind' } };
  if (!certificate.ok) {
    return { refusal: { reason: 'certificate', problem: certificate.problem, until: certificate.until } };
  }
  const early = refusedByPause(facts) ?? refusedByQuota(facts);
  return early ? { refusal: early } : { refusal: null, certificate: certificate.certificate };
}

function refusedByPeople({ row, company, now }: Facts): Reason<'disabled' | 'held'> | null {
  if (!row.enabled || row.phase === 'disabled' || company.deletingAt !== null) return { reason: 'disabled' };
  if (row.heldUntil === null || row.heldUntil <= now) return null;
  return { reason: 'held', until: Number.isFinite(row.heldUntil) ? row.heldUntil : null };
}

/**
 * Whoever knows less than the row asks from a stale place; whoever knows more talks to a database that was restored from the past.
 * The revision decides: a restore can lose an answer without moving the cursor, and an administrator may lower a cursor.
 */
function refusedByPlace({ asked, row }: GuardFacts): Refusal | null {
  if (row.behind) return { reason: 'database_behind' };
  const order = asked.revision - row.revision || compareNsu(asked.ultNsu, row.state.ultNsu);
  if (order === 0) return null;
  return { reason: order > 0 ? 'database_behind' : 'stale' };
}

function refusedByTime(facts: GuardFacts): Refusal | null {
  const { row, now } = facts;
  const until = earliest(row);
  return refusedByPause(facts) ?? (until > now ? { reason: 'too_early', until } : null);
}

function refusedByPause({ service, now }: Facts): Reason<'paused'> | null {
  if (service.pausedUntil === null || service.pausedUntil <= now) return null;
  return { reason: 'paused', until: service.pausedUntil, spread: pauseLength(service) };
}

function refusedByQuota({ row, quota, heldByThrottle, now }: PointFacts): PointRefusal | null {
  const { blockedUntil, lastAnswer, quota: kept } = row.state;
  const suspended = kept.suspendedUntil ?? 0;
  const blocked = heldByThrottle || lastAnswer?.code !== '656' ? (blockedUntil ?? 0) : 0;
  const held = Math.max(suspended, blocked);
  if (held > now) return { reason: suspended > now ? 'suspended' : 'blocked', until: nextFree(quota, held) };
  return isFree(quota, now) ? null : { reason: 'quota', until: nextFree(quota, now) };
}

/** First permitted instant of a distribution call. Column and state say the same; where they do not, the later one holds. */
function earliest({ state, notBefore }: CaptureRow): number {
  return Math.max(state.nextQueryAt ?? 0, state.blockedUntil ?? 0, notBefore ?? 0);
}

/** Refused captures spread their return over as long as the pause lasted, so that they do not come all at once. */
export function pauseLength({ pausedFrom, pausedUntil }: ServiceRow): number {
  return Math.max((pausedUntil ?? 0) - (pausedFrom ?? pausedUntil ?? 0), 0);
}
