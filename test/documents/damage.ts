import fc from 'fast-check';

/** One of the documents with bytes changed or removed, sometimes cut off at the end. */
export function damaged(originals: readonly Buffer[]): fc.Arbitrary<Buffer> {
  const change = fc.record({ at: fc.nat(), byte: fc.nat(255), removed: fc.nat(3) });
  return fc
    .tuple(
      fc.constantFrom(...originals),
      fc.array(change, { minLength: 1, maxLength: 4 }),
      fc.option(fc.nat(), { freq: 4 }),
    )
    .map(([original, changes, cutAt]) => {
      let xml = original;
      for (const { at, byte, removed } of changes) {
        const from = at % xml.length;
        xml = Buffer.concat([xml.subarray(0, from), Buffer.of(byte), xml.subarray(from + removed)]);
      }
      return cutAt === null ? xml : xml.subarray(0, (cutAt % xml.length) + 1);
    });
}
