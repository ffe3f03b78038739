/**
 * Joins ZIP files into one without unpacking them: the entries are copied as they stand, only the central directory is written anew,
 * with the places that they have now (APPNOTE 4.3). Holds one block, or the central directory of one part, at a time.
 */

export interface ZipPart {
  /** Bytes. */
  readonly size: number;
  /** The bytes from `start` to before `end`, in pieces. */
  read(start: number, end: number): AsyncIterable<Buffer>;
}

const END_SIZE = 22;
const ENTRY_SIZE = 46;
const SIGNATURE = { end: 0x06054b50, entry: 0x02014b50, end64: 0x06064b50, locator64: 0x07064b50 } as const;
/** Values from here on do not fit and stand in a ZIP64 field. */
const LARGE_16 = 0xffff;
const LARGE_32 = 0xffffffff;
const ZIP64_VERSION = 45;
const ZIP64_EXTRA = { id: 0x0001, size: 12 } as const;

interface Directory {
  readonly part: ZipPart;
  readonly start: number;
  readonly end: number;
  readonly entries: number;
  /** Where the part begins in the whole. */
  readonly base: number;
}

/**
 * The bytes of one ZIP with the entries of all parts in their order.
 *
 * @param parts each as yazl writes it: no comment, no encryption, below 4 GB and 65,535 entries
 * @throws {Error} for a part that is none of these
 */
export async function* joinZips(parts: Iterable<ZipPart>): AsyncGenerator<Buffer, void, undefined> {
  const directories: Directory[] = [];
  let length = 0;
  for (const part of parts) {
    const directory = await directoryOf(part, length);
    yield* part.read(0, directory.start);
    directories.push(directory);
    length += directory.start;
  }
  const start = length;
  for (const directory of directories) {
    const rewritten = rewrite(await gathered(directory.part.read(directory.start, directory.end)), directory);
    yield rewritten;
    length += rewritten.length;
  }
  const entries = directories.reduce((sum, directory) => sum + directory.entries, 0);
  yield endOf({ entries, start, size: length - start });
}

async function directoryOf(part: ZipPart, base: number): Promise<Directory> {
  const end = await gathered(part.read(Math.max(part.size - END_SIZE, 0), part.size));
  if (end.length < END_SIZE || end.readUInt32LE(0) !== SIGNATURE.end)
    throw new Error('a part is no ZIP file without comment');
  const [entries, size, start] = [end.readUInt16LE(10), end.readUInt32LE(12), end.readUInt32LE(16)];
  if (entries >= LARGE_16 || start >= LARGE_32) throw new Error('a part is too large');
  if (start + size + END_SIZE !== part.size) throw new Error('a part is not one whole ZIP file');
  return { part, start, end: start + size, entries, base };
}

/** The entries of a central directory, moved by the part's place. */
function rewrite(directory: Buffer, { base, entries }: Directory): Buffer {
  const moved: Buffer[] = [];
  let at = 0;
  for (let i = 0; i < entries; i += 1) {
    if (at + ENTRY_SIZE > directory.length || directory.readUInt32LE(at) !== SIGNATURE.entry) {
      throw new Error('the central directory of a part is damaged');
    }
    const named = at + ENTRY_SIZE + directory.readUInt16LE(at + 28);
    const extended = named + directory.readUInt16LE(at + 30);
    const next = extended + directory.readUInt16LE(at + 32);
    moved.push(...placed(directory.subarray(at, next), named - at, base + directory.readUInt32LE(at + 42)));
    at = next;
  }
  return Buffer.concat(moved);
}

/** @param extraAt where the extra fields of the entry begin */
function placed(entry: Buffer, extraAt: number, offset: number): Buffer[] {
  if (offset < LARGE_32) {
    entry.writeUInt32LE(offset, 42);
    return [entry];
  }
  entry.writeUInt16LE(Math.max(entry.readUInt16LE(6), ZIP64_VERSION), 6);
  entry.writeUInt16LE(entry.readUInt16LE(30) + ZIP64_EXTRA.size, 30);
  entry.writeUInt32LE(LARGE_32, 42);
  const extra = Buffer.alloc(ZIP64_EXTRA.size);
  extra.writeUInt16LE(ZIP64_EXTRA.id, 0);
  extra.writeUInt16LE(ZIP64_EXTRA.size - 4, 2);
  extra.writeBigUInt64LE(BigInt(offset), 4);
  return [entry.subarray(0, extraAt), extra, entry.subarray(extraAt)];
}

function endOf({ entries, start, size }: { entries: number; start: number; size: number }): Buffer {
  const end = Buffer.alloc(END_SIZE);
  end.writeUInt32LE(SIGNATURE.end, 0);
  end.writeUInt16LE(Math.min(entries, LARGE_16), 8);
  end.writeUInt16LE(Math.min(entries, LARGE_16), 10);
  end.writeUInt32LE(Math.min(size, LARGE_32), 12);
  end.writeUInt32LE(Math.min(start, LARGE_32), 16);
  const isLarge = entries >= LARGE_16 || size >= LARGE_32 || start >= LARGE_32;
  return isLarge ? Buffer.concat([end64({ entries, start, size }), end]) : end;
}

/** The ZIP64 end record and the locator that says where it is. */
function end64({ entries, start, size }: { entries: number; start: number; size: number }): Buffer {
  const record = Buffer.alloc(76);
  record.writeUInt32LE(SIGNATURE.end64, 0);
  record.writeBigUInt64LE(44n, 4);
  record.writeUInt16LE(ZIP64_VERSION, 12);
  record.writeUInt16LE(ZIP64_VERSION, 14);
  record.writeBigUInt64LE(BigInt(entries), 24);
  record.writeBigUInt64LE(BigInt(entries), 32);
  record.writeBigUInt64LE(BigInt(size), 40);
  record.writeBigUInt64LE(BigInt(start), 48);
  record.writeUInt32LE(SIGNATURE.locator64, 56);
  record.writeBigUInt64LE(BigInt(start + size), 64);
  record.writeUInt32LE(1, 72);
  return record;
}

async function gathered(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}
