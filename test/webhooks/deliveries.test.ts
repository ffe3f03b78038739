import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import {
  getDelivery,
  listDeliveries,
  resendDelivery,
  resendDocument,
  resendKey,
  resendPeriod,
} from '../../src/storage/deliveries.js';
import { leaseDue, nextDueAt, recordAttempts, releaseLeases } from '../../src/storage/delivery-queue.js';
import { deleteEndpoint, disableEndpoint } from '../../src/storage/endpoints.js';
import { RETENTION, sweepRetention } from '../../src/storage/retention.js';
import { capturePage, newCompany, newEndpoint, openDatabase } from './support.js';

const db = await openDatabase();
const NOW = Date.UTC(2026, 10, 30, 12);
const MINUTE = 60_000;

/** A company with one endpoint of its own, and `count` events from noon. */
async function withEvents(count: number) {
  const company = await newCompany(db);
  const endpoint = await newEndpoint(db, { companyIds: [company.id] });
  const documents = await capturePage(db, company, count, { at: NOW });
  return { company, endpoint, documents };
}
const lease = (endpointId: string, leaseId = randomUUID(), now = NOW, limit = 100) =>
  leaseDue(db, { endpointId, leaseId, now, until: now + MINUTE, limit });
const succeeded = (deliveryId: string) => ({
  deliveryId,
  at: NOW,
  durationMs: 12,
  statusCode: 200,
  error: null,
  response: 'ok',
  status: 'delivered' as const,
  nextAttemptAt: null,
});
const failed = (deliveryId: string, nextAttemptAt: number) => ({
  ...succeeded(deliveryId),
  statusCode: 500,
  error: 'status: answered 500',
  status: 'pending' as const,
  nextAttemptAt,
});

describe('taking what is due', () => {
  test('in commit order, with the stored body, and only once while the lease lasts', async () => {
    const { endpoint, documents } = await withEvents(5);
    const taken = await lease(endpoint.id);
    assert.deepEqual(
      taken.map((one) => JSON.parse(one.body).data.id),
      documents.map((one) => one.id),
    );
    assert.deepEqual(await lease(endpoint.id), []);
    assert.deepEqual(await lease(endpoint.id, randomUUID(), NOW + MINUTE - 1), []);
    assert.equal((await lease(endpoint.id, randomUUID(), NOW + MINUTE)).length, 5);
  });

  test('not before it is due', async () => {
    const { endpoint } = await withEvents(1);
    assert.deepEqual(await lease(endpoint.id, randomUUID(), NOW - 1), []);
  });

  test('two at the same moment share the work and never a delivery', async () => {
    const { endpoint } = await withEvents(60);
    const shares = await Promise.all(Array.from({ length: 6 }, () => lease(endpoint.id, randomUUID(), NOW, 10)));
    const ids = shares.flat().map((one) => one.id);
    assert.equal(new Set(ids).size, ids.length);
    const locked = await db.transaction(async (tx) => {
      await tx.query('select from deliveries where endpoint_id = $1 for update', [endpoint.id]);
      return lease(endpoint.id, randomUUID(), NOW + 2 * MINUTE);
    });
    assert.deepEqual(locked, [], 'rows that another transaction holds are passed over, not waited for');
  });

  test('what is given back can be taken at once, but only by its holder', async () => {
    const { endpoint } = await withEvents(2);
    const leaseId = randomUUID();
    const ids = (await lease(endpoint.id, leaseId)).map((one) => one.id);
    await releaseLeases(db, randomUUID(), ids);
    assert.deepEqual(await lease(endpoint.id), []);
    await releaseLeases(db, leaseId, ids);
    assert.equal((await lease(endpoint.id)).length, 2);
  });

  test('an event whose body is no longer kept is cancelled instead of being due for ever', async () => {
    const { endpoint } = await withEvents(1);
    await sweepRetention(db, NOW + RETENTION.eventBodies + 1);
    assert.deepEqual(await lease(endpoint.id), []);
    const [row] = (await listDeliveries(db, { endpointId: endpoint.id }, { limit: 5 })).rows;
    assert.deepEqual([row?.status, row?.lastError], ['cancelled', 'expired: the event is no longer kept']);
    assert.equal(await nextDueAt(db, endpoint.id, NOW), null);
  });
});

describe('recording attempts', () => {
  test('moves deliveries on and keeps every attempt', async () => {
    const { endpoint } = await withEvents(2);
    const leaseId = randomUUID();
    const [a, b] = await lease(endpoint.id, leaseId);
    assert.ok(a && b);
    await recordAttempts(db, leaseId, [succeeded(a.id), failed(b.id, NOW + MINUTE)]);
    const delivered = await getDelivery(db, a.id);
    assert.deepEqual(
      [
        delivered?.status,
        delivered?.attempts,
        delivered?.lastStatusCode,
        delivered?.deliveredAt,
        delivered?.nextAttemptAt,
      ],
      ['delivered', 1, 200, NOW + 12, null],
    );
    assert.equal(await nextDueAt(db, endpoint.id, NOW), NOW + MINUTE);
    const [again] = await lease(endpoint.id, leaseId, NOW + MINUTE);
    assert.deepEqual([again?.id, again?.attempts, again?.firstAttemptAt], [b.id, 1, NOW]);
    await recordAttempts(db, leaseId, [
      { ...failed(b.id, 0), at: NOW + MINUTE, status: 'exhausted', nextAttemptAt: null },
    ]);
    const exhausted = await getDelivery(db, b.id);
    assert.deepEqual([exhausted?.status, exhausted?.attempts], ['exhausted', 2]);
  });

  test('after the lease went to another sender: a failure changes nothing, a success counts', async () => {
    const { endpoint } = await withEvents(2);
    const [late, current] = [randomUUID(), randomUUID()];
    const [a, b] = await lease(endpoint.id, late);
    assert.ok(a && b);
    await lease(endpoint.id, current, NOW + 2 * MINUTE);
    await recordAttempts(db, late, [failed(a.id, NOW), succeeded(b.id)]);
    assert.deepEqual(
      [(await getDelivery(db, a.id))?.attempts, (await getDelivery(db, b.id))?.status],
      [0, 'delivered'],
    );
    await recordAttempts(db, current, [failed(b.id, NOW)]);
    assert.equal((await getDelivery(db, b.id))?.status, 'delivered');
  });
});

describe('when the next is due', () => {
  test('the earliest that nobody holds, or the end of a lease; null when nothing is pending', async () => {
    const { endpoint } = await withEvents(2);
    assert.equal(await nextDueAt(db, endpoint.id, NOW), NOW);
    const leaseId = randomUUID();
    const [a, b] = await lease(endpoint.id, leaseId);
    assert.ok(a && b);
    assert.equal(await nextDueAt(db, endpoint.id, NOW), NOW + MINUTE);
    await recordAttempts(db, leaseId, [failed(a.id, NOW + MINUTE / 2)]);
    assert.equal(await nextDueAt(db, endpoint.id, NOW), NOW + MINUTE / 2);
    await recordAttempts(db, leaseId, [succeeded(a.id), succeeded(b.id)]);
    assert.equal(await nextDueAt(db, endpoint.id, NOW), null);
  });
});

describe('sending again', () => {
  const LATER = NOW + 60 * MINUTE;
  async function allDelivered(endpointId: string): Promise<string[]> {
    const leaseId = randomUUID();
    const ids = (await lease(endpointId, leaseId)).map((one) => one.id);
    await recordAttempts(db, leaseId, ids.map(succeeded));
    return ids;
  }

  test('one delivery: pending, the same event, a fresh count, the log kept', async () => {
    const { endpoint } = await withEvents(2);
    const [id, other] = await allDelivered(endpoint.id);
    assert.ok(id && other);
    const before = await getDelivery(db, id);
    assert.deepEqual(await resendDelivery(db, id, LATER), { count: 1, endpointIds: [endpoint.id] });
    const after = await getDelivery(db, id);
    assert.deepEqual(
      [after?.status, after?.eventId, after?.attempts, after?.nextAttemptAt, after?.deliveredAt],
      ['pending', before?.eventId, 0, LATER, null],
    );
    assert.equal((await db.query('select from delivery_attempts where delivery_id = $1', [id])).rowCount, 1);
    assert.equal((await getDelivery(db, other))?.status, 'delivered');
  });

  test('one delivery: not when there is nothing to send or nobody to send it to', async () => {
    assert.equal(await resendDelivery(db, randomUUID(), LATER), null);
    const { endpoint } = await withEvents(1);
    const [id] = await allDelivered(endpoint.id);
    await deleteEndpoint(db, endpoint.id, NOW);
    assert.equal(await resendDelivery(db, id ?? '', LATER), null);
  });

  test('one that is in the air keeps its lease: nobody sends it at the same time', async () => {
    const { endpoint } = await withEvents(1);
    const [inTheAir] = await lease(endpoint.id);
    await resendDelivery(db, inTheAir?.id ?? '', NOW);
    assert.deepEqual(await lease(endpoint.id), []);
  });

  test('a key, with its events, and only of visible companies', async () => {
    const key = `35${randomUUID().replaceAll('-', '').toUpperCase()}0000000000`;
    const [mine, foreign] = [await newCompany(db), await newCompany(db)];
    const endpoint = await newEndpoint(db, { companyIds: [mine.id, foreign.id] });
    for (const company of [mine, foreign]) {
      const pages = [
        ...(await capturePage(db, company, 1, { at: NOW, key })),
        ...(await capturePage(db, company, 1, { at: NOW, key, kind: 'procEventoNFe' })),
      ];
      for (const one of pages) await storeKey(one.id, company.id, key);
    }
    await allDelivered(endpoint.id);
    assert.deepEqual(await resendKey(db, key, LATER, [mine.id]), {
      count: 2,
      endpointIds: [endpoint.id],
    });
    assert.equal((await resendKey(db, key, LATER)).count, 4);
    assert.equal((await resendKey(db, 'nothing', LATER)).count, 0);
  });

  test('a document: to every endpoint that wants it now, also a new one', async () => {
    const { company, endpoint, documents } = await withEvents(2);
    await allDelivered(endpoint.id);
    const added = await newEndpoint(db, { companyIds: [company.id] });
    const resent = await resendDocument(db, documents[1]?.id ?? '', LATER);
    assert.equal(resent.count, 2);
    assert.deepEqual([...resent.endpointIds].sort(), [endpoint.id, added.id].sort());
    const [fresh] = await lease(added.id, randomUUID(), LATER);
    const [old] = await lease(endpoint.id, randomUUID(), LATER);
    assert.ok(fresh && old);
    assert.equal(fresh.eventId, old.eventId);
    assert.equal(fresh.body, old.body);
  });

  test('a period: from inclusive, to exclusive, of one document type, in order, in any number of batches', async () => {
    const company = await newCompany(db);
    const endpoint = await newEndpoint(db, { companyIds: [company.id] });
    const first = await capturePage(db, company, 2_500, { at: NOW });
    await capturePage(db, company, 3, { at: NOW + MINUTE, documentType: 'cte', kind: 'procCTe' });
    await capturePage(db, company, 1, { at: NOW + 2 * MINUTE });
    await db.query(`update deliveries set status = 'delivered' where endpoint_id = $1`, [endpoint.id]);
    const period = { companyId: company.id, from: NOW, to: NOW + 2 * MINUTE };
    assert.deepEqual(await resendPeriod(db, period, LATER), { count: 2_503, endpointIds: [endpoint.id] });
    const [head] = await lease(endpoint.id, randomUUID(), LATER, 1);
    assert.equal(JSON.parse(head?.body ?? '{}').data.id, first[0]?.id);
    assert.equal((await resendPeriod(db, { ...period, documentType: 'cte' }, LATER)).count, 3);
    assert.equal((await resendPeriod(db, { ...period, from: NOW + 1 }, LATER)).count, 3);
  });

  test('at a disabled endpoint it is held, and nobody is woken', async () => {
    const { endpoint, company } = await withEvents(1);
    const [id] = await allDelivered(endpoint.id);
    await disableEndpoint(db, endpoint.id, 'x', NOW);
    assert.deepEqual(await resendDelivery(db, id ?? '', LATER), { count: 1, endpointIds: [] });
    assert.equal((await getDelivery(db, id ?? ''))?.status, 'held');
    const held = await listDeliveries(db, { companyId: company.id, status: 'held' }, { limit: 5 });
    assert.deepEqual(
      held.rows.map((row) => row.id),
      [id],
    );
    assert.deepEqual((await listDeliveries(db, { companyId: company.id, status: 'pending' }, { limit: 5 })).rows, []);
  });

  /** Only what the search by key reads. */
  async function storeKey(id: string, companyId: string, key: string): Promise<void> {
    await db.query(
      `insert into documents (id, company_id, document_type, environment, kind, root, key, direction, state, full_xml, origin,
         captured_at, metadata, xml_sha256, xml_length, archive_id, object_key, byte_offset, byte_length, encoding)
       values ($1, $2, 'nfe', 'homologation', 'procNFe', 'nfeProc', $3, 'received', 'authorized', 'present', 'distribution',
         now(), '{}', gen_random_uuid()::text, 1, $1, 'k', 0, 1, 'identity')`,
      [id, companyId, key],
    );
  }
});

test('deliveries are listed newest first with the name of their event', async () => {
  const { endpoint, documents } = await withEvents(3);
  const first = await listDeliveries(db, { endpointId: endpoint.id }, { limit: 2 });
  const rest = await listDeliveries(db, { endpointId: endpoint.id }, { limit: 2, cursor: first.nextCursor });
  const rows = [...first.rows, ...rest.rows];
  assert.deepEqual(
    rows.map((row) => row.documentId),
    documents.map((one) => one.id).reverse(),
  );
  assert.deepEqual([rows[0]?.type, rows[0]?.action], ['product_invoice_inbound', 'issued_successfully']);
});
