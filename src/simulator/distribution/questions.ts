import { addNsu, compareNsu, type Nsu } from '../../model/nsu.js';
import { type NumberedDocument, type Queue, RETENTION } from '../queues/queue.js';
import type { QueueRegistry } from '../queues/registry.js';
import { statusText } from '../rules/texts.js';
import { type AnswerItem, type DistributionAnswer, docZip } from './answer.js';
import { keyFault } from './request.js';

/** What an allowed question is answered with; the caller adds environment and time. */
export type Found = Pick<DistributionAnswer, 'cStat' | 'text' | 'ultNsu' | 'maxNsu' | 'items'>;

/** Documents per page (the schema's highest number). */
export const PAGE_SIZE = 50;

/** distNSU: the documents after `after`. */
export function findPage(queue: Queue, after: Nsu, size: number, at: number): Found & { ultNsu: Nsu; maxNsu: Nsu } {
  const { documents, ultNsu } = queue.page(after, size, at);
  const cStat = documents.length === 0 ? '137' : '138';
  return { cStat, text: statusText(cStat), ultNsu, maxNsu: queue.maxNsu, items: documents.map(itemOf) };
}

/**
 * consNSU: the document with exactly this number. The ultNSU of the answer is no cursor: real answers name a number further on, and
 * a client that believes it loses what lies between.
 */
export function findByNsu(queue: Queue, nsu: Nsu, at: number): Found {
  const { maxNsu } = queue;
  if (compareNsu(nsu, maxNsu) > 0) return plain('589');
  const document = queue.byNsu(nsu, at);
  const cStat = document === null ? '137' : '138';
  return {
    cStat,
    text: statusText(cStat),
    ultNsu: queue.clamp(addNsu(nsu, PAGE_SIZE)),
    maxNsu,
    items: document === null ? [] : [itemOf(document)],
  };
}

/** consChNFe: the note with this key, whole or as a summary, if the asker may have it. Never with ultNSU and maxNSU. */
export function findByKey(queue: Queue, key: string, registry: QueueRegistry, at: number): Found {
  const fault = keyFault(key);
  if (fault !== null) return plain(fault);
  const { notes } = queue;
  const found = notes?.findNote(key) ?? null;
  if (found?.role === 'issuer' || key.slice(6, 20) === queue.taxId.padStart(14, '0')) return plain('641');
  if (notes === null || found === null)
    return plain(registry.findNoteAnywhere(key, queue.environment) === null ? '217' : '640');
  if (at - found.note.authorizedAt > RETENTION) return plain('632');
  if (found.cancelled || found.note.situation === '3') return plain('653');
  if (found.note.situation === '2') return plain('654');

  const { schema, xml } = notes.documentOfNote(found);
  // Since v1.15 of the note the number may be absent, and some answers say zero.
  const nsu = found.index % 2 === 0 ? null : '0'.repeat(15);
  return { ...plain('138'), items: [{ nsu, schema, content: docZip(xml) }] };
}

function plain(cStat: string): Found {
  return { cStat, text: statusText(cStat), ultNsu: null, maxNsu: null, items: [] };
}

function itemOf(document: NumberedDocument): AnswerItem {
  return { nsu: document.nsu, schema: document.schema, content: docZip(document.xml) };
}
