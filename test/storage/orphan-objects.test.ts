import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { archiveKey, openObjectStore, pdfKey } from '../../src/storage/object-store/index.js';
import type { ObjectStore, StoredObject } from '../../src/storage/object-store/object-store.js';
import { unreferredObjects } from '../../src/storage/orphan-objects.js';
import { scratchFolder } from '../support/scratch.js';
import { newCompany, openDatabase } from './support.js';

const { db } = await openDatabase();
const DAY = 86_400_000;
const NOW = Date.now();
const LATER = { before: NOW + DAY, now: NOW };

async function sweep(store: Pick<ObjectStore, 'list'>, options = LATER): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { key, what } of unreferredObjects(db, store as ObjectStore, options)) found[key] = what;
  return found;
}

async function fixture() {
  const company = await newCompany(db);
  const capture = { companyId: company.id, documentType: 'nfe', environment: 'homologation' } as const;
  const store = await openObjectStore(`file://${scratchFolder('objects')}`);
  const put = async (key: string) => {
    await store.put(key, Buffer.from('x'));
    return key;
  };
  /** A call of a day, and the key of its answer. */
  const call = async (status: string | null, at = NOW - 3 * DAY) => {
    const id = `${randomUUID()}:1`;
    const key = archiveKey(capture, at, id);
    if (status !== null) {
      await db.query(
        `insert into calls (id, started_at, company_id, document_type, environment, service, kind, status, deadline, archive_key)
         values ($1, $2, $3, 'nfe', 'homologation', 's', 'distNSU', $4, $2, $5)`,
        [id, new Date(at), company.id, status, key],
      );
    }
    return key;
  };
  const archive = (key: string, requestKey: string | null = null) =>
    db.query(
      `insert into archives (id, company_id, document_type, environment, object_key, request_key, size, sha256, captured_at)
       values (gen_random_uuid(), $1, 'nfe', 'homologation', $2, $3, 1, '', now())`,
      [company.id, key, requestKey],
    );
  return { company, capture, store, put, call, archive };
}

describe('objects that no row refers to', () => {
  test('what an archive, its request, an open or unknown call needs is spared; what ended otherwise is an orphan', async () => {
    const { store, put, call, archive } = await fixture();
    const archived = await put(await call('answered'));
    await archive(archived, await put(`${archived}.request`));
    for (const status of ['open', 'unknown']) {
      const key = await call(status);
      for (const suffix of ['', '.request', '.210210-35-1']) await put(key + suffix);
    }
    const orphan = await put(await call('answered'));
    const request = await put(`${await call('not_sent')}.request`);
    const foreign = await put(`${archived}.110111-35-1`);
    assert.deepEqual(await sweep(store), { [orphan]: 'orphan', [request]: 'orphan', [foreign]: 'orphan' });
  });

  test('an answer whose call the database does not know is lost, not an orphan, as long as the call log goes back', async () => {
    const { store, put, call, company } = await fixture();
    const lost = await put(await call(null));
    const old = await put(await call(null, NOW - 100 * DAY));
    assert.deepEqual(await sweep(store), { [lost]: 'lost', [old]: 'orphan' });
    await db.query(
      `insert into captures (company_id, document_type, environment, state, phase, behind) values ($1, 'nfe', 'homologation', '{}', 'attention', true)`,
      [company.id],
    );
    assert.deepEqual(await sweep(store), {}, 'a capture that waits for a repair keeps everything');
  });

  test('a PDF that is not in use; exports, imports and what is not ours are left alone', async () => {
    const { store, put, company } = await fixture();
    const document = { id: randomUUID(), companyId: company.id, capturedAt: NOW };
    const stale = await put(pdfKey(document, 'a'.repeat(16)));
    await put(`${company.id}/exports/${randomUUID()}/1.zip`);
    await put(`${company.id}/imports/${randomUUID()}/upload`);
    await put('somebody-else/thing');
    assert.deepEqual(await sweep(store), { [stale]: 'orphan' });
  });

  test('of a company that was deleted all; of one that the database never heard of none', async () => {
    const { store, put, company, call } = await fixture();
    const key = await put(await call('open'));
    const other = await put(`${company.id}/exports/x`);
    await db.query('delete from companies where id = $1', [company.id]);
    assert.deepEqual(await sweep(store), { [key]: 'lost', [other]: 'lost' });
    await db.query(
      `insert into erasures (company_id, status, requested_at, due_at, updated_at) values ($1, 'done', now(), now(), now())`,
      [company.id],
    );
    assert.deepEqual(await sweep(store), { [key]: 'orphan', [other]: 'orphan' });
  });

  test('younger ones are not looked at; memory stays flat over very many', async () => {
    const { store, put, call, capture } = await fixture();
    await put(await call('answered'));
    assert.deepEqual(await sweep(store, { before: NOW - 7 * DAY, now: NOW }), {});
    let listed = 0;
    let held = 0;
    async function* list(): AsyncIterable<StoredObject> {
      for (; listed < 20_000; listed += 1) {
        yield { key: archiveKey(capture, NOW - 5 * DAY, `${randomUUID()}:1`), size: 1, writtenAt: NOW - 5 * DAY };
      }
    }
    let judged = 0;
    for await (const { what } of unreferredObjects(db, { list } as unknown as ObjectStore, LATER)) {
      assert.equal(what, 'lost');
      judged += 1;
      held = Math.max(held, listed - judged);
    }
    assert.equal(judged, 20_000);
    assert.ok(held <= 500, `${held} at once`);
  });
});
