/**
 * Where archives stand. Keys are relative paths of plain segments; an object is whole or absent, never partial.
 * Every method may throw {@link ObjectStoreUnavailable}.
 */
export interface ObjectStore {
  /** Writes the object, or replaces it. When this resolves the bytes survive a crash. */
  put(key: string, bytes: Uint8Array, options?: { readonly contentType?: string | undefined }): Promise<void>;
  /**
   * As `put`, for what is too large for memory: holds some megabytes of it at a time. What the source throws is thrown on, and
   * leaves no object.
   */
  putStream(
    key: string,
    source: AsyncIterable<Uint8Array>,
    options?: { readonly contentType?: string | undefined },
  ): Promise<void>;
  /** @throws {ObjectNotFound} */
  get(key: string): Promise<Buffer>;
  /** Exactly `length` bytes from `offset`, or fewer where the object ends before. @throws {ObjectNotFound} */
  getRange(key: string, offset: number, length: number): Promise<Buffer>;
  /** Null: no such object. */
  head(key: string): Promise<{ readonly size: number } | null>;
  /** Deleting what is not there is done. */
  delete(key: string): Promise<void>;
  /** Deletes every object below the prefix, a whole number of segments; says how many there were. */
  deletePrefix(prefix: string): Promise<number>;
  /** Keys below the prefix (all, when empty), with size and time of writing, in no particular order. */
  list(prefix: string): AsyncIterable<StoredObject>;
  /** Resolves when the store can be written and read. */
  check(): Promise<void>;
}

/** An object as a listing shows it. */
export interface StoredObject {
  readonly key: string;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly writtenAt: number;
}

/** There is no object of this key. */
export class ObjectNotFound extends Error {
  override readonly name = 'ObjectNotFound';
  constructor(readonly key: string) {
    // Where a registered event stands names its document by the access key, which logs do not get.
    super(`no object ${key.replace(ACCESS_KEY, '…')} in the object store`);
  }
}

const ACCESS_KEY = /[0-9A-Z]{44,}/;

/** The store could not be reached, or refused: the same call may succeed later. Retried without limit, like the database. */
export class ObjectStoreUnavailable extends Error {
  override readonly name = 'ObjectStoreUnavailable';
  constructor(
    /** A short code: `ENOSPC`, `SlowDown`, `NoSuchBucket` … */
    readonly code: string,
    operation: string,
  ) {
    super(`object store: ${operation} failed (${code})`);
  }
}

/** The address of the object store, or a key, is not usable. */
export class InvalidObjectStore extends Error {
  override readonly name = 'InvalidObjectStore';
}

const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9._=-]{1,200}$/;

/**
 * The key, when each of its segments is safe on any file system and in any URL.
 *
 * @throws {InvalidObjectStore}
 */
export function safeKey(key: string): string {
  if (!key.split('/').every((segment) => SEGMENT.test(segment))) {
    throw new InvalidObjectStore(
      'object key: every segment needs 1 to 200 of the characters A-Z a-z 0-9 . _ = - and is not "." or ".."',
    );
  }
  return key;
}
