import { ApplicationFailure, log } from '@temporalio/activity';
import { type CaptureRowActivities, FAILURES, type HostAnswer } from '../../model/activity-contract.js';
import type { CaptureSnapshot } from '../../model/capture-state.js';
import { compareNsu, type Nsu, tryParseNsu } from '../../model/nsu.js';
import type { CaptureKey } from '../../model/words.js';
import { closeCapture, enableCapture, holdCapture, markCapture, resumeCapture } from '../../storage/capture-orders.js';
import { type CaptureRow, snapshotOf } from '../../storage/capture-rows.js';
import { getCapture, lockCapture } from '../../storage/captures.js';
import { type CompanyRow, getCompany } from '../../storage/companies.js';
import type { Queryable, Transaction } from '../../storage/database.js';
import { documentsBetween, forgetLate, lateDocuments, rememberMissed, writeHandedNsu } from '../../storage/handover.js';
import type { ActivityDependencies } from '../dependencies.js';
import { captureUnknown, rebuilding, scaleMismatch } from '../failures.js';
import { Announcements } from '../page/announcements.js';

/** Short activities on a capture's row: one transaction each, and the committed truth back. */
export function createCaptureRowActivities(deps: ActivityDependencies): CaptureRowActivities {
  /** Runs an order under its lock; the endpoints of whatever it announces are woken after the commit. */
  async function ordered<T>(capture: CaptureKey, work: (order: Order) => Promise<T>): Promise<T> {
    const { result, wake } = await deps.database.transaction(async (tx) => {
      const now = await deps.clock.now(tx);
      const company = await getCompany(tx, capture.companyId);
      if (!company) throw captureUnknown('company');
      const announcements = new Announcements(tx, capture, company, now);
      return { result: await work({ tx, now, company, announcements }), wake: await announcements.publish() };
    });
    deps.wakeEndpoints(wake);
    return result;
  }

  return {
    openCapture: ({ capture, start }) =>
      rebuilding(async () => {
        if (!start) return checkedScale(await readSnapshot(deps.database, capture), deps.timeScale);
        return ordered(capture, async ({ tx, now, company }) => {
          const { handler } = start;
          const answer = await enableCapture(tx, {
            capture,
            now,
            timeScale: start.timeScale ?? deps.timeScale,
            options: (current) => (handler === undefined ? current : { ...current, handler }),
          });
          if (!answer.ok) throw refusedStart(answer);
          return checkedScale(snapshotOf(answer.row, company), deps.timeScale);
        });
      }),

    closeCapture: ({ capture, generation }) =>
      rebuilding(() =>
        ordered(capture, async ({ tx, now, company }) => {
          const { closed, row } = existing(await closeCapture(tx, capture, generation, now));
          return { closed, snapshot: snapshotOf(row, company) };
        }),
      ),

    holdCapture: ({ capture, until }) =>
      rebuilding(() =>
        ordered(capture, async ({ tx, now, company }) => {
          const end = until === 'indefinitely' ? Number.POSITIVE_INFINITY : until;
          return snapshotOf(existing(await holdCapture(tx, capture, end, now)), company);
        }),
      ),

    resumeCapture: ({ capture }) =>
      rebuilding(() =>
        ordered(capture, async ({ tx, now, company, announcements }) => {
          const before = existing(await lockCapture(tx, capture));
          const row = existing(await resumeCapture(tx, capture, now));
          if (before.phase === 'attention') await announcements.close('capture_attention');
          if (before.phase === 'disabled') await announcements.close('capture_disabled');
          return snapshotOf(row, company);
        }),
      ),

    markCapture: ({ capture, phase, reason, alert }) =>
      rebuilding(() =>
        ordered(capture, async ({ tx, now, company, announcements }) => {
          const row = existing(await markCapture(tx, capture, phase, reason, now));
          if (alert?.open) await announcements.open(alert.code, reason);
          else if (alert) await announcements.close(alert.code);
          return snapshotOf(row, company);
        }),
      ),

    nextHandover: ({ capture }) =>
      rebuilding(async () => {
        const row = existing(await getCapture(deps.database, capture));
        const { ultNsu, maxNsu } = row.state;
        if (row.hasLate) {
          return {
            capture,
            documents: await lateDocuments(deps.database, capture),
            ultNsu: row.handedNsu,
            maxNsu,
            late: true,
          };
        }
        const { documents, isLast } = await documentsBetween(deps.database, capture, row.handedNsu, ultNsu);
        const last = documents.at(-1);
        return last ? { capture, documents, ultNsu: isLast ? ultNsu : last.nsu, maxNsu } : null;
      }),

    recordHandover: ({ capture, page, answer }) =>
      rebuilding(() =>
        ordered(capture, async ({ tx, now, company, announcements }) => {
          const row = existing(await lockCapture(tx, capture));
          const handed = await handedBy(row, page, answer, announcements);
          const { documents = [] } = page;
          if (handed === null || (handed === row.handedNsu && !page.late)) return snapshotOf(row, company);
          if (!page.late && page.documents) {
            const upTo = compareNsu(handed, page.ultNsu) < 0 ? handed : page.ultNsu;
            await rememberMissed(tx, capture, { after: row.handedNsu, upTo, handed: documents });
          }
          await forgetLate(tx, capture, page.late ? documents : [], handed);
          return snapshotOf(existing(await writeHandedNsu(tx, capture, handed, now)), company);
        }),
      ),
  };
}

interface Order {
  readonly tx: Transaction;
  readonly now: number;
  readonly company: CompanyRow;
  readonly announcements: Announcements;
}

async function readSnapshot(db: Queryable, capture: CaptureKey): Promise<CaptureSnapshot> {
  const company = await getCompany(db, capture.companyId);
  if (!company) throw captureUnknown('company');
  return snapshotOf(existing(await getCapture(db, capture)), company);
}

/**
 * How far the host has taken documents, by its own word. Only its answer moves this, and nothing here moves the government's cursor:
 * a host that goes back is handed the documents in between from the database. Null: it has not taken the page.
 */
async function handedBy(
  row: CaptureRow,
  page: { readonly ultNsu: Nsu; readonly late?: boolean },
  answer: HostAnswer | null,
  announcements: Announcements,
): Promise<Nsu | null> {
  if (answer?.ultNsu === undefined) {
    if (answer?.stop) return null;
    return page.late ? row.handedNsu : page.ultNsu;
  }
  const own = tryParseNsu(answer.ultNsu);
  if (own === null) {
    // No progress: the workflow tries again and, in the end, asks for people.
    log.warn('the host answered with something that is no NSU; its page is handed again');
    return null;
  }
  if (compareNsu(own, row.state.maxNsu) <= 0) {
    await announcements.close('cursor_ahead', 'host');
    return own;
  }
  const detail = `the host's cursor ${own} is above the highest NSU ${row.state.maxNsu}`;
  await announcements.open('cursor_ahead', detail, 'host');
  return row.state.maxNsu;
}

/** A wait written under another scale would end too early, or hours too late. */
function checkedScale(snapshot: CaptureSnapshot, ours: number): CaptureSnapshot {
  if (snapshot.state.timeScale === ours) return snapshot;
  const { message, type } = scaleMismatch(snapshot.state.timeScale, ours);
  throw ApplicationFailure.nonRetryable(message, type);
}

function refusedStart(refused: Extract<Awaited<ReturnType<typeof enableCapture>>, { ok: false }>): ApplicationFailure {
  if (refused.problem !== 'environment_in_use') return captureUnknown('company');
  return ApplicationFailure.nonRetryable(
    `this company is captured in ${refused.environment}: stop that first`,
    FAILURES.environmentInUse,
  );
}

function existing<T>(row: T | null): T {
  if (row === null) throw captureUnknown('capture');
  return row;
}
