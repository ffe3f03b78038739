import { openObjectStore } from '../../src/storage/object-store/index.js';

/** A program that is killed in the middle of a put (file-system.test.ts): writes large objects until then. */
const [, , url = '', run = ''] = process.argv;
const store = await openObjectStore(url);
for (let i = 0; ; i += 1) await store.put(`runs/${run}/${i}`, Buffer.alloc(20_000_000, i));
