import { titleLine } from '../kit/fields.js';
import type { Piece } from '../kit/flow.js';
import { FORM } from '../kit/style.js';

/** A section's title, which says on further sheets that it goes on. */
export function sectionTitle(title: string): (continued: boolean) => Piece {
  return (continued) => titleLine(`${title}${continued ? ' (CONTINUAÇÃO)' : ''}`, FORM);
}
