import { gunzipSync } from 'node:zlib';
import { decodeItem } from '../src/documents/index.js';
import { docZip, key, note, summary } from '../test/documents/samples.js';

/**
 * Documents per second on one thread from docZip to metadata, beside the floor: base64 and gunzip alone, which no decoder can go under.
 * Run: node --import tsx bench/decode.ts
 */

const DIFFERENT = 50; // of each size, so that no cache of one document flatters
const ROUND_MS = 300;
const ROUNDS = 5;

const samples: { readonly name: string; readonly make: (number: number) => string }[] = [
  { name: 'resNFe', make: (number) => summary({ key: key(number) }) },
  { name: 'procNFe 7 KB', make: (number) => note({ key: key(number), items: 3 }) },
  { name: 'procNFe 12 KB', make: (number) => note({ key: key(number), items: 10 }) },
  { name: 'procNFe 70 KB', make: (number) => note({ key: key(number), items: 84 }) },
];

const results = samples.map(({ name, make }) => {
  const documents = Array.from({ length: DIFFERENT }, (_, at) => make(1000 + at * 37));
  const items = documents.map(docZip);
  const floor: number[] = [];
  const decode: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    floor.push(perSecond(items, (content) => gunzipSync(Buffer.from(content.toString('latin1'), 'base64'))));
    decode.push(
      perSecond(items, (content) => {
        if (!decodeItem({ content, encoding: 'base64+gzip', schema: null }, 'nfe').ok) {
          throw new Error(`${name} was not decoded`);
        }
      }),
    );
  }
  return {
    name,
    bytes: Math.round(mean(documents.map((xml) => Buffer.byteLength(xml)))),
    floor: median(floor),
    decode: median(decode),
  };
});

console.table(
  Object.fromEntries(
    results.map(({ name, bytes, floor, decode }) => [
      name,
      {
        'XML bytes': bytes,
        'floor docs/s': Math.round(floor),
        'decode docs/s': Math.round(decode),
        'times the floor': Number((floor / decode).toFixed(2)),
      },
    ]),
  ),
);
console.log(
  JSON.stringify({
    bench: 'decode',
    node: process.version,
    results: results.map(({ name, bytes, floor, decode }) => ({
      name,
      bytes,
      floorPerSecond: Math.round(floor),
      decodePerSecond: Math.round(decode),
      timesFloor: Number((floor / decode).toFixed(2)),
    })),
  }),
);

function perSecond(items: readonly Buffer[], work: (item: Buffer) => void): number {
  const start = performance.now();
  let done = 0;
  do {
    for (const item of items) {
      work(item);
    }
    done += items.length;
  } while (performance.now() - start < ROUND_MS);
  return (done / (performance.now() - start)) * 1000;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
