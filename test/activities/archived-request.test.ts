import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DistributionQuestion, DistributionService } from '../../src/activities/index.js';
import type { CallAnswer } from '../../src/government/types.js';
import type { CaptureKey } from '../../src/model/words.js';
import { ObjectNotFound } from '../../src/storage/object-store/index.js';
import { cte } from '../documents/cte-samples.js';
import { documents, none, ScriptedGovernment } from './government.js';
import { dies, dyingAt, newCapture, nextActivity, query, world } from './support.js';

const REQUEST = Buffer.from('<soap/>');
let next: CallAnswer = none();
/** A service that keeps its requests, as CT-e's does. */
const keeping: DistributionService = {
  keepsRequests: true,
  ask: async ({ beforeSend }: DistributionQuestion) => {
    beforeSend();
    return { ...next, request: REQUEST };
  },
  read: new ScriptedGovernment().read,
};
const w = await world({ services: { cte: keeping } });

async function archivesOf({ companyId }: CaptureKey): Promise<{ objectKey: string; requestKey: string | null }[]> {
  const { rows } = await w.db.query<{ objectKey: string; requestKey: string | null }>(
    'select object_key as "objectKey", request_key as "requestKey" from archives where company_id = $1',
    [companyId],
  );
  return rows;
}

describe('the request of a service that keeps its requests', () => {
  test('is archived beside the answer', async () => {
    const capture = await newCapture(w, { documentType: 'cte' });
    next = documents([{ nsu: 1, xml: cte() }], 1);
    await query(w, capture);
    const [archive] = await archivesOf(capture);
    assert.ok(archive?.requestKey);
    assert.deepEqual(await w.deps.objectStore.get(archive.requestKey), REQUEST);
    assert.deepEqual(await w.deps.objectStore.get(archive.objectKey), next.raw?.body);
  });

  test('of a 137 is not: idle captures write no objects', async () => {
    const capture = await newCapture(w, { documentType: 'cte' });
    next = none();
    await query(w, capture);
    assert.deepEqual(await archivesOf(capture), []);
    const { rows } = await w.db.query<{ key: string }>('select archive_key as key from calls where company_id = $1', [
      capture.companyId,
    ]);
    for (const suffix of ['', '.request']) {
      await assert.rejects(w.deps.objectStore.get(`${rows[0]?.key}${suffix}`), ObjectNotFound);
    }
  });

  test('is found again by an attempt that finds the answer of a dead one', async () => {
    const capture = await newCapture(w, { documentType: 'cte' });
    next = documents([{ nsu: 1, xml: cte() }], 1);
    const activity = await nextActivity(w, capture);
    await dies(activity.attempt(w.process({ failpoint: dyingAt('after_archive') })));
    await activity.attempt(w.activities);
    const [archive] = await archivesOf(capture);
    assert.ok(archive?.requestKey);
    assert.deepEqual(await w.deps.objectStore.get(archive.requestKey), REQUEST);
  });

  test('that was lost leaves an archive without one, never a dead reference', async () => {
    const capture = await newCapture(w, { documentType: 'cte' });
    next = documents([{ nsu: 1, xml: cte() }], 1);
    const activity = await nextActivity(w, capture);
    await dies(activity.attempt(w.process({ failpoint: dyingAt('after_archive') })));
    const { rows } = await w.db.query<{ key: string }>('select archive_key as key from calls where company_id = $1', [
      capture.companyId,
    ]);
    await w.deps.objectStore.delete(`${rows[0]?.key}.request`);
    await activity.attempt(w.activities);
    const [archive] = await archivesOf(capture);
    assert.equal(archive?.requestKey, null);
  });
});
