import { v7 as uuid } from 'uuid';
import { addNsu, compareNsu, type Nsu, nsuDistance } from '../model/nsu.js';
import { type GapCause, RECOVERY_MEANS, type RecoveryMeans } from '../model/recovery.js';
import type { CaptureKey } from '../model/words.js';
import { captureValues } from './captures.js';
import type { Transaction } from './database.js';
import { instant } from './database.js';

/** NSUs that should exist and did not come, as ranges; both ends included. */
export interface Gap {
  readonly from: Nsu;
  readonly to: Nsu;
  readonly status: 'pending' | 'before_onboarding' | 'awaiting_confirmation';
  readonly cause: GapCause;
}

/** Longer ranges wait for a person's word: at 20 queries an hour they would take days. */
export const LARGEST_UNATTENDED_GAP = 2_000;
/** Most documents in a page: as much can be lost with one. */
const PAGE_SIZE = 50;

/** A move of the cursor, and what came with it. */
export interface CursorMove {
  /** The cursor before; the range begins after it. */
  readonly before: Nsu;
  readonly after: Nsu;
  /** NSUs that came, readable or not, in any order. */
  readonly came: readonly Nsu[];
  /** No page was committed yet: what lies before the first item was never promised (the government purges after 3 months). */
  readonly firstPage: boolean;
  /** Why the pointer jumped, where a refusal told it and no page came. */
  readonly jumped: 'jump' | 'lost_page' | null;
  /** How what did not come is asked for again. Default: each number by itself, for which a long range waits for a person. */
  readonly means?: RecoveryMeans;
}

/**
 * The one rule for every move of the cursor: each NSU in (before, after] came, or is part of exactly one gap.
 */
export function gapsOf(move: CursorMove): Gap[] {
  const { before, after } = move;
  if (compareNsu(after, before) <= 0) return [];
  const gaps: Gap[] = [];
  let next = addNsu(before, 1);
  const inside = [...new Set(move.came)].filter((nsu) => compareNsu(nsu, before) > 0 && compareNsu(nsu, after) <= 0);
  for (const nsu of inside.sort(compareNsu)) {
    if (compareNsu(nsu, next) > 0) gaps.push(...missing(move, next, addNsu(nsu, -1)));
    if (nsu === after) return gaps;
    next = addNsu(nsu, 1);
  }
  return [...gaps, ...missing(move, next, after)];
}

function missing({ before, firstPage, jumped, means = 'point' }: CursorMove, from: Nsu, to: Nsu): Gap[] {
  if (firstPage && jumped === null && from === addNsu(before, 1)) {
    return [{ from, to, status: 'before_onboarding', cause: 'first_page' }];
  }
  if (firstPage && jumped === 'lost_page' && size(from, to) > PAGE_SIZE) {
    // Only the lost page itself is ours to fetch again; what lies before it was never promised.
    const page = addNsu(to, 1 - PAGE_SIZE);
    return [
      { from, to: addNsu(page, -1), status: 'before_onboarding', cause: 'first_page' },
      { from: page, to, status: 'pending', cause: 'lost_page' },
    ];
  }
  return [gapOf(from, to, jumped ?? 'page', means)];
}

/** A gap that is asked for without further ado, unless it is so long that a person has to say so. */
export function gapOf(from: Nsu, to: Nsu, cause: Gap['cause'], means: RecoveryMeans = 'point'): Gap {
  const status = means === 'point' && size(from, to) > LARGEST_UNATTENDED_GAP ? 'awaiting_confirmation' : 'pending';
  return { from, to, status, cause };
}

/** NSUs in the range. */
function size(from: Nsu, to: Nsu): number {
  return Number(nsuDistance(from, to)) + 1;
}

/** The next 23:00 at the government, when nobody waits for documents. */
const NEXT_NIGHT = `(date_trunc('day', ($4::timestamptz - interval '23 hours') at time zone 'America/Sao_Paulo')
  + interval '1 day 23 hours') at time zone 'America/Sao_Paulo'`;

/**
 * Stores gaps; those that are known stay as they are. Pending ones are due at once where each is asked for by itself, and in the next
 * night where a second pass goes over all of them.
 */
export async function insertGaps(
  tx: Transaction,
  capture: CaptureKey,
  gaps: readonly Gap[],
  now: number,
): Promise<void> {
  if (gaps.length === 0) return;
  await tx.query(
    `insert into gaps (company_id, document_type, environment, id, from_nsu, to_nsu, status, cause, created_at, means, next_attempt_at)
     select $1, $2, $3, id, from_nsu, to_nsu, status, cause, $4, $10,
       case when status <> 'pending' then null when $10 = 'pass' then ${NEXT_NIGHT} else $4::timestamptz end
     from unnest($5::uuid[], $6::bigint[], $7::bigint[], $8::text[], $9::text[]) as g (id, from_nsu, to_nsu, status, cause)
     on conflict do nothing`,
    [
      ...captureValues(capture),
      instant(now),
      gaps.map(() => uuid()),
      gaps.map((gap) => gap.from),
      gaps.map((gap) => gap.to),
      gaps.map((gap) => gap.status),
      gaps.map((gap) => gap.cause),
      RECOVERY_MEANS[capture.documentType],
    ],
  );
}
