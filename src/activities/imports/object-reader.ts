import { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { RandomAccessReader } from 'yauzl';
import type { ObjectStore } from '../../storage/object-store/index.js';

/** The directory of a ZIP is read in pieces of some fifty bytes: they come from blocks of this size. */
const BLOCK = 1024 * 1024;
/** Entries and their directory stand apart, so several places are read in turn. */
const BLOCKS_KEPT = 8;

/** Reads an object in any order, as a ZIP reader wants it. Failures of the store come through as they are. */
export class ObjectReader extends RandomAccessReader {
  readonly #blocks = new LRUCache<number, Promise<Buffer>>({ max: BLOCKS_KEPT });

  constructor(
    private readonly store: Pick<ObjectStore, 'getRange'>,
    private readonly key: string,
  ) {
    super();
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#range(start, end));
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    this.#copy(buffer, offset, length, position).then(
      () => callback(null),
      (error: Error) => callback(error),
    );
  }

  override close(callback: (error: Error | null) => void): void {
    this.#blocks.clear();
    callback(null);
  }

  async #copy(buffer: Buffer, offset: number, length: number, position: number): Promise<void> {
    let copied = 0;
    for await (const piece of this.#range(position, position + length)) {
      piece.copy(buffer, offset + copied);
      copied += piece.length;
    }
    if (copied < length) throw new Error('the ZIP ends too early');
  }

  async *#range(start: number, end: number): AsyncGenerator<Buffer, void, undefined> {
    for (let at = start; at < end; ) {
      const number = Math.floor(at / BLOCK);
      const block = await this.#block(number);
      const piece = block.subarray(at - number * BLOCK, end - number * BLOCK);
      if (piece.length === 0) return;
      yield piece;
      at += piece.length;
    }
  }

  #block(number: number): Promise<Buffer> {
    const kept = this.#blocks.get(number);
    if (kept) return kept;
    const block = this.store.getRange(this.key, number * BLOCK, BLOCK);
    this.#blocks.set(number, block);
    // One that failed is asked for again.
    block.catch(() => this.#blocks.delete(number));
    return block;
  }
}
