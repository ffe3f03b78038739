import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import type { CaptureKey } from '../../src/model/words.js';
import { getReprocess, insertReprocess } from '../../src/storage/reprocess-requests.js';
import { docZip, key, note, summary } from '../documents/samples.js';
import { documents, html, refusal, summaries } from './government.js';
import { ask, asked, one } from './point-support.js';
import { alertsOf, committed, count, eventsOf, newCapture, query, run, world } from './support.js';

const w = await world();

async function archiveOf(capture: CaptureKey): Promise<string> {
  const { rows } = await w.db.query<{ id: string }>(
    'select id from archives where company_id = $1 order by captured_at desc limit 1',
    [capture.companyId],
  );
  return rows[0]?.id ?? '';
}

/** Decodes the capture's last archive again. */
async function again(capture: CaptureKey, activities = w.activities) {
  const archiveId = await archiveOf(capture);
  const id = randomUUID();
  await insertReprocess(w.db, { ...capture, id, archiveId, createdAt: await w.clock.now() });
  const result = await run(activities.archives.decodeArchive, { capture, archiveId, requestId: id });
  const request = await getReprocess(w.db, id);
  return { result, status: request?.status, reason: request?.reason, ids: request?.documentIds ?? [] };
}

describe('an archive that is decoded again', () => {
  test('asks nobody; documents that are here stay as they are and make no webhook', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents(summaries(1, 5, key), 5));
    committed(await query(w, capture));
    const [events, calls] = [await eventsOf(w, capture.companyId), w.government.calls];
    const { result, status, ids } = await again(capture);
    assert.deepEqual([result, status, ids.length], [{ documents: 5, fresh: 0, failed: 0 }, 'done', 5]);
    assert.deepEqual(await eventsOf(w, capture.companyId), events);
    assert.equal(w.government.calls, calls);
  });

  test('rows that were lost come back, are told of and counted', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents(summaries(11, 15, key), 15));
    committed(await query(w, capture));
    await w.db.query('delete from documents where company_id = $1 and nsu > 13', [capture.companyId]);
    const events = await count(w, 'events', capture.companyId);
    assert.deepEqual((await again(capture)).result, { documents: 5, fresh: 2, failed: 0 });
    assert.equal(await count(w, 'events', capture.companyId), events + 2);
    const { rows } = await w.db.query('select origin from documents where company_id = $1 and nsu > 13', [
      capture.companyId,
    ]);
    assert.deepEqual(rows, [{ origin: 'reprocess' }, { origin: 'reprocess' }]);
  });

  test('what a newer version can read ends its failed item, its recovery item and the alert', async () => {
    const capture = await newCapture(w);
    w.government.answers(documents([{ nsu: 1, xml: summary({ key: key(1_001) }) }], 1));
    const older = w.process({ decodeItem: () => ({ ok: false, failure: 'gzip', detail: 'an older version' }) });
    committed(await query(w, capture, older));
    assert.deepEqual(await alertsOf(w, capture.companyId), ['item_failed']);
    assert.deepEqual((await again(capture)).result, { documents: 1, fresh: 1, failed: 0 });
    assert.deepEqual(await alertsOf(w, capture.companyId), []);
    const { rows } = await w.db.query('select status from gaps where company_id = $1', [capture.companyId]);
    assert.deepEqual(rows, [{ status: 'recovered' }]);
    assert.deepEqual(
      (await again(capture, older)).result,
      { documents: 0, fresh: 0, failed: 1 },
      'an older one does no harm',
    );
    assert.equal(await count(w, 'documents', capture.companyId), 1);
  });

  test('of a query by key too, without numbers; and of consNSU, whose number the answer need not print', async () => {
    const capture = await newCapture(w);
    w.government.answers(one({ nsu: null, xml: note({ key: key(1_010) }) }));
    asked(await ask(w, capture, key(1_010)));
    assert.deepEqual((await again(capture)).result, { documents: 1, fresh: 0, failed: 0 });
    w.government.answers(one({ nsu: null, xml: note({ key: key(1_011) }) }));
    asked(await ask(w, capture, 77));
    await w.db.query('delete from documents where company_id = $1 and nsu = 77', [capture.companyId]);
    assert.deepEqual((await again(capture)).result, { documents: 1, fresh: 1, failed: 0 });
    const { rows } = await w.db.query('select nsu from documents where company_id = $1 and nsu is not null', [
      capture.companyId,
    ]);
    assert.deepEqual(rows, [{ nsu: '77' }]);
  });

  test('without documents there is nothing to decode; a lost or changed object is said so', async () => {
    for (const answer of [html(), refusal('589')]) {
      const capture = await newCapture(w);
      w.government.answers(answer);
      committed(await query(w, capture));
      const { status, reason } = await again(capture);
      assert.deepEqual([status, reason], ['not_available', 'no_documents']);
    }
    const capture = await newCapture(w);
    w.government.answers(documents([{ nsu: 1, base64: docZip(summary({ key: key(1_020) })).toString('latin1') }], 1));
    committed(await query(w, capture));
    const { rows } = await w.db.query<{ key: string }>('select object_key as key from archives where company_id = $1', [
      capture.companyId,
    ]);
    await w.deps.objectStore.put(rows[0]?.key ?? '', Buffer.from('other bytes'));
    assert.equal((await again(capture)).reason, 'archive_damaged');
    await w.deps.objectStore.delete(rows[0]?.key ?? '');
    assert.equal((await again(capture)).reason, 'archive_missing');
  });

  test("another company's archive is none", async () => {
    const [theirs, ours] = [await newCapture(w), await newCapture(w)];
    w.government.answers(documents(summaries(1, 1, key), 1));
    committed(await query(w, theirs));
    const input = { capture: ours, archiveId: await archiveOf(theirs), requestId: randomUUID() };
    await assert.rejects(run(w.activities.archives.decodeArchive, input), { type: 'company_unknown' });
  });
});
