import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { Activities } from '../../src/activities/index.js';
import type { OnDemandResult } from '../../src/model/on-demand.js';
import type { CaptureKey } from '../../src/model/words.js';
import { nfse, nfseEvent, nfseKey } from '../documents/nfse-samples.js';
import { ScriptedAdn } from './adn-government.js';
import { committed, count, dies, dyingAt, eventsOf, HOUR, newCapture, query, rowOf, world } from './support.js';

const adn = new ScriptedAdn();
const w = await world({ services: { nfse: adn.service } });
const KEY = nfseKey(10);

async function capturing(
  options: Parameters<typeof newCapture>[1] = {},
): Promise<{ capture: CaptureKey; taxId: string }> {
  const capture = await newCapture(w, { documentType: 'nfse', ...options });
  const { rows } = await w.db.query<{ taxId: string }>('select tax_id as "taxId" from companies where id = $1', [
    capture.companyId,
  ]);
  adn.box = [];
  adn.asked.length = 0;
  adn.askedSefin.length = 0;
  adn.notes.clear();
  return { capture, taxId: rows[0]?.taxId ?? '' };
}

/** One run of the workflow: its activity, tried again as Temporal does until it has an end. */
async function onDemand(
  capture: CaptureKey,
  key = KEY,
  activities: Activities = w.activities,
  info = { workflowExecution: { workflowId: 'w', runId: randomUUID() }, activityId: '1' },
): Promise<OnDemandResult> {
  for (;;) {
    const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
    try {
      return await environment.run(activities.government.captureOnDemand, { capture, key });
    } catch (error) {
      if ((error as { type?: string }).type !== 'not_our_turn') throw error;
      w.clock.advance(2_000);
    }
  }
}

const documentsOf = async ({ companyId }: CaptureKey) =>
  (
    await w.db.query<{ nsu: string | null; kind: string; state: string; origin: string; told: boolean }>(
      `select nsu::text, kind, state, origin, suppressed is null as told from documents where company_id = $1 order by kind, nsu`,
      [companyId],
    )
  ).rows;

async function drain(capture: CaptureKey): Promise<void> {
  for (;;) {
    w.clock.advance(3_000);
    if (committed(await query(w, capture)).outcome !== 'documents') return;
  }
}

describe('capture on demand', () => {
  test('the note with its events: a cancelled one shows as cancelled; nobody is told', async () => {
    const { capture, taxId } = await capturing();
    adn.notes.set(KEY, nfse({ taker: taxId }));
    adn.box = [{ nsu: 9, xml: nfseEvent() }];
    const result = await onDemand(capture);
    assert.equal(result.kind, 'document');
    assert.deepEqual(await documentsOf(capture), [
      { nsu: null, kind: 'NFSe', state: 'cancelled', origin: 'on_demand', told: false },
      { nsu: null, kind: 'evento', state: 'cancelled', origin: 'on_demand', told: false },
    ]);
    assert.deepEqual(await eventsOf(w, capture.companyId), []);
    assert.deepEqual([adn.askedSefin, (await rowOf(w, capture)).state.ultNsu], [[KEY], '000000000000000']);
  });

  test('local first: asked for again, nothing leaves', async () => {
    const { capture, taxId } = await capturing();
    adn.notes.set(KEY, nfse({ taker: taxId }));
    const first = await onDemand(capture);
    assert.deepEqual(await onDemand(capture), first);
    assert.equal(adn.askedSefin.length, 1);
  });

  test('events that could not be read: the note says so, and only they are asked for again', async () => {
    const warnings = async ({ companyId }: CaptureKey) =>
      (
        await w.db.query<{ codes: string[] }>(
          `select array(select split_part(x, ':', 1) from unnest(warnings) x) as codes from documents where company_id = $1 and kind = 'NFSe'`,
          [companyId],
        )
      ).rows[0]?.codes;
    const { capture, taxId } = await capturing();
    adn.notes.set(KEY, nfse({ taker: taxId }));
    adn.box = [{ nsu: 9, xml: nfseEvent() }];
    adn.next = 'unknown';
    const first = await onDemand(capture);
    assert.equal(first.kind, 'document');
    assert.deepEqual(
      [await warnings(capture), (await documentsOf(capture)).map(({ state }) => state)],
      [['events_not_read'], ['authorized']],
    );
    // In vain once more: it stays said, and is not said twice.
    w.clock.advance(5 * 60_000);
    adn.next = { status: 404, body: '<html></html>' };
    assert.deepEqual(await onDemand(capture), first);
    assert.deepEqual(await warnings(capture), ['events_not_read']);
    w.clock.advance(5 * 60_000);
    assert.deepEqual(await onDemand(capture), first);
    assert.deepEqual(
      [await warnings(capture), (await documentsOf(capture)).map(({ state }) => state)],
      [[], ['cancelled', 'cancelled']],
    );
    assert.deepEqual([adn.askedSefin.length, adn.asked.length], [1, 3]);
    await onDemand(capture);
    assert.equal(adn.asked.length, 3);
  });

  test('events that could not be read come by distribution, as the note does', async () => {
    const { capture, taxId } = await capturing();
    const note = nfse({ taker: taxId });
    adn.notes.set(KEY, note);
    adn.next = 'unknown';
    await onDemand(capture);
    w.clock.advance(5 * 60_000);
    adn.box = [{ nsu: 5, xml: note }];
    await drain(capture);
    const { rows } = await w.db.query<{ warnings: string[] }>('select warnings from documents where company_id = $1', [
      capture.companyId,
    ]);
    assert.deepEqual(rows, [{ warnings: [] }]);
  });

  test('on demand and then by distribution: one row each, one webhook each', async () => {
    const { capture, taxId } = await capturing();
    const note = nfse({ taker: taxId });
    adn.notes.set(KEY, note);
    adn.box = [
      { nsu: 5, xml: note },
      { nsu: 9, xml: nfseEvent() },
    ];
    await onDemand(capture);
    await drain(capture);
    assert.deepEqual(
      (await documentsOf(capture)).map(({ nsu, kind, told }) => [nsu, kind, told]),
      [
        ['5', 'NFSe', true],
        ['9', 'evento', true],
      ],
    );
    const told = ['service_invoice_inbound/issued_successfully', 'service_invoice_inbound/event_raised_successfully'];
    assert.deepEqual(await eventsOf(w, capture.companyId), told);
    w.clock.advance(HOUR);
    adn.box.push({ nsu: 12, xml: nfse({ key: nfseKey(11), taker: taxId }) });
    await drain(capture);
    assert.equal((await eventsOf(w, capture.companyId)).length, 3);
  });

  test('in other bytes it is the same document all the same: the first bytes stay, and a warning says so', async () => {
    const { capture, taxId } = await capturing();
    const note = nfse({ taker: taxId });
    adn.notes.set(KEY, note);
    adn.box = [{ nsu: 9, xml: nfseEvent() }];
    await onDemand(capture);
    adn.box = [
      { nsu: 5, xml: note.replaceAll('><', '>\n<') },
      { nsu: 9, xml: `${nfseEvent()}\n` },
      // Another event of the note is another document.
      { nsu: 10, xml: nfseEvent({ type: '203202' }) },
    ];
    await drain(capture);
    assert.deepEqual(
      (await documentsOf(capture)).map(({ nsu, kind, told, origin }) => [nsu, kind, told, origin]),
      [
        ['5', 'NFSe', true, 'on_demand'],
        ['10', 'evento', true, 'distribution'],
        ['9', 'evento', true, 'on_demand'],
      ],
    );
    assert.equal((await eventsOf(w, capture.companyId)).length, 3);
    const { rows } = await w.db.query<{ warned: string[] }>(
      `select array_agg(left(warning, 11)) as warned from documents, unnest(warnings) as warning
       where company_id = $1 and warning like 'other_bytes%'`,
      [capture.companyId],
    );
    assert.deepEqual(rows[0]?.warned, ['other_bytes', 'other_bytes']);
  });

  test('by distribution first: the same row is the answer', async () => {
    const { capture, taxId } = await capturing();
    const note = nfse({ taker: taxId });
    adn.notes.set(KEY, note);
    adn.box = [{ nsu: 5, xml: note }];
    await drain(capture);
    assert.equal((await onDemand(capture)).kind, 'document');
    assert.deepEqual([await count(w, 'documents', capture.companyId), adn.askedSefin], [1, []]);
  });

  test('what the customer does not want to be told of is not told when it comes by distribution', async () => {
    const { capture, taxId } = await capturing();
    const note = nfse({ provider: taxId });
    adn.notes.set(KEY, note);
    adn.box = [{ nsu: 5, xml: note }];
    await onDemand(capture);
    await drain(capture);
    const [row] = await documentsOf(capture);
    assert.deepEqual([row?.nsu, row?.told, await eventsOf(w, capture.companyId)], ['5', false, []]);
  });

  test('an event that comes by distribution waits for its note, though that was here on demand', async () => {
    const { capture, taxId } = await capturing();
    const note = nfse({ taker: taxId });
    adn.notes.set(KEY, note);
    await onDemand(capture);
    adn.box = [{ nsu: 4, xml: nfseEvent({ type: '203202' }) }];
    await drain(capture);
    assert.deepEqual(await eventsOf(w, capture.companyId), []);
    w.clock.advance(HOUR);
    adn.box.push({ nsu: 5, xml: note });
    await drain(capture);
    assert.deepEqual(await eventsOf(w, capture.companyId), [
      'service_invoice_inbound/issued_successfully',
      'service_invoice_inbound/event_raised_successfully',
    ]);
  });

  test('a key that nobody has, and a capture that may not ask', async () => {
    const { capture } = await capturing();
    assert.deepEqual(await onDemand(capture), { kind: 'none', statusCode: 'E2240' });
    const without = await capturing({ certificate: false });
    const refused = await onDemand(without.capture);
    assert.ok(refused.kind === 'refused' && refused.refusal.reason === 'certificate');
    adn.next = { status: 429, body: '<h1>429</h1>' };
    const throttled = await capturing();
    await query(w, throttled.capture);
    const blocked = await onDemand(throttled.capture);
    assert.ok(blocked.kind === 'refused' && blocked.refusal.reason === 'blocked');
  });

  test('Sefin that fails is Sefin that fails: distribution goes on, and is told of no outage', async () => {
    // Nobody was answered lately.
    w.clock.advance(HOUR);
    adn.sefinFails = true;
    for (let i = 0; i < 7; i++) {
      const { capture } = await capturing();
      const { kind } = await onDemand(capture);
      assert.ok(i < 5 ? kind === 'failed' : kind === 'refused', `${i} ${kind}`);
    }
    adn.sefinFails = false;
    const { rows } = await w.db.query<{ service: string }>(
      'select service from services where paused_until is not null',
    );
    assert.deepEqual(
      rows.map(({ service }) => service),
      ['nfse-sefin'],
    );
    const { capture } = await capturing();
    assert.equal(committed(await query(w, capture)).outcome, 'none');
    // Its own pause ends by itself, and one call finds out that it is over.
    w.clock.advance(HOUR);
    assert.equal((await onDemand(capture)).kind, 'none');
  });

  test('a process that dies after the note: its events are asked for, the note is not asked for again', async () => {
    const { capture, taxId } = await capturing();
    adn.notes.set(KEY, nfse({ taker: taxId }));
    adn.box = [{ nsu: 9, xml: nfseEvent() }];
    const info = { workflowExecution: { workflowId: 'w', runId: randomUUID() }, activityId: '1' };
    await dies(onDemand(capture, KEY, w.process({ failpoint: dyingAt('after_archive') }), info));
    assert.equal((await onDemand(capture, KEY, w.activities, info)).kind, 'document');
    assert.deepEqual(
      [adn.askedSefin.length, (await documentsOf(capture)).map(({ state }) => state)],
      [1, ['cancelled', 'cancelled']],
    );
  });
});
