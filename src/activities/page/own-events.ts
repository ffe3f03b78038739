import type { CaptureKey } from '../../model/words.js';
import type { Transaction } from '../../storage/database.js';
import type { DocumentRow } from '../../storage/documents.js';
import { numberEvents, type OwnEvent, ownEvents } from '../../storage/event-documents.js';

/** Says why no webhook is sent. */
const KNOWN = 'own_manifestation: the customer was told of this event when it was registered';

/**
 * Events of ours that come by distribution: they were stored and told of when they were registered. The whole event gives its number to
 * that document and is not stored again, although the government writes it in its own way; a summary of it, a further copy, or the first one
 * that tells its protocol because our answer got lost, is stored without a webhook. A repeat finds the number and does the same.
 *
 * @returns what is to be stored, and the ids of the documents that got their number now
 */
export async function recognizeOwnEvents(
  tx: Transaction,
  capture: CaptureKey,
  rows: readonly DocumentRow[],
): Promise<{ left: readonly DocumentRow[]; numbered: readonly string[] }> {
  const nothing = { left: rows, numbered: [] };
  const distributed = rows.filter(({ event, nsu, key }) => event?.protocol && nsu !== null && key !== null);
  if (distributed.length === 0) return nothing;
  const own = await ownEvents(
    tx,
    capture,
    distributed.map(({ key }) => key).filter((key) => key !== null),
  );
  if (own.length === 0) return nothing;
  const numbered = new Map<string, OwnEvent['nsu']>();
  const left = rows.flatMap((row) => {
    const known = own.find((each) => isSame(each, row));
    if (!known || row.nsu === null) return [row];
    const number = known.nsu ?? numbered.get(known.id) ?? null;
    if (isSummary(row) || known.protocol === null || (number !== null && number !== row.nsu)) {
      return [{ ...row, suppressed: row.suppressed ?? KNOWN }];
    }
    if (known.nsu === null) numbered.set(known.id, row.nsu);
    return [];
  });
  await numberEvents(
    tx,
    [...numbered].map(([id, nsu]) => ({ id, nsu })),
  );
  return { left, numbered: [...numbered.keys()] };
}

const isSummary = ({ kind }: DocumentRow) => kind === 'resEvento';

/** By the protocol; where ours is not known, by what the event's Id is made of. */
function isSame({ key, type, sequence, protocol }: OwnEvent, row: DocumentRow): boolean {
  if (key !== row.key || type !== row.eventType) return false;
  return protocol === null ? sequence === row.eventSequence : protocol === row.event?.protocol;
}
