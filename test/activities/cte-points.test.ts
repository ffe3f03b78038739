import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CaptureOptions } from '../../src/model/words.js';
import { cte, cteKey } from '../documents/cte-samples.js';
import { documents, none, throttled } from './government.js';
import { ask, asked, one, recover, refusalIn } from './point-support.js';
import { committed, HOUR, MINUTE, newCapture, query, rowOf, world } from './support.js';

/** What CT-e's own rules make of point queries; that they work at all is proved with NF-e's. */

const w = await world();
const newCteCapture = (options: CaptureOptions = {}) => newCapture(w, { documentType: 'cte', options });
const item = (nsu: number) => ({ nsu, xml: cte({ key: cteKey(nsu) }), schema: 'procCTe_v4.00.xsd' });

describe('point queries of CT-e', () => {
  test('go on while a 656 blocks distribution', async () => {
    const capture = await newCteCapture();
    w.government.answers(throttled(0));
    assert.equal(committed(await query(w, capture)).statusCode, '656');
    w.government.answers(one(item(3)));
    assert.equal(asked(await ask(w, capture, 3)).outcome, 'documents');
    const { state } = await rowOf(w, capture);
    assert.equal(state.phase, 'blocked');
    assert.ok((state.blockedUntil ?? 0) > (await w.clock.now()) + 60 * MINUTE);
  });

  test('unlike NF-e’s', async () => {
    const capture = await newCapture(w);
    w.government.answers(throttled(0));
    await query(w, capture);
    assert.match(refusalIn(await ask(w, capture, 3)).reason, /suspended|blocked/);
  });

  test('of their own 656 are suspended for an hour; distribution goes on', async () => {
    const capture = await newCteCapture();
    w.government.answers(documents([item(1)], 1, 9));
    await query(w, capture);
    w.government.answers(throttled(0));
    assert.equal(asked(await ask(w, capture, 5)).statusCode, '656');
    assert.equal(refusalIn(await ask(w, capture, 5)).reason, 'suspended');
    w.government.answers(documents([item(2)], 2, 9));
    assert.equal(committed(await query(w, capture)).outcome, 'documents');
    w.clock.advance(1.1 * HOUR);
    w.government.answers(one(item(5)));
    assert.equal(asked(await ask(w, capture, 5)).outcome, 'documents');
  });

  test('archive what they asked', async () => {
    const capture = await newCteCapture();
    const request = Buffer.from('<soap/>');
    w.government.answers({ ...one(item(4)), request });
    await ask(w, capture, 4);
    const { rows } = await w.db.query<{ requestKey: string }>(
      'select request_key as "requestKey" from archives where company_id = $1',
      [capture.companyId],
    );
    assert.deepEqual(await w.deps.objectStore.get(rows[0]?.requestKey ?? ''), request);
  });
});

describe('a number that a page of CT-e left out', () => {
  test('is recovered by consNSU, and told of as the filters say', async () => {
    const capture = await newCteCapture({ interestedParties: ['dispatcher'] });
    w.government.answers(documents([item(1), item(3)], 3));
    await query(w, capture);
    w.clock.advance(HOUR);
    w.government.answers(one(item(2)));
    assert.equal(asked(await recover(w, capture)).outcome, 'documents');
    const { rows } = await w.db.query<{ status: string }>('select status from gaps where company_id = $1', [
      capture.companyId,
    ]);
    assert.deepEqual(rows, [{ status: 'recovered' }]);
    const { rows: documents_ } = await w.db.query<{ nsu: number; origin: string; suppressed: string }>(
      `select nsu::int as nsu, origin, split_part(suppressed, ':', 1) as suppressed from documents where company_id = $1 order by nsu`,
      [capture.companyId],
    );
    assert.deepEqual(documents_, [
      { nsu: 1, origin: 'distribution', suppressed: 'role_not_selected' },
      { nsu: 2, origin: 'recovery', suppressed: 'role_not_selected' },
      { nsu: 3, origin: 'distribution', suppressed: 'role_not_selected' },
    ]);
  });

  test('or passed over by a 137 that moved the cursor', async () => {
    const capture = await newCteCapture();
    w.government.answers(documents([item(1)], 1));
    await query(w, capture);
    w.clock.advance(1.1 * HOUR);
    w.government.answers(none(3));
    await query(w, capture);
    assert.equal((await rowOf(w, capture)).state.ultNsu, '000000000000003');
    w.clock.advance(HOUR);
    w.government.answers(one(item(2)));
    assert.equal(asked(await recover(w, capture)).outcome, 'documents');
  });
});
