import { brasiliaTime } from '../../platform/brasilia.js';
import { type ExportDocument, positionOf } from '../../storage/export-documents.js';

/** What the ZIP holds of a document. */
export interface ExportedFiles {
  readonly xml?: string;
  readonly pdf?: string;
  /** For people who look for what is not there. */
  readonly remark?: string;
}

/**
 * Where a document stands in the ZIP, without the ending: `2026/11/nfe/<key>-procNFe`, by the month of its issue in Brasília. Events add
 * their type and sequence, further copies of the same with other bytes a number. No two documents of a company have the same.
 */
export function pathOf(document: ExportDocument): string {
  const { documentType, key, kind, id, eventType, eventSequence, copiesBefore } = document;
  const { year, month } = brasiliaTime(positionOf(document).at);
  const event = eventType === null ? '' : `-${safe(eventType)}-${eventSequence ?? 0}`;
  const copy = key !== null && copiesBefore > 0 ? `-copia${copiesBefore}` : '';
  return `${year}/${month}/${documentType}/${key === null ? id : safe(key)}-${kind}${event}${copy}`;
}

/** Keys and event types are letters and digits; what a broken document says must not become a path. */
const safe = (text: string) => text.replace(/[^0-9A-Za-z]/g, '_').slice(0, 60);
