import { v7 as uuid } from 'uuid';
import { scaled } from '../../cadence/index.js';
import { directionOf, fullXmlOf, instantOf, stateOf, stateOfKey } from '../../documents/index.js';
import type { DecodedItem, DocumentState, Origin, PageItem } from '../../model/document.js';
import { type Nsu, tryParseNsu, ZERO_NSU } from '../../model/nsu.js';
import type { CaptureKey } from '../../model/words.js';
import type { DocumentRow } from '../../storage/documents.js';
import type { FailedItemRow } from '../../storage/failed-items.js';
import type { Derived, Relative } from '../../storage/page.js';

/** Where items stand and whose they are: the same for all of an answer. */
export interface ItemPlace {
  readonly capture: CaptureKey;
  readonly taxId: string;
  readonly archiveId: string;
  readonly objectKey: string;
  readonly origin: Origin;
  /** Milliseconds. */
  readonly capturedAt: number;
}

/** An item's place in its answer, without its bytes. */
export type ItemPosition = Pick<PageItem, 'nsu' | 'schema' | 'offset' | 'length' | 'encoding'>;

/** NSU 0 is what services print where there is none (case C15). */
export function nsuOf(item: Pick<PageItem, 'nsu'>): Nsu | null {
  const nsu = tryParseNsu(item.nsu);
  return nsu === ZERO_NSU ? null : nsu;
}

/** The row of a decoded item; state and whereabouts of the full XML as it says itself. */
export function documentRow(
  place: ItemPlace,
  item: ItemPosition,
  { document, xmlSha256, xmlLength }: Extract<DecodedItem, { ok: true }>,
): DocumentRow {
  const { metadata, event } = document;
  const state = stateOf([document.implies]);
  // An event counts by when it happened: in the order of a key's events, and in the month that is exported.
  const issuedAt = metadata.issuedAt ?? event?.occurredAt ?? event?.registeredAt;
  return {
    ...place.capture,
    id: uuid(),
    nsu: nsuOf(item),
    kind: document.kind,
    schema: item.schema,
    root: document.root,
    key: document.key,
    direction: directionOf(place.capture.documentType, metadata, place.taxId),
    state,
    fullXml: fullXmlOf(document.kind, { state, received: false, overdue: false }),
    origin: place.origin,
    capturedAt: place.capturedAt,
    issuedAt: issuedAt === undefined ? null : instantOf(issuedAt),
    authorizedAt: metadata.authorizedAt === undefined ? null : instantOf(metadata.authorizedAt),
    total: amountOf(metadata.total),
    issuerTaxId: metadata.issuer?.taxId ?? null,
    recipientTaxId: metadata.recipient?.taxId ?? null,
    metadata,
    event,
    eventType: event?.type ?? null,
    eventSequence: smallInteger(event?.sequence),
    warnings: [...document.warnings],
    suppressed: null,
    awarenessSkipped: null,
    xmlSha256,
    xmlLength,
    archiveId: place.archiveId,
    objectKey: place.objectKey,
    byteOffset: item.offset,
    byteLength: item.length,
    encoding: item.encoding,
  };
}

/** The row of an item that could not be decoded, due to be decoded again at `nextAttemptAt` (milliseconds). */
export function failedItemRow(
  place: ItemPlace,
  item: ItemPosition,
  { failure, detail }: Extract<DecodedItem, { ok: false }>,
  nextAttemptAt: number,
): FailedItemRow {
  return {
    ...place.capture,
    id: uuid(),
    nsu: nsuOf(item),
    schema: item.schema,
    failure,
    detail,
    archiveId: place.archiveId,
    objectKey: place.objectKey,
    byteOffset: item.offset,
    byteLength: item.length,
    encoding: item.encoding,
    attempts: 1,
    nextAttemptAt,
    createdAt: place.capturedAt,
  };
}

const HALF_HOUR = 30 * 60_000;
const DAY = 48 * HALF_HOUR;

/** When an item that failed so many times is decoded again: after half an hour, twice as long each time, then daily. */
export function nextDecoding(attempts: number, now: number, timeScale: number): number {
  return now + scaled(Math.min(HALF_HOUR * 2 ** (attempts - 1), DAY), timeScale);
}

/**
 * Gives documents of one key one state and one answer to "where is the full XML?", in whatever order they came: a cancellation may
 * come before its note (case C32), a note after its summary.
 */
export function deriveTogether(
  fresh: readonly DocumentRow[],
  stored: readonly Relative[],
): { fresh: DocumentRow[]; changed: Derived[] } {
  const byKey = new Map<string, (Relative | DocumentRow)[]>();
  const received = new Set<string>();
  for (const row of [...stored, ...fresh]) {
    if (row.key === null) continue;
    const ofKey = byKey.get(row.key);
    if (ofKey) ofKey.push(row);
    else byKey.set(row.key, [row]);
    if (row.kind !== 'resNFe' && row.fullXml === 'present') received.add(row.key);
  }
  const states = new Map<string, DocumentState>([...byKey].map(([key, rows]) => [key, stateOfKey(rows)]));
  const derived = <Row extends Pick<DocumentRow, 'key' | 'kind' | 'state' | 'fullXml'>>(row: Row): Row => {
    if (row.key === null) return row;
    const about = { state: states.get(row.key) ?? row.state, received: received.has(row.key) };
    return {
      ...row,
      state: about.state,
      fullXml: fullXmlOf(row.kind, { ...about, overdue: row.fullXml === 'overdue' }),
    };
  };
  const changed = stored.map((row) => ({ before: row, after: derived(row) }));
  return {
    fresh: fresh.map(derived),
    changed: changed
      .filter(({ before, after }) => before.state !== after.state || before.fullXml !== after.fullXml)
      .map(({ after }) => ({ id: after.id, state: after.state, fullXml: after.fullXml })),
  };
}

/** NSUs that came with other bytes than before, or twice in one page with different bytes. */
export function contradictedNsus(
  fresh: readonly Pick<DocumentRow, 'nsu' | 'xmlSha256'>[],
  stored: readonly Pick<Relative, 'nsu' | 'xmlSha256'>[],
): Nsu[] {
  const hashes = new Map<Nsu, Set<string>>();
  for (const { nsu, xmlSha256 } of [...stored, ...fresh]) {
    if (nsu === null) continue;
    hashes.set(nsu, (hashes.get(nsu) ?? new Set()).add(xmlSha256));
  }
  const came = new Set(fresh.map(({ nsu }) => nsu));
  return [...hashes].filter(([nsu, different]) => different.size > 1 && came.has(nsu)).map(([nsu]) => nsu);
}

/** For the numeric column, which filters and sums; what is shown is the text in the metadata. */
function amountOf(written: string | undefined): string | null {
  return written !== undefined && /^\d{1,15}(\.\d{1,10})?$/.test(written) ? written : null;
}

function smallInteger(value: number | undefined): number | null {
  return value !== undefined && Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : null;
}
