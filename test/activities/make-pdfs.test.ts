import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { DocumentMetadata } from '../../src/model/document.js';
import type { OnDemandResult } from '../../src/model/on-demand.js';
import type { CaptureKey, CaptureOptions } from '../../src/model/words.js';
import { DocumentPdfs, PdfFailed, type PdfFailure, type PdfRequest } from '../../src/pdf/index.js';
import { getDocument } from '../../src/storage/documents.js';
import { companyPrefix, ObjectStoreUnavailable } from '../../src/storage/object-store/index.js';
import { nfse, nfseEvent, nfseKey } from '../documents/nfse-samples.js';
import { newDocument } from '../storage/documents-support.js';
import { type AdnItem, ScriptedAdn } from './adn-government.js';
import { committed, dies, dyingAt, MINUTE, newCapture, nextActivity, query, run, world } from './support.js';

const adn = new ScriptedAdn();
/** What the next PDFs become: bytes, or a failure. */
let failing: PdfFailure | null = null;
const asked: PdfRequest[] = [];
const w = await world({
  services: { nfse: adn.service },
  renderPdf: async (request) => {
    asked.push(request);
    if (failing !== null) throw new PdfFailed(failing, 'as the test wants it');
    return Buffer.from(`%PDF-1.3 ${request.situation.state}`);
  },
});
const { makePdfs } = w.activities.housekeeping;

async function capturing(options: CaptureOptions = {}): Promise<{ capture: CaptureKey; taxId: string }> {
  const capture = await newCapture(w, { documentType: 'nfse', options });
  const { rows } = await w.db.query<{ taxId: string }>('select tax_id as "taxId" from companies where id = $1', [
    capture.companyId,
  ]);
  Object.assign(adn, { box: [] });
  adn.notes.clear();
  asked.length = 0;
  failing = null;
  await w.db.query('delete from pdfs');
  return { capture, taxId: rows[0]?.taxId ?? '' };
}

const note = (number: number, taker: string, more: Parameters<typeof nfse>[0] = {}): AdnItem => ({
  nsu: number,
  xml: nfse({ key: nfseKey(number), taker, ...more }),
});

/** One run of the workflow: its activity, tried again as Temporal does until the certificate's turn has come. */
async function onDemand(capture: CaptureKey, key: string): Promise<void> {
  const info = { workflowExecution: { workflowId: 'w', runId: randomUUID() }, activityId: '1' };
  for (;;) {
    try {
      const environment = new MockActivityEnvironment(info);
      const result: OnDemandResult = await environment.run(w.activities.government.captureOnDemand, { capture, key });
      assert.equal(result.kind, 'document');
      return;
    } catch (error) {
      if ((error as { type?: string }).type !== 'not_our_turn') throw error;
      w.clock.advance(2_000);
    }
  }
}

interface Row {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly failure: string | null;
  readonly kind: string;
  readonly minutes: number | null;
}

async function rowsOf({ companyId }: CaptureKey): Promise<Row[]> {
  const now = await w.clock.now();
  const { rows } = await w.db.query<Omit<Row, 'minutes'> & { next: number | null; metadata: DocumentMetadata }>(
    `select d.id, p.status, p.attempts, p.failure, d.kind, p.next_attempt_at as next from pdfs p
     join documents d on d.id = p.document_id where d.company_id = $1 order by d.nsu`,
    [companyId],
  );
  return rows.map(({ next, ...row }) => ({
    ...row,
    minutes: next === null ? null : Math.max(Math.round((next - now) / MINUTE), 0),
  }));
}

const statuses = async (capture: CaptureKey) => (await rowsOf(capture)).map(({ status }) => status);

describe('PDFs made in the background', () => {
  test('those of NFS-e are queued with their page, and made and kept by housekeeping', async () => {
    const { capture, taxId } = await capturing();
    adn.box = [note(1, taxId), note(2, taxId), { nsu: 3, xml: nfseEvent({ key: nfseKey(2) }) }];
    committed(await query(w, capture));
    assert.equal(asked.length, 0, 'not by the page');
    assert.deepEqual(
      (await rowsOf(capture)).map(({ status, kind, minutes }) => [status, kind, minutes]),
      [
        ['pending', 'NFSe', 0],
        ['pending', 'NFSe', 0],
      ],
    );
    assert.deepEqual(await run(makePdfs), { made: 2, failed: 0 });
    assert.deepEqual(asked.map(({ kind, situation }) => [kind, situation.state]).toSorted(), [
      ['NFSe', 'authorized'],
      ['NFSe', 'cancelled'],
    ]);
    assert.deepEqual(await statuses(capture), ['done', 'done']);
    const kept: string[] = [];
    for await (const { key } of w.deps.objectStore.list(companyPrefix(capture.companyId))) {
      if (key.includes('/pdf/')) kept.push(key);
    }
    assert.equal(kept.length, 2);
    assert.deepEqual(await run(makePdfs), { made: 0, failed: 0 });
    // Whoever asks for one gets it from there.
    const row = await getDocument(w.db, (await rowsOf(capture))[0]?.id ?? '');
    assert.ok(row);
    assert.equal((await new DocumentPdfs(w.deps).get(row)).toString(), '%PDF-1.3 authorized');
    assert.equal(asked.length, 2);
  });

  test('a page that rolls back queues nothing, and one that is repeated nothing twice', async () => {
    const { capture, taxId } = await capturing();
    adn.box = [note(1, taxId)];
    const dying = w.process({ failpoint: dyingAt('inside_transaction') });
    const activity = await nextActivity(w, capture);
    await dies(activity.attempt(dying));
    assert.deepEqual(await statuses(capture), []);
    committed(await activity.attempt(w.activities));
    assert.deepEqual(await statuses(capture), ['pending']);
  });

  test('on demand, too; it is the same one when the note comes by distribution', async () => {
    const { capture, taxId } = await capturing();
    const { xml } = note(7, taxId);
    adn.notes.set(nfseKey(7), String(xml));
    await onDemand(capture, nfseKey(7));
    assert.deepEqual(await statuses(capture), ['pending']);
    adn.box = [note(7, taxId)];
    w.clock.advance(3_000);
    committed(await query(w, capture));
    assert.deepEqual(await statuses(capture), ['pending']);
    assert.deepEqual(await run(makePdfs), { made: 1, failed: 0 });
  });

  test('not of what the customer chose not to have', async () => {
    const { capture, taxId } = await capturing({ cutoffDate: '2099-01-01' });
    adn.box = [note(1, taxId), { nsu: 2, xml: nfse({ key: nfseKey(2), provider: taxId }) }];
    committed(await query(w, capture));
    assert.deepEqual(await rowsOf(capture), []);
  });

  test('not of NF-e, of which nobody may ever ask for the paper', async () => {
    const { capture } = await capturing();
    await newDocument(w.db, { company_id: capture.companyId });
    assert.deepEqual(await run(makePdfs), { made: 0, failed: 0 });
  });

  test('more than a batch', async () => {
    const { capture, taxId } = await capturing();
    for (let page = 0; page < 3; page++) {
      adn.box = Array.from({ length: 50 }, (_, at) => note(1 + page * 50 + at, taxId));
      committed(await query(w, capture));
      w.clock.advance(3_000);
    }
    assert.deepEqual(await run(makePdfs), { made: 150, failed: 0 });
  });

  test('one that cannot be printed is given up at once and keeps no other waiting', async () => {
    const { capture, taxId } = await capturing();
    adn.box = [note(1, taxId)];
    committed(await query(w, capture));
    failing = 'contradiction';
    assert.deepEqual(await run(makePdfs), { made: 0, failed: 1 });
    const [row] = await rowsOf(capture);
    assert.deepEqual([row?.status, row?.failure, row?.minutes], ['failed', 'contradiction', null]);
    // Somebody who asks gets another try.
    failing = null;
    const document = await getDocument(w.db, row?.id ?? '');
    assert.ok(document);
    assert.ok(await new DocumentPdfs(w.deps).get(document));
    const [after] = await rowsOf(capture);
    assert.deepEqual([after?.status, after?.failure], ['done', null]);
  });

  test('one that was too slow is tried again, later and later, eight times', async () => {
    const { capture, taxId } = await capturing();
    adn.box = [note(1, taxId)];
    committed(await query(w, capture));
    failing = 'too_slow';
    const waits: (number | null)[] = [];
    for (let attempt = 1; attempt <= 8; attempt++) {
      assert.deepEqual(await run(makePdfs), { made: 0, failed: 1 }, `attempt ${attempt}`);
      assert.deepEqual(await run(makePdfs), { made: 0, failed: 0 }, 'not before its time');
      const [row] = await rowsOf(capture);
      assert.equal(row?.attempts, attempt);
      waits.push(row?.minutes ?? null);
      w.clock.advance((row?.minutes ?? 0) * MINUTE + 1_000);
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, null]);
    assert.deepEqual(await statuses(capture), ['failed']);
  });

  test('one whose archive is gone waits for the backup', async () => {
    const { capture, taxId } = await capturing();
    adn.box = [note(1, taxId)];
    committed(await query(w, capture));
    const [row] = await rowsOf(capture);
    const document = await getDocument(w.db, row?.id ?? '');
    assert.ok(document);
    const bytes = await w.deps.objectStore.get(document.objectKey);
    await w.deps.objectStore.delete(document.objectKey);
    assert.deepEqual(await run(makePdfs), { made: 0, failed: 1 });
    assert.equal((await rowsOf(capture))[0]?.failure, 'content_damaged');
    await w.deps.objectStore.put(document.objectKey, bytes);
    w.clock.advance(MINUTE + 1_000);
    assert.deepEqual(await run(makePdfs), { made: 1, failed: 0 });
  });

  test('an object store that is away counts against nobody', async () => {
    const { capture, taxId } = await capturing();
    adn.box = [note(1, taxId)];
    committed(await query(w, capture));
    const { objectStore } = w.deps;
    const away = Object.assign(Object.create(objectStore) as typeof objectStore, {
      put: async () => {
        throw new ObjectStoreUnavailable('ENOSPC', 'put');
      },
      getRange: objectStore.getRange.bind(objectStore),
    });
    await assert.rejects(run(w.process({ objectStore: away }).housekeeping.makePdfs));
    const [row] = await rowsOf(capture);
    assert.deepEqual([row?.status, row?.attempts], ['pending', 0]);
    assert.deepEqual(await run(makePdfs), { made: 1, failed: 0 });
  });
});
