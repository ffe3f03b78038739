import { crc32 } from 'node:zlib';
import { type Entry, fromRandomAccessReaderPromise, getFileNameLowLevel, validateFileName, type ZipFile } from 'yauzl';
import { DECODE_LIMITS } from '../../documents/index.js';
import type { ImportError, ImportRow } from '../../storage/imports.js';
import { ObjectNotFound, type ObjectStore, ObjectStoreUnavailable } from '../../storage/object-store/index.js';
import { ObjectReader } from './object-reader.js';

/** One file of an upload. Nothing is ever written under its name: it is a label. */
export interface UploadedFile {
  /** Its place in the ZIP. */
  readonly entry: number;
  readonly name: string;
  /** Bytes when unpacked, as the ZIP says: it cannot have more. */
  readonly size: number;
  /** Its bytes, or why they cannot be had. */
  read(): Promise<Uint8Array | { readonly unreadable: string }>;
}

/** The upload as a whole cannot be worked off. */
export class UploadRefused extends Error {
  override readonly name = 'UploadRefused';
  constructor(readonly code: ImportError) {
    super(code);
  }
}

/** The largest ZIP of documents known has some ten thousands. */
const MOST_FILES = 200_000;
/** XML shrinks to a tenth, the same invoice a thousand times to a fiftieth; bombs to a thousandth and less. */
const LARGEST_EXPANSION = 100;
const LONGEST_NAME = 300;

/** Looks at all of it without unpacking anything. @throws {UploadRefused} */
export async function countUpload(store: ObjectStore, upload: ImportRow): Promise<number> {
  let files = 0;
  let bytes = 0;
  for await (const { size } of filesOf(store, upload)) {
    files += 1;
    bytes += Math.min(size, DECODE_LIMITS.expandedBytes);
    if (files > MOST_FILES) throw new UploadRefused('too_many_files');
    if (bytes > DECODE_LIMITS.expandedBytes + LARGEST_EXPANSION * Number(upload.size)) {
      throw new UploadRefused('expands_too_much');
    }
  }
  return files;
}

/**
 * The files of an upload in their order; folders are none.
 *
 * @throws {UploadRefused} @throws {ObjectStoreUnavailable}
 */
export async function* filesOf(
  store: ObjectStore,
  { objectKey, size, format, fileName }: ImportRow,
): AsyncGenerator<UploadedFile, void, undefined> {
  if (format === 'xml') {
    const read = () => store.get(objectKey);
    yield { entry: 0, name: shown(fileName ?? 'document.xml'), size: Number(size), read };
    return;
  }
  const zip = await opened(store, objectKey, Number(size));
  try {
    let entry = -1;
    for await (const each of entriesOf(zip)) {
      entry += 1;
      const name = getFileNameLowLevel(each.generalPurposeBitFlag, each.fileNameRaw, each.extraFields, false);
      if (!name.endsWith('/'))
        yield { entry, name: shown(name), size: each.uncompressedSize, read: () => read(zip, each, name) };
    }
  } finally {
    zip.close();
  }
}

async function opened(store: ObjectStore, objectKey: string, size: number): Promise<ZipFile> {
  try {
    const options = { lazyEntries: true, decodeStrings: false, autoClose: false };
    return await fromRandomAccessReaderPromise(new ObjectReader(store, objectKey), size, options);
  } catch (error) {
    throw ofStore(error) ? error : new UploadRefused('zip_unreadable');
  }
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry, void, undefined> {
  const entries = zip.eachEntry();
  for (;;) {
    let next: IteratorResult<Entry>;
    try {
      next = await entries.next();
    } catch (error) {
      throw ofStore(error) ? error : new UploadRefused('zip_unreadable');
    }
    if (next.done) return;
    yield next.value;
  }
}

async function read(zip: ZipFile, entry: Entry, name: string): Promise<Uint8Array | { readonly unreadable: string }> {
  if (validateFileName(name) !== null) return { unreadable: 'unsafe_name' };
  if (entry.isEncrypted()) return { unreadable: 'encrypted' };
  if (!entry.canDecodeFileData()) return { unreadable: 'compression_unknown' };
  if (entry.uncompressedSize > DECODE_LIMITS.expandedBytes) return { unreadable: 'too_large' };
  try {
    const pieces: Buffer[] = [];
    // It ends with an error as soon as there is more than the directory says.
    for await (const piece of await zip.openReadStreamPromise(entry)) pieces.push(piece as Buffer);
    const bytes = Buffer.concat(pieces);
    // The reader of the ZIP leaves this to us; XML with a few bytes altered can still be well-formed.
    return crc32(bytes) === entry.crc32 ? bytes : { unreadable: 'damaged' };
  } catch (error) {
    if (ofStore(error)) throw error;
    return { unreadable: 'damaged' };
  }
}

const ofStore = (error: unknown) => error instanceof ObjectStoreUnavailable || error instanceof ObjectNotFound;

/** For lists: no control characters, not endless. */
function shown(name: string): string {
  return name.replace(/[\p{Cc}\p{Cs}]/gu, '\uFFFD').slice(0, LONGEST_NAME);
}
