import type { Step } from '../../cadence/index.js';
import { compareNsu, type Nsu, ZERO_NSU } from '../../model/nsu.js';
import type { Outcome } from '../../model/outcome.js';
import type { CaptureRow } from '../../storage/capture-rows.js';
import type { Transaction } from '../../storage/database.js';
import { resolveFailedNsus } from '../../storage/failed-items.js';
import { closePassedGaps, writePass } from '../../storage/second-pass.js';
import { codeOf, type EndedCall } from '../call/ended-call.js';
import type { Announcements } from './announcements.js';
import { nsuOf } from './page-documents.js';

/**
 * A second pass goes over numbers that are behind the cursor, for those that did not come. Its pages are committed like others; what is
 * different stands here: where it has come is `captures.pass_nsu`, and the cursor never moves by it.
 */

/** Where the pass stood when this call was made. */
const fromOf = ({ call }: EndedCall): Nsu => call.fromNsu ?? ZERO_NSU;

/** The capture as the cadence has to see it: standing where the pass stands. */
export function passingRow(row: CaptureRow, ended: EndedCall): CaptureRow['state'] {
  return { ...row.state, ultNsu: fromOf(ended), maxNsu: row.state.ultNsu, hasPage: true };
}

/** The step with the cursor where it was. */
export function withCursorOf({ state: before }: CaptureRow, step: Step): Step {
  const { ultNsu, maxNsu, hasPage, standstills } = before;
  return { ...step, jumped: null, state: { ...step.state, ultNsu, maxNsu, hasPage, standstills } };
}

/** A page of the pass without what is above the cursor: that comes in its sequence. */
export function behindCursor(ended: EndedCall, cursor: Nsu): EndedCall {
  const { answer, decoded } = ended;
  const kept = answer.items.flatMap((item, i) => {
    const nsu = nsuOf(item);
    return nsu === null || compareNsu(nsu, cursor) <= 0 ? [i] : [];
  });
  const of = <T>(list: readonly T[]): T[] => kept.flatMap((i) => list.slice(i, i + 1));
  return { ...ended, answer: { ...answer, items: of(answer.items) }, decoded: of(decoded) };
}

/**
 * Moves the pass, or ends it: when it has come to the cursor, or there is nothing more. Then every gap that it was made for is settled.
 * Anything else than documents or none leaves it where it is.
 */
export async function settlePass(
  tx: Transaction,
  row: CaptureRow,
  ended: EndedCall,
  { now, announcements }: { readonly now: number; readonly announcements: Announcements },
): Promise<void> {
  const { outcome, items } = ended.answer;
  const came = items
    .filter((_, i) => ended.decoded[i]?.ok)
    .map(nsuOf)
    .filter((nsu) => nsu !== null);
  if (came.length > 0) {
    const { resolved, othersFail } = await resolveFailedNsus(tx, row, came, now);
    if (resolved > 0 && !othersFail) await announcements.close('item_failed');
  }
  const next = nextPlace(outcome, fromOf(ended), row.state.ultNsu);
  if (next === 'stay') return;
  await writePass(tx, row, next);
  if (next === null) await closePassedGaps(tx, row, { now, statusCode: codeOf(outcome) });
}

function nextPlace(outcome: Outcome, from: Nsu, cursor: Nsu): Nsu | null | 'stay' {
  if (outcome.kind === 'none') return null;
  if (outcome.kind !== 'documents') return 'stay';
  const isOver = compareNsu(outcome.ultNsu, from) <= 0 || compareNsu(outcome.ultNsu, cursor) >= 0;
  return isOver ? null : outcome.ultNsu;
}
