import { EVENT_AUTHORITIES, MANIFESTATION_RULES, type ManifestationRule } from '../../model/manifestation.js';
import type { ManifestationRow } from '../../storage/manifestations.js';

/** Events that go together in one request. */
export interface Batch {
  /** The one that has been due longest. */
  readonly first: ManifestationRow;
  readonly rows: readonly ManifestationRow[];
}

/**
 * The next request: led by what has been due longest, with whatever else may go along. Nothing waits to fill it.
 *
 * @param due in the order in which it is to be sent; not empty
 */
export function nextBatch(due: readonly ManifestationRow[]): Batch {
  const [first] = due;
  if (!first) throw new Error('nothing is due');
  const { authority } = ruleOf(first);
  if (first.alone) return { first, rows: [first] };
  const together = due.filter((row) => !row.alone && ruleOf(row).authority === authority);
  return { first, rows: together.slice(0, EVENT_AUTHORITIES[authority].most) };
}

/** @throws {Error} for a row that a newer program wrote */
export function ruleOf({ type }: Pick<ManifestationRow, 'type'>): ManifestationRule {
  const rule = MANIFESTATION_RULES.get(type);
  if (!rule) throw new Error(`this version knows no manifestation ${type}`);
  return rule;
}
