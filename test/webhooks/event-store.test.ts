import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { feedEvents, insertEvents } from '../../src/storage/events.js';
import { sweepRetention } from '../../src/storage/retention.js';
import { alertEvent, documentEvent } from '../../src/webhooks/body.js';
import { capturePage, document, newCompany, newEndpoint, openDatabase } from './support.js';

const db = await openDatabase();

const queuedFor = async (companyId: string) => {
  const { rows } = await db.query<{ endpoint_id: string; event_id: string; sequence: string }>(
    `select d.endpoint_id, d.event_id, e.sequence from deliveries d join events e on e.id = d.event_id
     where d.company_id = $1 and d.status = 'pending' order by d.next_attempt_at, d.id`,
    [companyId],
  );
  return rows;
};

describe('sequences', () => {
  test('begin at 1 and follow the order of the page; the stored body carries them', async () => {
    const company = await newCompany(db, 'ext-1');
    const documents = await capturePage(db, company, 3);
    const feed = await feedEvents(db, company.id, 0, 100);
    assert.deepEqual(
      feed.map((event) => event.sequence),
      [1, 2, 3],
    );
    for (const [i, { body, sequence }] of feed.entries()) {
      const event = JSON.parse(body);
      assert.equal(event.sequence, sequence);
      assert.equal(event.data.id, documents[i]?.id);
      assert.deepEqual(event.company, { id: company.id, taxId: company.taxId, externalId: 'ext-1' });
    }
  });

  test('a page that rolls back leaves no gap', async () => {
    const company = await newCompany(db);
    await capturePage(db, company, 2);
    const page = db.transaction(async (tx) => {
      const events = [documentEvent(document(company.id), company, Date.now())];
      await insertEvents(tx, { companyId: company.id, at: Date.now(), events });
      throw new Error('rolled back');
    });
    await assert.rejects(page, /rolled back/);
    await capturePage(db, company, 1);
    assert.deepEqual(
      (await feedEvents(db, company.id, 0, 100)).map((event) => event.sequence),
      [1, 2, 3],
    );
  });

  test('under concurrent pages there are no gaps, and a reader of the feed is never shown 8 before 7', async () => {
    const company = await newCompany(db);
    const sizes = Array.from({ length: 40 }, (_, i) => 1 + (i % 7));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    let writing = true;
    const reader = async () => {
      const seen: number[] = [];
      while (writing || seen.length < total) {
        for (const { sequence } of await feedEvents(db, company.id, seen.at(-1) ?? 0, 5)) seen.push(sequence);
      }
      return seen;
    };
    const readers = [reader(), reader()];
    await Promise.all(sizes.map((size) => capturePage(db, company, size)));
    writing = false;
    const expected = Array.from({ length: total }, (_, i) => i + 1);
    for (const seen of await Promise.all(readers)) assert.deepEqual(seen, expected);
  });

  test('deliveries become due in the order of the sequence, whatever clock the pages read before the lock', async () => {
    const endpoint = await newEndpoint(db);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 2, maxLength: 8 }), async (skews) => {
        const company = await newCompany(db);
        await Promise.all(skews.map((skew) => capturePage(db, company, 3, { at: Date.UTC(2026, 10, 30) - skew })));
        const mine = (await queuedFor(company.id)).filter((row) => row.endpoint_id === endpoint.id);
        assert.deepEqual(
          mine.map((row) => Number(row.sequence)),
          mine.map((_, i) => i + 1),
        );
      }),
      { numRuns: 15 },
    );
  });

  test('a company that is not there is an error that says so', async () => {
    const company = { id: randomUUID(), taxId: 'x', externalId: null };
    const events = [documentEvent(document(company.id), company, 0)];
    await assert.rejects(
      db.transaction((tx) => insertEvents(tx, { companyId: company.id, at: 0, events })),
      /does not exist/,
    );
  });

  test('no events, no lock', async () => {
    const woken = await db.transaction((tx) => insertEvents(tx, { companyId: randomUUID(), at: 0, events: [] }));
    assert.deepEqual(woken, []);
  });
});

describe('which endpoints get an event', async () => {
  const mine = await newCompany(db);
  const other = await newCompany(db);
  const all = await newEndpoint(db);
  const ofMine = await newEndpoint(db, { companyIds: [mine.id, other.id] });
  const ofOther = await newEndpoint(db, { companyIds: [other.id] });
  const summaries = await newEndpoint(db, { events: ['product_invoice_inbound_summary'] });
  const invoices = await newEndpoint(db, {
    events: ['product_invoice_inbound', 'capture_alert'],
    companyIds: [mine.id],
  });
  const ofCte = await newEndpoint(db, { companyIds: [mine.id], documentTypes: ['cte'] });
  const ofNfe = await newEndpoint(db, { companyIds: [mine.id], documentTypes: ['nfe'] });
  const disabled = await newEndpoint(db, { companyIds: [mine.id] });
  const deleted = await newEndpoint(db, { companyIds: [mine.id] });
  await db.query(`update endpoints set status = 'disabled' where id = $1`, [disabled.id]);
  await db.query('update endpoints set deleted_at = now() where id = $1', [deleted.id]);
  const named = { all, ofMine, ofOther, summaries, invoices, ofCte, ofNfe, disabled, deleted };
  const here = new Map(Object.entries(named).map(([name, { id }]) => [id, name]));
  const names = (ids: readonly string[]) => ids.flatMap((id) => here.get(id) ?? []).sort();

  test('an NF-e: by company, type of event and type of document; disabled ones hold it and are not woken', async () => {
    const at = Date.now();
    const woken = await db.transaction((tx) =>
      insertEvents(tx, { companyId: mine.id, at, events: [documentEvent(document(mine.id), mine, at)] }),
    );
    assert.deepEqual(names(woken), ['all', 'invoices', 'ofMine', 'ofNfe']);
    const queued = (await queuedFor(mine.id)).map((row) => row.endpoint_id);
    assert.deepEqual(names(queued), ['all', 'disabled', 'invoices', 'ofMine', 'ofNfe']);
  });

  test('an alert of no document type: also those limited to types', async () => {
    const at = Date.now();
    const alert = alertEvent({ code: 'certificate_expiring', detail: 'in 30 days' }, mine, at);
    const woken = await db.transaction((tx) => insertEvents(tx, { companyId: mine.id, at, events: [alert] }));
    assert.deepEqual(names(woken), ['all', 'invoices', 'ofCte', 'ofMine', 'ofNfe']);
  });

  test('an alert of one document type: not those of others', async () => {
    const at = Date.now();
    const alert = alertEvent({ code: 'other_consumer', detail: 'x', documentType: 'cte' }, mine, at);
    const woken = await db.transaction((tx) => insertEvents(tx, { companyId: mine.id, at, events: [alert] }));
    assert.deepEqual(names(woken), ['all', 'invoices', 'ofCte', 'ofMine']);
  });

  test('a page transaction waits for no endpoint row', async () => {
    await db.transaction(async (tx) => {
      await tx.query('select from endpoints for update');
      await capturePage(db, mine, 1);
    });
  });
});

test('a body that is no longer kept leaves the feed, and nothing after it', async () => {
  const company = await newCompany(db);
  await capturePage(db, company, 2, { at: Date.now() - 100 * 86_400_000 });
  await capturePage(db, company, 1);
  await sweepRetention(db, Date.now());
  assert.deepEqual(
    (await feedEvents(db, company.id, 0, 10)).map((event) => event.sequence),
    [3],
  );
  await capturePage(db, company, 1);
  assert.deepEqual(
    (await feedEvents(db, company.id, 3, 10)).map((event) => event.sequence),
    [4],
  );
});
