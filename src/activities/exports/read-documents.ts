import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { extractXml } from '../../documents/index.js';
import type { ExportDocument } from '../../storage/export-documents.js';
import { ObjectNotFound, type ObjectStore } from '../../storage/object-store/index.js';
import { requireWanted } from './step.js';

/** The XML of a document, or why there is none, for people. */
export type ReadDocument = { readonly xml: Uint8Array } | { readonly problem: string };

/** Archives that are read at the same time. */
const READS_AT_ONCE = 4;
/** A page of fifty documents has some hundred kB. Of an object in which they stand further apart each is read by itself. */
const LARGEST_READ = 8 * 1024 * 1024;

/**
 * The exact XML of each document by its id, compared with the hash taken at capture. Documents of one archive are read together.
 *
 * @throws {ObjectStoreUnavailable} what is missing or damaged is an answer
 */
export async function readDocuments(
  store: Pick<ObjectStore, 'getRange'>,
  documents: readonly ExportDocument[],
): Promise<ReadonlyMap<string, ReadDocument>> {
  const limit = pLimit({ concurrency: READS_AT_ONCE, rejectOnClear: true });
  const read = new Map<string, ReadDocument>();
  try {
    await Promise.all(
      groups(documents).map((group) =>
        limit(async () => {
          requireWanted();
          for (const [id, document] of await readGroup(store, group)) read.set(id, document);
        }),
      ),
    );
  } finally {
    limit.clearQueue();
  }
  return read;
}

interface Group {
  readonly objectKey: string;
  readonly start: number;
  readonly end: number;
  readonly documents: readonly ExportDocument[];
}

function groups(documents: readonly ExportDocument[]): Group[] {
  const byObject = new Map<string, ExportDocument[]>();
  for (const document of documents) {
    const others = byObject.get(document.objectKey);
    if (others) others.push(document);
    else byObject.set(document.objectKey, [document]);
  }
  return [...byObject].flatMap(([objectKey, ofObject]) => {
    const whole = groupOf(objectKey, ofObject);
    return whole.end - whole.start <= LARGEST_READ ? [whole] : ofObject.map((one) => groupOf(objectKey, [one]));
  });
}

function groupOf(objectKey: string, documents: readonly ExportDocument[]): Group {
  const start = Math.min(...documents.map(({ byteOffset }) => byteOffset));
  const end = Math.max(...documents.map(({ byteOffset, byteLength }) => byteOffset + byteLength));
  return { objectKey, start, end, documents };
}

async function readGroup(
  store: Pick<ObjectStore, 'getRange'>,
  { objectKey, start, end, documents }: Group,
): Promise<(readonly [string, ReadDocument])[]> {
  let bytes: Buffer;
  try {
    bytes = await store.getRange(objectKey, start, end - start);
  } catch (error) {
    if (!(error instanceof ObjectNotFound)) throw error;
    return documents.map(({ id }) => [id, { problem: 'arquivo de origem não encontrado no armazenamento' }] as const);
  }
  return documents.map((document) => {
    const { id, byteOffset, byteLength, encoding, xmlSha256 } = document;
    const extracted = extractXml(bytes.subarray(byteOffset - start, byteOffset - start + byteLength), encoding);
    const isSame = extracted.ok && createHash('sha256').update(extracted.xml).digest('hex') === xmlSha256;
    return [id, isSame ? { xml: extracted.xml } : { problem: 'bytes armazenados danificados' }] as const;
  });
}
