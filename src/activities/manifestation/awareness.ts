import { scaled } from '../../cadence/index.js';
import { instantOf } from '../../documents/index.js';
import type { DocumentState } from '../../model/document.js';
import { AWARENESS_TYPE, legalDeadline } from '../../model/manifestation.js';
import { type AwarenessFacts, awarenessFacts, explainSkipped, keysAwaitingAwareness } from '../../storage/awareness.js';
import type { CaptureRow } from '../../storage/capture-rows.js';
import type { CompanyRow } from '../../storage/companies.js';
import type { Transaction } from '../../storage/database.js';
import type { DocumentRow } from '../../storage/documents.js';
import { insertManifestations } from '../../storage/manifestation-orders.js';
import { withdrawManifestations } from '../../storage/manifestation-queue.js';
import type { ManifestationRow } from '../../storage/manifestations.js';
import type { Relative } from '../../storage/page.js';
import { ruleOf } from './manifestation-batch.js';

/**
 * Automatic Awareness: for each summary that is distributed to a company (its layout names no recipient, so it is addressed to whoever gets
 * it) the government is told that the company knows of the note, which releases the whole document.
 */

const MINUTE = 60_000;
const AWARENESS = ruleOf({ type: AWARENESS_TYPE });

/** Why none is sent, as a summary says it. */
const REASONS = {
  own_document: 'the company issued the note itself',
  not_authorized: 'the note is not authorized (cSitNFe)',
  denied: 'the note was denied',
  cancelled: 'the note is cancelled',
  full_document_present: 'the whole document is there',
  too_late: `the note was authorized more than ${AWARENESS.days} days ago`,
  authorization_unknown: 'the summary does not say when the note was authorized',
  manifested: 'a conclusive statement about the note is registered',
  switched_off: 'automatic Awareness was switched off, or the capture stopped, before its time came',
} as const;
type Reason = keyof typeof REASONS;
const written = (reason: Reason) => `${reason}: ${REASONS[reason]}`;

interface NoteNow {
  readonly state: DocumentState;
  readonly whole: boolean;
  readonly authorizedAt: string | null;
}

function reasonAgainst({ state, whole, authorizedAt }: NoteNow, now: number): Reason | null {
  if (whole) return 'full_document_present';
  if (state === 'denied' || state === 'cancelled') return state;
  const authorized = authorizedAt === null ? null : instantOf(authorizedAt);
  if (authorized === null) return 'authorization_unknown';
  return now > (legalDeadline(AWARENESS, authorized) ?? 0) ? 'too_late' : null;
}

/** Whether summaries of this capture get one. Null: no. Else how long to wait, milliseconds before the time scale. */
function waitOf({ documentType, enabled, options }: CaptureRow): number | null {
  const { autoAwareness } = options;
  return documentType === 'nfe' && enabled && autoAwareness?.enabled ? autoAwareness.minutesToWait * MINUTE : null;
}

/**
 * Decides about summaries that just came: `awarenessSkipped` says why none is sent, and one that comes again while the Awareness for its
 * note is on its way is not told of again.
 *
 * @param rows derived from everything that is known of their keys
 * @param stored what was there with the same keys
 */
export async function considerAwareness(
  tx: Transaction,
  capture: CaptureRow,
  taxId: string,
  rows: readonly DocumentRow[],
  stored: readonly Relative[],
  now: number,
): Promise<DocumentRow[]> {
  if (waitOf(capture) === null) return [...rows];
  const again = rows.filter((row) => row.kind === 'resNFe' && stored.some(({ key }) => key === row.key));
  const waiting = await keysAwaitingAwareness(
    tx,
    capture,
    again.map(({ key }) => key).filter((key) => key !== null),
  );
  return rows.map((row) => {
    if (row.kind !== 'resNFe' || row.key === null) return row;
    const reason = reasonAgainstSummary(row, taxId, now);
    if (reason) return { ...row, awarenessSkipped: written(reason) };
    const isKnown = waiting.has(row.key) && row.suppressed === null;
    return isKnown ? { ...row, suppressed: 'awareness_pending: the customer was told of this summary already' } : row;
  });
}

function reasonAgainstSummary(row: DocumentRow, taxId: string, now: number): Reason | null {
  if (row.issuerTaxId === taxId) return 'own_document';
  const { authorizedAt = null, statusCode } = row.metadata;
  const reason = reasonAgainst({ state: row.state, whole: row.fullXml === 'present', authorizedAt }, now);
  return reason ?? (statusCode === '1' ? null : 'not_authorized');
}

/** Schedules Awareness for summaries that were stored. Gives whether there is something to wake the workflow for. */
export async function scheduleAwareness(
  tx: Transaction,
  capture: CaptureRow,
  rows: readonly DocumentRow[],
  now: number,
): Promise<boolean> {
  const wait = waitOf(capture);
  if (wait === null) return false;
  const { companyId, documentType, environment } = capture;
  const scheduled = await insertManifestations(
    tx,
    rows
      .filter(({ kind, awarenessSkipped }) => kind === 'resNFe' && awarenessSkipped === null)
      .flatMap(({ key, metadata }) =>
        key === null
          ? []
          : [
              {
                companyId,
                documentType,
                environment,
                key,
                rule: AWARENESS,
                sequence: 1,
                subject: '',
                origin: 'awareness',
                justification: null,
                fields: null,
                requestedAt: now,
                authorizedAt: metadata.authorizedAt === undefined ? null : instantOf(metadata.authorizedAt),
                dueAt: now + scaled(wait, capture.state.timeScale),
              } as const,
            ],
      ),
  );
  return scheduled.length > 0;
}

interface Asked {
  readonly capture: CaptureRow;
  readonly company: CompanyRow;
  readonly now: number;
}

/**
 * Looks again at scheduled Awareness whose time has come, and takes back what is not wanted any more; the summary then says why. A pending
 * conclusive statement does not count: it may be rejected. Gives what is to be sent.
 */
export async function withdrawUnwanted(
  tx: Transaction,
  asked: Asked,
  due: readonly ManifestationRow[],
): Promise<ManifestationRow[]> {
  const scheduled = due.filter(({ origin, attempts }) => origin === 'awareness' && attempts === 0);
  if (scheduled.length === 0) return [...due];
  const { capture, company } = asked;
  const facts = await awarenessFacts(
    tx,
    capture,
    company.taxId,
    scheduled.map(({ key }) => key),
  );
  const unwanted = scheduled.flatMap(({ id, key }) => {
    const reason = reasonNow(facts.get(key), asked);
    return reason ? [{ id, key, reason: written(reason) }] : [];
  });
  await explainSkipped(tx, capture, unwanted);
  await withdrawManifestations(
    tx,
    unwanted.map(({ id }) => id),
  );
  const gone = new Set(unwanted.map(({ id }) => id));
  return due.filter(({ id }) => !gone.has(id));
}

function reasonNow(facts: AwarenessFacts | undefined, { capture, now }: Asked): Reason | null {
  if (waitOf(capture) === null) return 'switched_off';
  // Erased meanwhile: nothing is known of the note that would forbid it, and nothing that would ask for it.
  if (!facts) return 'authorization_unknown';
  return reasonAgainst(facts, now) ?? (facts.conclusive ? 'manifested' : null);
}
