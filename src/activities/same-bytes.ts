import type { Nsu } from '../model/nsu.js';
import type { Transaction } from '../storage/database.js';
import type { DocumentRow } from '../storage/documents.js';
import type { Relative } from '../storage/page.js';
import { fillNsus } from '../storage/same-bytes.js';

/**
 * The same bytes are one document, whether they come with a number or without one (a query by key gives none, case C15): without, they
 * are here already; with, the document that is here gets the number.
 *
 * @returns what is left to store, documents here that nobody was told of so far, and the ids of those that got their number now
 */
export async function recognizeSameBytes(
  tx: Transaction,
  rows: readonly DocumentRow[],
  stored: readonly Relative[],
): Promise<{ left: DocumentRow[]; untold: DocumentRow[]; numbered: string[] }> {
  const numbered = new Map<string, Nsu>();
  const left = rows.filter((row) => {
    const same = stored.filter((one) => one.key === row.key && one.xmlSha256 === row.xmlSha256 && row.key !== null);
    if (row.nsu === null) return same.length === 0;
    const without = same.find(({ id, nsu }) => nsu === null && !numbered.has(id));
    if (!without || same.some(({ nsu }) => nsu === row.nsu)) return true;
    numbered.set(without.id, row.nsu);
    return false;
  });
  const untold = await fillNsus(
    tx,
    [...numbered].map(([id, nsu]) => ({ id, nsu })),
  );
  return { left, untold, numbered: [...numbered.keys()] };
}
