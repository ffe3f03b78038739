import { createHash } from 'node:crypto';

/**
 * Random numbers that depend on nothing but a text: document 17 of seed "demo" is the same today, tomorrow and after a restart,
 * and can be made without making documents 1 to 16 first. The stream is SHA-512 over the text and a block counter.
 */
export class SeededRandom {
  private block: Buffer = Buffer.alloc(0);
  private at = 0;
  private blocks = 0;

  constructor(private readonly seed: string) {}

  /** Uniform in [0, 1). */
  next(): number {
    if (this.at + 4 > this.block.length) {
      this.block = createHash('sha512')
        .update(`${this.seed}#${this.blocks++}`)
        .digest();
      this.at = 0;
    }
    const value = this.block.readUInt32LE(this.at);
    this.at += 4;
    return value / 0x1_0000_0000;
  }

  /** Whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  /** True once in `n` times. */
  oneIn(n: number): boolean {
    return this.next() * n < 1;
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[this.between(0, list.length - 1)];
    if (picked === undefined) throw new RangeError('Nothing to pick from: the list is empty');
    return picked;
  }

  /** One of the entries, each as often as its weight says. */
  weighted<T>(entries: readonly (readonly [T, number])[]): T {
    let rest = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [value, weight] of entries) {
      rest -= weight;
      if (rest < 0) return value;
    }
    return this.pick(entries)[0];
  }

  digits(count: number): string {
    let text = '';
    for (let i = 0; i < count; i++) text += this.between(0, 9);
    return text;
  }
}

/** Bytes that depend on nothing but a text, for what must look like key material and is none. */
export function seededBytes(seed: string, length: number): Buffer {
  return createHash('shake256', { outputLength: length }).update(seed).digest();
}
