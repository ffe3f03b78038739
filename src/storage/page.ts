import type { DocumentKind, DocumentState, FullXml } from '../model/document.js';
import type { Nsu } from '../model/nsu.js';
import type { CaptureKey } from '../model/words.js';
import { nsuColumn } from './capture-rows.js';
import { captureValues } from './captures.js';
import type { Transaction } from './database.js';
import type { DocumentRow } from './documents.js';

/** A page's documents, and what they change about documents that were there. */

/** A document that is stored already and shares an NSU or a key with the page. */
export interface Relative {
  readonly id: string;
  readonly nsu: Nsu | null;
  readonly xmlSha256: string;
  readonly kind: DocumentKind;
  readonly key: string | null;
  readonly state: DocumentState;
  readonly fullXml: FullXml;
  readonly suppressed: string | null;
  readonly eventType: string | null;
  readonly eventSequence: number | null;
}

/** Every document of the capture with one of these NSUs, and of its company in this environment with one of these keys. */
export async function relativesOf(
  tx: Transaction,
  capture: CaptureKey,
  { nsus, keys }: { nsus: readonly Nsu[]; keys: readonly string[] },
): Promise<Relative[]> {
  const columns = `d.id, ${nsuColumn('d.nsu', 'nsu')}, d.xml_sha256 as "xmlSha256", d.kind, d.key,
    d.state, d.full_xml as "fullXml", d.suppressed, d.event_type as "eventType", d.event_sequence as "eventSequence"`;
  const { rows } = await tx.query<Relative>(
    `select ${columns} from documents d
     where company_id = $1 and document_type = $2 and environment = $3 and nsu = any($4::bigint[])
     union all
     select ${columns} from documents d
     where company_id = $1 and document_type = $2 and environment = $3 and key = any($5)`,
    [...captureValues(capture), nsus, keys],
  );
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

/** Stores documents; says which ids are new. One that is there already (same NSU, same bytes) stays as it is. */
export async function insertDocuments(tx: Transaction, documents: readonly DocumentRow[]): Promise<Set<string>> {
  if (documents.length === 0) return new Set();
  const { rows } = await tx.query<{ id: string }>(
    `insert into documents (id, company_id, document_type, environment, nsu, kind, schema, root, key, direction, state,
       full_xml, origin, captured_at, issued_at, authorized_at, total, issuer_tax_id, recipient_tax_id, metadata, event, event_type,
       event_sequence, warnings, suppressed, awareness_skipped, xml_sha256, xml_length, archive_id, object_key, byte_offset,
       byte_length, encoding)
     select r.id, r."companyId", r."documentType", r.environment, r.nsu, r.kind, r.schema, r.root, r.key, r.direction, r.state,
       r."fullXml", r.origin, to_timestamp(r."capturedAt" / 1000.0), to_timestamp(r."issuedAt" / 1000.0),
       to_timestamp(r."authorizedAt" / 1000.0), r.total,
       r."issuerTaxId", r."recipientTaxId", r.metadata, r.event, r."eventType", r."eventSequence", r.warnings, r.suppressed,
       r."awarenessSkipped", r."xmlSha256", r."xmlLength", r."archiveId", r."objectKey", r."byteOffset", r."byteLength", r.encoding
     from json_to_recordset($1) as r (id uuid, "companyId" uuid, "documentType" text, environment text, nsu bigint, kind text,
       schema text, root text, key text, direction text, state text, "fullXml" text, origin text, "capturedAt" bigint,
       "issuedAt" bigint, "authorizedAt" bigint, total numeric, "issuerTaxId" text, "recipientTaxId" text, metadata jsonb, event jsonb,
       "eventType" text, "eventSequence" int, warnings text[], suppressed text, "awarenessSkipped" text,
       "xmlSha256" text, "xmlLength" int, "archiveId" uuid, "objectKey" text, "byteOffset" int, "byteLength" int, encoding text)
     on conflict do nothing returning id`,
    [JSON.stringify(documents)],
  );
  return new Set(rows.map(({ id }) => id));
}

/** What documents of one key decide about each other. */
export type Derived = Pick<DocumentRow, 'id' | 'state' | 'fullXml'>;

/** Writes what other documents of the same key say about these. */
export async function updateDerived(tx: Transaction, changed: readonly Derived[]): Promise<void> {
  if (changed.length === 0) return;
  await tx.query(
    `update documents d set state = c.state, full_xml = c.full_xml
     from unnest($1::uuid[], $2::text[], $3::text[]) as c (id, state, full_xml) where d.id = c.id`,
    [changed.map((row) => row.id), changed.map((row) => row.state), changed.map((row) => row.fullXml)],
  );
}

/** Counts documents that came by another way than a page. */
export async function countDocuments(tx: Transaction, capture: CaptureKey, documents: number): Promise<void> {
  await tx.query(
    'update captures set documents = documents + $4 where company_id = $1 and document_type = $2 and environment = $3',
    [...captureValues(capture), documents],
  );
}
