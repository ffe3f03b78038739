import type {
  Direction,
  DocumentKind,
  DocumentMetadata,
  DocumentState,
  EventInfo,
  FullXml,
  ItemEncoding,
  Origin,
} from '../model/document.js';
import type { Nsu } from '../model/nsu.js';
import { UNLISTED } from '../model/suppression.js';
import type { CaptureKey, DocumentType, Environment } from '../model/words.js';
import { nsuColumn } from './capture-rows.js';
import type { Queryable } from './database.js';
import { instant } from './database.js';
import { Filter } from './filter.js';
import type { Page, PageRequest } from './keyset.js';
import { pageOf, readCursor } from './keyset.js';
import { ANSWER_TIME, ANSWERABLE_FROM, AWAITS_ANSWER } from './work-list.js';

/** A captured document: what it says, and where its bytes stand. */
export interface DocumentRow extends CaptureKey {
  readonly id: string;
  readonly nsu: Nsu | null;
  readonly kind: DocumentKind;
  readonly schema: string | null;
  readonly root: string;
  readonly key: string | null;
  readonly direction: Direction;
  readonly state: DocumentState;
  readonly fullXml: FullXml;
  readonly origin: Origin;
  readonly capturedAt: number;
  readonly issuedAt: number | null;
  /** Of a note, where the protocol tells: the recipient's time to answer counts from then. */
  readonly authorizedAt?: number | null;
  /** Decimal string. */
  readonly total: string | null;
  readonly issuerTaxId: string | null;
  readonly recipientTaxId: string | null;
  readonly metadata: DocumentMetadata;
  readonly event: EventInfo | null;
  readonly eventType: string | null;
  readonly eventSequence: number | null;
  readonly warnings: string[];
  readonly suppressed: string | null;
  /** Of a summary: why no automatic Awareness is sent for it. */
  readonly awarenessSkipped: string | null;
  readonly xmlSha256: string;
  readonly xmlLength: number;
  readonly archiveId: string;
  readonly objectKey: string;
  readonly byteOffset: number;
  readonly byteLength: number;
  readonly encoding: ItemEncoding;
}

/** For `select … from documents d`. */
export const DOCUMENT_COLUMNS = `d.id, d.company_id as "companyId", d.document_type as "documentType", d.environment,
  ${nsuColumn('d.nsu', 'nsu')}, d.kind, d.schema, d.root, d.key, d.direction, d.state, d.full_xml as "fullXml", d.origin,
  d.captured_at as "capturedAt", d.issued_at as "issuedAt", d.authorized_at as "authorizedAt", d.total, d.issuer_tax_id as "issuerTaxId",
  d.recipient_tax_id as "recipientTaxId", d.metadata, d.event, d.event_type as "eventType",
  d.event_sequence as "eventSequence", d.warnings, d.suppressed, d.awareness_skipped as "awarenessSkipped", d.xml_sha256 as "xmlSha256", d.xml_length as "xmlLength",
  d.archive_id as "archiveId", d.object_key as "objectKey", d.byte_offset as "byteOffset", d.byte_length as "byteLength",
  d.encoding`;

/** The document of this id, or null. */
export async function getDocument(db: Queryable, id: string): Promise<DocumentRow | null> {
  const { rows } = await db.query<DocumentRow>(`select ${DOCUMENT_COLUMNS} from documents d where id = $1`, [id]);
  return rows[0] ?? null;
}

/** Every filter of `GET /v1/documents`; instants in milliseconds, "from" inclusive, "to" and "before" exclusive. */
export interface DocumentFilter {
  readonly companyId?: string | undefined;
  readonly documentType?: DocumentType | undefined;
  readonly environment?: Environment | undefined;
  readonly kind?: DocumentKind | undefined;
  readonly direction?: Direction | undefined;
  readonly key?: string | undefined;
  readonly nsu?: Nsu | undefined;
  readonly issuerTaxId?: string | undefined;
  readonly recipientTaxId?: string | undefined;
  readonly issuedFrom?: number | undefined;
  readonly issuedTo?: number | undefined;
  readonly capturedFrom?: number | undefined;
  readonly capturedTo?: number | undefined;
  readonly state?: DocumentState | undefined;
  readonly fullXml?: FullXml | undefined;
  /** `none`: no manifestation of the recipient is known for the key; an event type: that one is. */
  readonly manifestation?: string | undefined;
  /** The work list (work-list.ts): notes that await a conclusive manifestation, and whose time for one ends before this instant. */
  readonly deadlineBefore?: number | undefined;
  /** Words of the parties' names, numbers and keys; every word must begin one of the document's. */
  readonly q?: string | undefined;
  /** The companies that an API key may see; undefined: all. */
  readonly visible?: readonly string[] | undefined;
}

/** Newest first. @throws {InvalidCursor} */
export async function listDocuments(
  db: Queryable,
  filter: DocumentFilter,
  { limit, cursor }: PageRequest,
): Promise<Page<DocumentRow>> {
  const position = readCursor(cursor, ['instant', 'uuid']);
  const where = conditions(filter).after(position, 'd.captured_at, d.id', '<');
  const { rows } = await db.query<DocumentRow>(
    `select ${DOCUMENT_COLUMNS} from documents d ${where.where}
     order by d.captured_at desc, d.id desc limit ${limit + 1}`,
    where.values,
  );
  return pageOf(rows, limit, (row) => [row.capturedAt, row.id]);
}

/** The events of a key that this company holds, in the order in which they happened as far as that is known. */
export async function listEventsOfKey(
  db: Queryable,
  { companyId, environment, key }: { companyId: string; environment: Environment; key: string },
): Promise<DocumentRow[]> {
  const { rows } = await db.query<DocumentRow>(
    `select ${DOCUMENT_COLUMNS} from documents d
     where key = $1 and company_id = $2 and environment = $3 and event is not null
     order by issued_at nulls last, captured_at, id`,
    [key, companyId, environment],
  );
  return rows;
}

/** Manifestations of the recipient (NF-e) and of the taker (CT-e). */
const MANIFESTATIONS = ['210200', '210210', '210220', '210240', '610110', '610111'];

/** Somebody's event is among the documents, or ours was registered: another program's (573) leaves no document. */
const eventExists = (types: string) => `(exists (
    select from documents e
    where e.key = d.key and e.company_id = d.company_id and e.environment = d.environment and e.event_type = any(${types}))
  or exists (
    select from manifestations m
    where m.key = d.key and m.company_id = d.company_id and m.environment = d.environment and m.status = 'registered'
      and m.type = any(${types})))`;

/** What a customer chose not to have, or not yet, is in no list. */
export const LISTED = `(d.suppressed is null or d.suppressed !~ '^(${Object.values(UNLISTED).join('|')}):')`;

function conditions(filter: DocumentFilter): Filter {
  const where = new Filter()
    .always(LISTED)
    .add(filter.companyId, (v) => `d.company_id = ${v}`)
    .add(filter.visible, (v) => `d.company_id = any(${v}::uuid[])`)
    .add(filter.documentType, (v) => `d.document_type = ${v}`)
    .add(filter.environment, (v) => `d.environment = ${v}`)
    .add(filter.kind, (v) => `d.kind = ${v}`)
    .add(filter.direction, (v) => `d.direction = ${v}`)
    .add(filter.key, (v) => `d.key = ${v}`)
    .add(filter.nsu, (v) => `d.nsu = ${v}`)
    .add(filter.issuerTaxId, (v) => `d.issuer_tax_id = ${v}`)
    .add(filter.recipientTaxId, (v) => `d.recipient_tax_id = ${v}`)
    .add(time(filter.issuedFrom), (v) => `d.issued_at >= ${v}`)
    .add(time(filter.issuedTo), (v) => `d.issued_at < ${v}`)
    .add(time(filter.capturedFrom), (v) => `d.captured_at >= ${v}`)
    .add(time(filter.capturedTo), (v) => `d.captured_at < ${v}`)
    .add(filter.state, (v) => `d.state = ${v}`)
    .add(filter.fullXml, (v) => `d.full_xml = ${v}`)
    .add(words(filter.q), (v) => `document_words(d.metadata, d.key) @@ to_tsquery('simple', ${v})`);
  if (filter.manifestation === 'none') {
    where.always('d.key is not null and d.event is null').add(MANIFESTATIONS, (v) => `not ${eventExists(v)}`);
  } else if (filter.manifestation !== undefined) {
    where.always('d.event is null').add([filter.manifestation], eventExists);
  }
  if (filter.deadlineBefore !== undefined) {
    where
      .always(AWAITS_ANSWER)
      .add(time(filter.deadlineBefore), (v) => `${ANSWERABLE_FROM} < ${v}::timestamptz - ${ANSWER_TIME}`);
  }
  return where;
}

const time = (ms: number | undefined) => (ms === undefined ? undefined : instant(ms));

/** The search expression for what a person typed, folded as `document_words` folds (migration 0007); undefined when no word is in it. */
function words(text: string | undefined): string | undefined {
  const found = text
    ?.normalize('NFD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return found?.map((word) => `${word}:*`).join(' & ');
}
