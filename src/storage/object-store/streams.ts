import type { ObjectStore } from './object-store.js';

/** Bytes that one read takes. */
const BLOCK = 4 * 1024 * 1024;

/**
 * The bytes of an object from `start` to before `end`, block by block. Each block is a read of its own, so that a slow reader keeps no
 * connection open.
 *
 * @throws {ObjectNotFound} @throws {ObjectStoreUnavailable}
 */
export async function* readBlocks(
  store: Pick<ObjectStore, 'getRange'>,
  key: string,
  start: number,
  end: number,
): AsyncGenerator<Buffer, void, undefined> {
  for (let at = start; at < end; ) {
    const block = await store.getRange(key, at, Math.min(BLOCK, end - at));
    if (block.length === 0) throw new Error(`object ${key} ends at ${at}, before ${end}`);
    yield block;
    at += block.length;
  }
}

/** A source on its way into a store. Keeps what it failed with apart from failures of the store. */
export class WatchedSource {
  failure: { readonly error: unknown } | null = null;

  constructor(private readonly source: AsyncIterable<Uint8Array>) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* this.source;
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }
}
