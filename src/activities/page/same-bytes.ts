import type { Transaction } from '../../storage/database.js';
import type { DocumentRow } from '../../storage/documents.js';
import type { Relative } from '../../storage/page.js';
import { fillNsus, type Numbered } from '../../storage/same-bytes.js';

/**
 * The same bytes are one document, whether they come with a number or without one (a query by key gives none, case C15): without, they
 * are here already; with, the document that is here gets the number. Of NFS-e the same document comes by several ways, and not always in
 * the same bytes: there key and kind say which it is.
 *
 * @returns what is left to store, documents here that nobody was told of so far, and the ids of those that got their number now
 */
export async function recognizeSameBytes(
  tx: Transaction,
  rows: readonly DocumentRow[],
  stored: readonly Relative[],
): Promise<{ left: DocumentRow[]; untold: DocumentRow[]; numbered: string[] }> {
  const numbered = new Map<string, Numbered>();
  const left = rows.filter((row) => {
    const same = stored.filter((one) => isSame(one, row));
    if (row.nsu === null) return same.length === 0;
    const without = same.find(({ id, nsu }) => nsu === null && !numbered.has(id));
    if (!without || same.some(({ nsu }) => nsu === row.nsu)) return true;
    const { id, xmlSha256 } = without;
    numbered.set(id, { id, nsu: row.nsu, otherBytes: xmlSha256 !== row.xmlSha256 });
    return false;
  });
  const untold = await fillNsus(tx, [...numbered.values()]);
  return { left, untold, numbered: [...numbered.keys()] };
}

function isSame(one: Relative, row: DocumentRow): boolean {
  if (row.key === null || one.key !== row.key) return false;
  if (one.xmlSha256 === row.xmlSha256) return true;
  return row.documentType === 'nfse' && hasIdentity(row) && one.kind === row.kind && isSameEvent(one, row);
}

/** Notes have one document each; an event without its number may be any of its type. */
function hasIdentity({ kind, eventType, eventSequence }: DocumentRow): boolean {
  return kind === 'NFSe' || (kind === 'evento' && eventType !== null && eventSequence !== null);
}

const isSameEvent = (
  one: Pick<Relative, 'eventType' | 'eventSequence'>,
  other: Pick<Relative, 'eventType' | 'eventSequence'>,
) => one.eventType === other.eventType && one.eventSequence === other.eventSequence;
