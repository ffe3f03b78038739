import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { DocumentPdfs, NoPdf, PdfFailed, type PdfRequest, PdfsBusy, renderPdf } from '../../src/pdf/index.js';
import { type DocumentRow, getDocument } from '../../src/storage/documents.js';
import { companyPrefix, type ObjectStore, openObjectStore } from '../../src/storage/object-store/index.js';
import { captureDocument } from '../api/fixtures.js';
import { newDocument } from '../storage/documents-support.js';
import { newCompany, openDatabase } from '../storage/support.js';
import { testBuckets } from '../support/buckets.js';
import { scratchFolder } from '../support/scratch.js';
import { procNfe, sampleKey, sampleNote } from './nfe-sample.js';
import { correctionLetterXml } from './other-cases.js';

const { db } = await openDatabase({ max: 12 });
const s3 = await testBuckets();
const XML = procNfe(sampleNote({ items: 3 }));
const KEY = sampleKey();

/** The service of one process, and what it asked the threads to make. */
function service(objectStore: ObjectStore) {
  const asked: PdfRequest[] = [];
  const render = (request: PdfRequest) => {
    asked.push(request);
    return renderPdf(request);
  };
  return { asked, pdfs: new DocumentPdfs({ database: db, objectStore, renderPdf: render }) };
}

async function newNote(objectStore: ObjectStore, fields: Record<string, unknown> = {}, xml = XML) {
  const { id: companyId } = await newCompany(db);
  const { id, objectKey } = await captureDocument(
    { db, deps: { objectStore } },
    companyId,
    { key: KEY, ...fields },
    xml,
  );
  return { companyId, archive: objectKey, reread: () => reread(id), row: await reread(id) };
}

async function reread(id: string): Promise<DocumentRow> {
  const row = await getDocument(db, id);
  assert.ok(row);
  return row;
}

async function keptOf(objectStore: ObjectStore, companyId: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of objectStore.list(companyPrefix(companyId))) if (key.includes('/pdf/')) keys.push(key);
  return keys;
}

async function cancel({ row }: { row: DocumentRow }): Promise<void> {
  await newDocument(db, {
    company_id: row.companyId,
    kind: 'procEventoNFe',
    key: row.key,
    event_type: '110111',
    event: JSON.stringify({ type: '110111', registeredAt: '2026-12-03T08:01:02-03:00', protocol: '135260000009999' }),
    state: 'cancelled',
  });
  await db.query("update documents set state = 'cancelled' where id = $1", [row.id]);
}

const stores: [string, () => Promise<ObjectStore>, string | false][] = [
  ['files', () => openObjectStore(pathToFileURL(scratchFolder('pdfs')).href), false],
  ['S3', async () => openObjectStore(await s3.newUrl()), s3.skip],
];
for (const [name, open, skip] of stores) {
  describe(`PDFs kept in ${name}`, { skip }, async () => {
    const objectStore = skip ? (undefined as never) : await open();

    test('made once, kept below the company, and reused by every process', async () => {
      const note = await newNote(objectStore);
      const one = service(objectStore);
      const pdf = await one.pdfs.get(note.row);
      assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
      const [key, ...others] = await keptOf(objectStore, note.companyId);
      assert.ok(key?.startsWith(companyPrefix(note.companyId)) && others.length === 0, key);
      const another = service(objectStore);
      assert.deepEqual(await another.pdfs.get(note.row), pdf);
      assert.deepEqual(await one.pdfs.get(note.row), pdf);
      assert.deepEqual([one.asked.length, another.asked.length], [1, 0]);
    });

    test('20 first requests at once make one', async () => {
      const note = await newNote(objectStore);
      const { pdfs, asked } = service(objectStore);
      const all = await Promise.all(Array.from({ length: 20 }, () => pdfs.get(note.row)));
      assert.equal(new Set(all.map((pdf) => createHash('sha256').update(pdf).digest('hex'))).size, 1);
      assert.equal(asked.length, 1);
      assert.equal((await keptOf(objectStore, note.companyId)).length, 1);
    });

    test('of a note that was cancelled meanwhile: made again, in the place of the one before', async () => {
      const note = await newNote(objectStore);
      const { pdfs, asked } = service(objectStore);
      const before = await pdfs.get(note.row);
      await cancel(note);
      const afterwards = await pdfs.get(await note.reread());
      assert.notDeepEqual(afterwards, before);
      assert.deepEqual(asked[1]?.situation, {
        state: 'cancelled',
        cancelledAt: '2026-12-03T08:01:02-03:00',
        cancellationProtocol: '135260000009999',
      });
      assert.equal((await keptOf(objectStore, note.companyId)).length, 1);
      assert.deepEqual(await pdfs.get(await note.reread()), afterwards);
      assert.equal(asked.length, 2);
    });

    test('one whose object is gone or damaged is made again', async () => {
      const note = await newNote(objectStore);
      const { pdfs, asked } = service(objectStore);
      const pdf = await pdfs.get(note.row);
      const [key] = await keptOf(objectStore, note.companyId);
      await objectStore.delete(key ?? '');
      assert.deepEqual(await pdfs.get(note.row), pdf);
      await objectStore.put(key ?? '', Buffer.from('%PDF-1.3 something else'));
      assert.deepEqual(await pdfs.get(note.row), pdf);
      assert.deepEqual(await pdfs.get(note.row), pdf);
      assert.equal(asked.length, 3);
    });

    test('deleting what is below the company takes them along', async () => {
      const note = await newNote(objectStore);
      const { pdfs } = service(objectStore);
      await pdfs.get(note.row);
      await objectStore.deletePrefix(companyPrefix(note.companyId));
      await db.query('delete from documents where company_id = $1', [note.companyId]);
      assert.deepEqual(await keptOf(objectStore, note.companyId), []);
      assert.equal((await db.query('select from pdfs where document_id = $1', [note.row.id])).rowCount, 0);
    });
  });
}

describe('PDFs of documents', async () => {
  const objectStore = await openObjectStore(pathToFileURL(scratchFolder('pdfs')).href);

  test('of a document that was deleted while it was made nothing stays', async () => {
    const note = await newNote(objectStore);
    await db.query('delete from documents where id = $1', [note.row.id]);
    assert.ok((await service(objectStore).pdfs.get(note.row)).length > 1000);
    assert.deepEqual(await keptOf(objectStore, note.companyId), []);
  });

  test('a correction letter is made each time; other events and summaries have none, whatever their bytes are', async () => {
    const { pdfs, asked } = service(objectStore);
    const event = (type: string) => ({ kind: 'procEventoNFe', event_type: type, event: JSON.stringify({ type }) });
    const letter = await newNote(objectStore, event('110110'), correctionLetterXml());
    await pdfs.get(letter.row);
    await pdfs.get(letter.row);
    assert.deepEqual([asked.length, await keptOf(objectStore, letter.companyId)], [2, []]);
    for (const fields of [event('110111'), { kind: 'resNFe' }, { kind: 'unknown' }, { kind: 'procLater' }]) {
      const none = await newNote(objectStore, { ...fields, object_key: 'nowhere' });
      await assert.rejects(pdfs.get(none.row), NoPdf);
    }
    assert.equal(asked.length, 2);
  });

  test('one that cannot be printed is not kept, and says why each time', async () => {
    const { pdfs } = service(objectStore);
    const note = await newNote(objectStore, {}, '<nfeProc>');
    for (let time = 0; time < 2; time++) {
      await assert.rejects(pdfs.get(note.row), (error) => error instanceof PdfFailed && error.failure === 'unreadable');
    }
    assert.deepEqual(await keptOf(objectStore, note.companyId), []);
  });

  test('of many different ones at once only a few are in hand, and past a number they are turned away', async () => {
    const note = await newNote(objectStore, { kind: 'procCTe' });
    let [inHand, most] = [0, 0];
    const waiting: (() => void)[] = [];
    const pdfs = new DocumentPdfs({
      database: db,
      objectStore,
      renderPdf: async () => {
        inHand += 1;
        most = Math.max(most, inHand);
        await new Promise<void>((resolve) => waiting.push(resolve));
        inHand -= 1;
        return Buffer.from('%PDF-');
      },
    });
    const results = Array.from({ length: 230 }, () =>
      pdfs.get({ ...note.row, id: randomUUID() }).then(
        () => 'made',
        (error: unknown) => (error instanceof PdfsBusy ? 'busy' : error),
      ),
    );
    let settled = false;
    const all = Promise.all(results).finally(() => {
      settled = true;
    });
    while (!settled) {
      for (const go of waiting.splice(0)) go();
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(most <= 8, `${most} at once`);
    const outcomes = await all;
    assert.deepEqual([...new Set(outcomes)].toSorted(), ['busy', 'made']);
    assert.ok(outcomes.filter((outcome) => outcome === 'made').length >= 200);
  });
});
