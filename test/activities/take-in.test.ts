import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import type { CallContext } from '../../src/activities/dependencies.js';
import { takeIn } from '../../src/activities/page/take-in.js';
import { accessKeyCheckDigit } from '../../src/documents/access-key.js';
import { decodeItem } from '../../src/documents/index.js';
import type { CaptureKey } from '../../src/model/words.js';
import { archiveKey } from '../../src/storage/object-store/index.js';
import { unknownObjects } from '../../src/storage/unknown-objects.js';
import { key, note, summary } from '../documents/samples.js';
import { body, type Item, nsu, summaries } from './government.js';
import { count, newCapture, rowOf, world } from './support.js';

const w = await world();
const deps: CallContext = { ...w.deps, decodeItem, clocksDiffer: new Map() };
const DAY = 86_400_000;

/** An object that nobody knows, where an answer of the capture would stand. */
async function left(capture: CaptureKey, bytes: Buffer, suffix = ''): Promise<string> {
  const objectKey = `${archiveKey(capture, Date.now(), `${randomUUID()}:1`)}${suffix}`;
  await w.deps.objectStore.put(objectKey, bytes);
  return objectKey;
}

const page = (items: readonly Item[], ultNsu: number) => body('138', ultNsu, ultNsu, items);

async function taken(bytes: Buffer, suffix = '') {
  const capture = await newCapture(w);
  const object = { key: await left(capture, bytes, suffix), writtenAt: Date.now() };
  const fresh = await takeIn(deps, capture, object);
  const { state } = await rowOf(w, capture);
  return { capture, fresh, ultNsu: Number(state.ultNsu), unknown: await unknown(capture) };
}

async function unknown(capture: CaptureKey, from = Date.now() - DAY): Promise<string[]> {
  const keys: string[] = [];
  for await (const object of unknownObjects(w.db, w.deps.objectStore, capture, { from, to: Date.now() + DAY })) {
    keys.push(object.key);
  }
  return keys;
}

let next = 700_000;
const fresh = () => key(++next);

/** The same key, but of a CT-e. */
function ofCte(noteKey: string): string {
  const first = `${noteKey.slice(0, 20)}57${noteKey.slice(22, 43)}`;
  return first + accessKeyCheckDigit(first);
}

describe('an answer that the database has lost', () => {
  test('a page brings its documents and its end; a repeat, or a second page behind it, moves nothing back', async () => {
    const first = await taken(page(summaries(1, 9, fresh), 12));
    assert.deepEqual([first.fresh, first.ultNsu, first.unknown], [9, 12, []]);
    const { capture } = first;
    assert.equal((await rowOf(w, capture)).state.hasPage, true);
    const again = { key: await left(capture, page(summaries(3, 5, fresh), 5)), writtenAt: Date.now() };
    await takeIn(deps, capture, again);
    assert.equal(Number((await rowOf(w, capture)).state.ultNsu), 12);
    const { rows } = await w.db.query<{ origin: string }>(
      'select distinct origin from documents where company_id = $1',
      [capture.companyId],
    );
    assert.deepEqual(rows, [{ origin: 'distribution' }], 'so that the numbers in between are looked for');
  });

  const one = fresh();
  const several = [fresh(), fresh(), fresh()];
  const answers: Record<string, Buffer> = {
    'one document, as by its number': page([{ nsu: 40, xml: summary({ key: one }) }], 700_000),
    'all of one key, as by that key': page(
      [
        { nsu: 40, xml: summary({ key: one }) },
        { nsu: 95, xml: note({ key: one }) },
      ],
      700_000,
    ),
    'documents without numbers': page(
      several.map((each) => ({ nsu: null, xml: summary({ key: each }) })),
      700_000,
    ),
    'numbers that fall': page(
      several.map((each, i) => ({ nsu: 40 - i, xml: summary({ key: each }) })),
      700_000,
    ),
    'numbers above the pointer': page(
      several.map((each, i) => ({ nsu: 40 + i, xml: summary({ key: each }) })),
      41,
    ),
    'a key of another document type among them': page(
      [
        { nsu: 40, xml: summary({ key: several[0] ?? '' }) },
        { nsu: 41, xml: summary({ key: ofCte(one) }) },
      ],
      41,
    ),
  };
  for (const [what, bytes] of Object.entries(answers)) {
    test(`${what}: the documents come, the cursor stays`, async () => {
      const { fresh: documents, ultNsu, unknown } = await taken(bytes);
      assert.ok(documents > 0);
      assert.equal(ultNsu, 0);
      assert.deepEqual(unknown, []);
    });
  }

  test('one without documents, or that cannot be read, becomes known, and no more', async () => {
    for (const bytes of [body('137', 99, 99), body('999', 99, 99), Buffer.from('<html>502</html>'), Buffer.alloc(0)]) {
      const { capture, fresh: documents, ultNsu, unknown } = await taken(bytes);
      assert.deepEqual([documents, ultNsu, unknown], [0, 0, []]);
      assert.equal(await count(w, 'archives', capture.companyId), 1);
    }
  });

  test('one of another document type is left where it is', async () => {
    const foreign = [1, 2].map((n) => {
      return { nsu: n, xml: summary({ key: ofCte(fresh()) }) };
    });
    const { capture, fresh: documents, ultNsu, unknown } = await taken(page(foreign, 2));
    assert.deepEqual([documents, ultNsu, unknown.length], [0, 0, 1]);
    assert.equal(await count(w, 'documents', capture.companyId), 0);
  });

  test('an event that was registered comes back as a document', async () => {
    const { fresh: documents, unknown } = await taken(Buffer.from(note({ key: one })), `.210200-${one}-1`);
    assert.deepEqual([documents, unknown], [1, []]);
  });

  test('archive, documents and cursor come together or not at all', async () => {
    const capture = await newCapture(w);
    const object = { key: await left(capture, page(summaries(1, 3, fresh), 3)), writtenAt: Date.now() };
    const database = {
      ...w.db,
      transaction: (work: Parameters<typeof w.db.transaction>[0]) =>
        w.db.transaction(async (tx) => {
          await work(tx);
          throw new Error('died before the commit');
        }),
    } as typeof w.db;
    await assert.rejects(takeIn({ ...deps, database }, capture, object), /died/);
    assert.equal((await unknown(capture)).length, 1, 'the next run finds it again');
    assert.equal(await takeIn(deps, capture, object), 3);
    assert.equal((await rowOf(w, capture)).state.ultNsu, nsu(3));
  });

  test('a span of years is listed by months, and begins at its first day', async () => {
    const capture = await newCapture(w);
    const at = Date.now() - 400 * DAY;
    const before = archiveKey(capture, at - DAY, 'run:1');
    const during = archiveKey(capture, at, 'run:2');
    for (const objectKey of [before, during]) await w.deps.objectStore.put(objectKey, Buffer.from('x'));
    const recent = await left(capture, Buffer.from('x'));
    assert.deepEqual(await unknown(capture, at), [during, recent]);
  });
});
