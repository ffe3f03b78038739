import { createHash, randomUUID } from 'node:crypto';
import type { Database } from '../../src/storage/database.js';

/** Column values of a document's row. Whatever is not given is made up. */
export type DocumentFields = Partial<Record<string, unknown>> & { company_id: string };

let nsus = 0;

/** Inserts a document and gives its id. */
export async function newDocument(db: Database, fields: DocumentFields): Promise<string> {
  nsus += 1;
  const row: Record<string, unknown> = {
    id: randomUUID(),
    document_type: 'nfe',
    environment: 'homologation',
    nsu: nsus,
    kind: 'procNFe',
    root: 'nfeProc',
    key: null,
    direction: 'received',
    state: 'authorized',
    full_xml: 'present',
    origin: 'distribution',
    captured_at: new Date(Date.UTC(2026, 10, 30) + nsus),
    metadata: '{}',
    xml_sha256: createHash('sha256').update(String(nsus)).digest('hex'),
    xml_length: 1,
    archive_id: randomUUID(),
    object_key: 'k',
    byte_offset: 0,
    byte_length: 1,
    encoding: 'identity',
    ...fields,
  };
  const columns = Object.keys(row);
  await db.query(
    `insert into documents (${columns.join(', ')}) values (${columns.map((_, i) => `$${i + 1}`).join(', ')})`,
    Object.values(row),
  );
  return String(row.id);
}
