import { createHash } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import { decodeItem } from '../../documents/index.js';
import type { EventResult } from '../../government/event-answer.js';
import { insertArchive } from '../../storage/archives.js';
import type { CallRow } from '../../storage/calls.js';
import type { Transaction } from '../../storage/database.js';
import type { DocumentRow } from '../../storage/documents.js';
import type { ManifestationRow } from '../../storage/manifestations.js';
import { ObjectStoreUnavailable } from '../../storage/object-store/index.js';
import { patiently } from '../call/patience.js';
import { limitsOf } from '../dependencies.js';
import { documentRow } from '../page/page-documents.js';
import { eventServiceOf } from './event-services.js';
import type { ManifestationDependencies } from './manifestation-dependencies.js';

/** A registered event as a document of its own (design.md section 7), from the signed bytes and the answer about them. */
export interface Proof {
  readonly objectKey: string;
  readonly schema: string;
  readonly body: Buffer;
  /** Code, ": " and text. */
  readonly warnings: readonly string[];
}

/** Its answer names neither the protocol nor the instant of the registration. */
const answerLost = (statusCode: string) =>
  `answer_lost: the answer that registered this event got lost; the one in here (${statusCode}) says that it is registered`;

/**
 * Writes the document's object, before any row refers to it. The same event and answer give the same object, so a repeat changes nothing.
 *
 * @throws ObjectStoreUnavailable when the store fails for longer than the patience
 */
export async function storeProof(
  deps: ManifestationDependencies,
  call: CallRow,
  row: ManifestationRow,
  result: EventResult,
): Promise<Proof> {
  const service = eventServiceOf(deps.eventServices, call.documentType);
  const { schema, xml } = service.document(row.signed?.toString() ?? '', result);
  const body = Buffer.from(xml);
  const objectKey = `${call.archiveKey}.${row.type}-${row.key}-${row.sequence}`;
  const isDown = (error: unknown) => error instanceof ObjectStoreUnavailable;
  await patiently(limitsOf(deps), isDown, () =>
    deps.objectStore.put(objectKey, body, { contentType: 'application/xml' }),
  );
  const warnings = result.meaning === 'registered_before' ? [answerLost(result.statusCode)] : [];
  return { objectKey, schema, body, warnings };
}

/** The document's row, with its archive. Null: it cannot be decoded, which only a strange answer brings about; the object stays. */
export async function proofDocument(
  tx: Transaction,
  call: CallRow,
  { objectKey, schema, body, warnings }: Proof,
  { taxId, at }: { readonly taxId: string; readonly at: number },
): Promise<DocumentRow | null> {
  const item = {
    nsu: null,
    schema,
    offset: 0,
    length: body.length,
    encoding: 'identity',
    content: body,
  } as const;
  const decoded = decodeItem(item, call.documentType);
  if (!decoded.ok) return null;
  const { companyId, documentType, environment } = call;
  const archiveId = await insertArchive(tx, {
    companyId,
    documentType,
    environment,
    id: uuid(),
    objectKey,
    requestKey: null,
    callId: call.id,
    size: body.length,
    sha256: createHash('sha256').update(body).digest('hex'),
    contentType: 'application/xml',
    httpStatus: null,
    capturedAt: at,
  });
  const capture = { companyId, documentType, environment };
  const place = { capture, taxId, archiveId, objectKey, origin: 'manifestation', capturedAt: at } as const;
  const row = documentRow(place, item, decoded);
  return { ...row, warnings: [...row.warnings, ...warnings] };
}
