import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeItem } from '../../src/documents/index.js';
import type { CaptureKey, CaptureOptions } from '../../src/model/words.js';
import { cte, cteEvent, cteKey, partyXml, sender } from '../documents/cte-samples.js';
import { documents, type Item } from './government.js';
import { count, eventsOf, HOUR, newCapture, query, run, type World, world } from './support.js';

const w = await world();
const RECEIVED = 'transportation_invoice_inbound/issued_successfully';
const EVENT = 'transportation_invoice_inbound/event_raised_successfully';
const SELECTED: CaptureOptions = { interestedParties: ['recipient'] };
const OTHER: CaptureOptions = { interestedParties: ['sender'] };

const newCteCapture = (options: CaptureOptions) => newCapture(w, { documentType: 'cte', options });

async function taxIdOf(capture: CaptureKey): Promise<string> {
  const { rows } = await w.db.query<{ taxId: string }>('select tax_id as "taxId" from companies where id = $1', [
    capture.companyId,
  ]);
  return rows[0]?.taxId ?? '';
}

/** The CT-e that the company receives. */
async function received(capture: CaptureKey): Promise<string> {
  return cte({ parties: sender + partyXml('dest', 'enderDest', await taxIdOf(capture), 'Destinataria Inventada SA') });
}

/** Each page at its time, an hour after the one before. */
async function capturePages(
  capture: CaptureKey,
  pages: string[][],
  world: Pick<World, 'activities'> = w,
): Promise<void> {
  let nsu = 0;
  for (const page of pages) {
    const items = page.map((xml): Item => ({ nsu: ++nsu, xml, schema: 'x' }));
    w.government.answers(documents(items, nsu));
    await query(w, capture, world.activities);
    w.clock.advance(1.1 * HOUR);
  }
}

async function suppressedOf({ companyId }: CaptureKey): Promise<(string | null)[]> {
  const { rows } = await w.db.query<{ suppressed: string | null }>(
    `select split_part(suppressed, ':', 1) as suppressed from documents where company_id = $1 order by nsu`,
    [companyId],
  );
  return rows.map(({ suppressed }) => suppressed);
}

const release = () => run(w.activities.housekeeping.releaseHeld);

describe('an event that comes before its CT-e', () => {
  test('is held, and told of right after its CT-e, once', async () => {
    const capture = await newCteCapture(SELECTED);
    const whole = await received(capture);
    await capturePages(capture, [[cteEvent()]]);
    assert.deepEqual(await suppressedOf(capture), ['waits_for_document']);
    assert.deepEqual(await eventsOf(w, capture.companyId), []);
    assert.equal(await count(w, 'usage_records', capture.companyId), 0);

    w.government.answers(
      documents(
        [
          { nsu: 2, xml: cteEvent({ type: '110110' }) },
          { nsu: 3, xml: whole },
          { nsu: 4, xml: cte({ key: cteKey(9) }) },
        ],
        4,
      ),
    );
    await query(w, capture);
    assert.deepEqual(await suppressedOf(capture), [null, null, null, 'role_not_selected']);
    assert.deepEqual(await eventsOf(w, capture.companyId), [EVENT, RECEIVED, EVENT]);
    assert.equal(await count(w, 'usage_records', capture.companyId), 3);
    assert.equal(await count(w, 'held_documents', capture.companyId), 0);

    w.clock.advance(25 * HOUR);
    await release();
    assert.equal((await eventsOf(w, capture.companyId)).length, 3);
  });

  test('is not told of when its CT-e is not, and its record says why', async () => {
    const capture = await newCteCapture(OTHER);
    await capturePages(capture, [[cteEvent()], [await received(capture)]]);
    assert.deepEqual(await suppressedOf(capture), ['document_not_selected', 'role_not_selected']);
    w.clock.advance(25 * HOUR);
    await release();
    assert.deepEqual(await eventsOf(w, capture.companyId), []);
    assert.equal(await count(w, 'usage_records', capture.companyId), 0);
  });

  test('is told of after 24 hours without one, with its state as it is then', async () => {
    const capture = await newCteCapture(SELECTED);
    await capturePages(capture, [[cteEvent({ type: '110110' })], [cteEvent()]]);
    w.clock.advance(21.7 * HOUR);
    await release();
    assert.deepEqual(await eventsOf(w, capture.companyId), [], 'not 24 hours yet');
    w.clock.advance(0.2 * HOUR);
    await release();
    assert.deepEqual(await eventsOf(w, capture.companyId), [EVENT], 'the first only');
    w.clock.advance(2 * HOUR);
    await release();
    await release();
    assert.deepEqual(await eventsOf(w, capture.companyId), [EVENT, EVENT]);
    assert.deepEqual(await suppressedOf(capture), [null, null]);
    assert.equal(await count(w, 'usage_records', capture.companyId), 2);
    const { rows } = await w.db.query<{ body: string }>('select body from events where company_id = $1', [
      capture.companyId,
    ]);
    for (const { body } of rows) {
      assert.equal(JSON.parse(body).data.suppressed, null);
      assert.equal(JSON.parse(body).data.state, 'cancelled');
    }
  });

  test('waits on the time scale of its capture', async () => {
    const scaled = await newCteCapture(SELECTED);
    const fast = w.process({ timeScale: 60 });
    await w.db.query(`update captures set state = state || '{"timeScale": 60}' where company_id = $1`, [
      scaled.companyId,
    ]);
    await capturePages(scaled, [[cteEvent()]], { activities: fast });
    // An hour passed with the page: more than 24 hours of 60 times the speed.
    await release();
    assert.deepEqual(await eventsOf(w, scaled.companyId), [EVENT]);
  });

  test('waits as well for a CT-e that could not be decoded at first', async () => {
    const capture = await newCteCapture(SELECTED);
    const whole = await received(capture);
    const older = w.process({
      decodeItem: (item, type) => {
        const decoded = decodeItem(item, type);
        return decoded.ok && decoded.document.kind === 'procCTe'
          ? { ok: false, failure: 'internal', detail: 'not known yet' }
          : decoded;
      },
    });
    await capturePages(capture, [[whole, cteEvent()]], { activities: older });
    assert.deepEqual(await suppressedOf(capture), ['waits_for_document']);
    await run(w.activities.housekeeping.decodeFailedItems);
    assert.deepEqual(
      (await eventsOf(w, capture.companyId)).filter((name) => !name.startsWith('capture_alert')),
      [RECEIVED, EVENT],
    );
  });
});

test('in whatever order and pages a CT-e and its events come, each is told of once', async () => {
  const kinds = ['cte', '110111', '110110'];
  const orders = kinds
    .flatMap((a) => kinds.flatMap((b) => kinds.map((c) => [a, b, c])))
    .filter((order) => new Set(order).size === 3);
  for (const order of orders) {
    for (const cuts of [[1, 2], [1], [2], []]) {
      const capture = await newCteCapture(SELECTED);
      const whole = await received(capture);
      const xml = order.map((kind) => (kind === 'cte' ? whole : cteEvent({ type: kind })));
      const bounds = [0, ...cuts, 3];
      await capturePages(
        capture,
        bounds.slice(1).map((end, i) => xml.slice(bounds[i], end)),
      );
      assert.deepEqual(
        (await eventsOf(w, capture.companyId)).sort(),
        [EVENT, EVENT, RECEIVED],
        `${order} cut at ${cuts}`,
      );
      assert.deepEqual(await suppressedOf(capture), [null, null, null]);
    }
  }
});

test('a company’s held documents are nobody else’s', async () => {
  const one = await newCteCapture(SELECTED);
  const other = await newCteCapture(SELECTED);
  await capturePages(one, [[cteEvent()]]);
  await capturePages(other, [[cteEvent()], [await received(other)]]);
  assert.deepEqual(await suppressedOf(one), ['waits_for_document']);
  assert.deepEqual(await eventsOf(w, one.companyId), []);
});

test('endpoints of what is released are woken', async () => {
  const capture = await newCteCapture(SELECTED);
  const endpoint = '00000000-0000-4000-8000-00000000000c';
  await w.db.query(
    `insert into endpoints (id, url, company_ids, key_id, secret) values ($1, 'https://example.com', array[$2]::uuid[], 'k', '')`,
    [endpoint, capture.companyId],
  );
  await capturePages(capture, [[cteEvent()]]);
  w.woken.length = 0;
  w.clock.advance(24 * HOUR);
  assert.ok((await release()).released >= 1);
  assert.ok(w.woken.includes(endpoint));
  assert.equal(await count(w, 'deliveries', capture.companyId), 1);
});
