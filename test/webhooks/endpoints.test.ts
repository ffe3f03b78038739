import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { SealBroken } from '../../src/certificates/seal.js';
import { webhookSecretBox } from '../../src/certificates/secret-box.js';
import { openAlert } from '../../src/storage/alerts.js';
import {
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  getEndpoint,
  listEndpoints,
  patchEndpoint,
  readSendingEndpoint,
  rotateSecret,
  setCaptureEndpoint,
} from '../../src/storage/endpoints.js';
import { newSecret } from '../../src/webhooks/signature.js';
import { box, capturePage, newCompany, newEndpoint, newKeyring, openDatabase } from './support.js';

const db = await openDatabase();
const NOW = Date.UTC(2026, 10, 30, 12);
const HOUR = 3_600_000;

describe('endpoints', () => {
  test('keep their secret sealed: not in the row, and for no other endpoint', async () => {
    const [one, other] = [await newEndpoint(db), await newEndpoint(db)];
    const { rows } = await db.query<{ secret: Buffer; text: string }>(
      'select secret, endpoints::text as text from endpoints where id = $1',
      [one.id],
    );
    assert.ok(rows[0] && !rows[0].secret.includes(one.secret) && !rows[0].text.includes(one.secret));
    assert.ok(!JSON.stringify(await getEndpoint(db, one.id)).includes('ecret":"'));
    assert.deepEqual((await readSendingEndpoint(db, box, one.id, NOW))?.secrets, [one.secret]);
    await db.query('update endpoints set secret = (select secret from endpoints where id = $2) where id = $1', [
      other.id,
      one.id,
    ]);
    await assert.rejects(readSendingEndpoint(db, box, other.id, NOW), SealBroken);
  });

  test('change only what a patch names', async () => {
    const company = await newCompany(db);
    const { id } = await newEndpoint(db, { description: 'ERP', events: ['capture_alert'], companyIds: [company.id] });
    const moved = await patchEndpoint(db, id, { url: 'https://erp.example.com/b' });
    assert.deepEqual(
      [moved?.url, moved?.description, moved?.events, moved?.companyIds],
      ['https://erp.example.com/b', 'ERP', ['capture_alert'], [company.id]],
    );
    const opened = await patchEndpoint(db, id, { events: null, companyIds: null, description: null });
    assert.deepEqual(
      [opened?.url, opened?.description, opened?.events, opened?.companyIds],
      [moved?.url, null, null, null],
    );
    assert.equal(await patchEndpoint(db, randomUUID(), { url: 'https://x.example/' }), null);
  });

  test('are listed newest first, page by page, and only to keys that may see all their companies', async () => {
    const [a, b] = [await newCompany(db), await newCompany(db)];
    const ofA = await newEndpoint(db, { companyIds: [a.id], at: NOW });
    const ofBoth = await newEndpoint(db, { companyIds: [a.id, b.id], at: NOW + 1 });
    const first = await listEndpoints(db, { companyId: a.id }, { limit: 1 });
    const second = await listEndpoints(db, { companyId: a.id }, { limit: 1, cursor: first.nextCursor });
    assert.deepEqual(
      [...first.rows, ...second.rows].map((row) => row.id),
      [ofBoth.id, ofA.id],
    );
    assert.equal(second.nextCursor, null);
    const visible = await listEndpoints(db, { visible: [a.id] }, { limit: 10 });
    assert.deepEqual(
      visible.rows.map((row) => row.id),
      [ofA.id],
    );
  });

  test('deleted: nothing finds them, nothing stays pending, their alerts close', async () => {
    const company = await newCompany(db);
    const { id } = await newEndpoint(db, { companyIds: [company.id] });
    await capturePage(db, company, 2);
    await openAlert(db, { code: 'endpoint_failing', subject: id }, 'x', NOW);
    assert.equal(await deleteEndpoint(db, id, NOW), true);
    assert.equal(await deleteEndpoint(db, id, NOW), false);
    assert.equal(await getEndpoint(db, id), null);
    assert.equal(await readSendingEndpoint(db, box, id, NOW), null);
    assert.deepEqual(await statuses(id), ['cancelled', 'cancelled']);
    assert.deepEqual(await openAlerts(id), []);
    await capturePage(db, company, 1);
    assert.equal((await statuses(id)).length, 2);
  });
});

describe('rotating a secret', () => {
  test('both are valid for 24 h, the current one first', async () => {
    const { id, secret: old } = await newEndpoint(db);
    const secret = newSecret();
    const rotated = await db.transaction((tx) => rotateSecret(tx, box, { id, secret, at: NOW }));
    assert.equal(rotated?.previousSecretUntil, NOW + 24 * HOUR);
    assert.deepEqual((await readSendingEndpoint(db, box, id, NOW + 24 * HOUR - 1))?.secrets, [secret, old]);
    assert.deepEqual((await readSendingEndpoint(db, box, id, NOW + 24 * HOUR))?.secrets, [secret]);
  });

  test('after the master key was rotated both stand under the new one', async () => {
    const [oldKey, newKey] = [newKeyring(), newKeyring()];
    const both = { current: newKey.current, keys: new Map([...newKey.keys, ...oldKey.keys]) };
    const { id, secret: old } = await newEndpoint(db);
    const sealed = webhookSecretBox(oldKey).seal(old, id);
    await db.query('update endpoints set secret = $2, key_id = $3 where id = $1', [id, sealed.sealed, sealed.keyId]);
    const secret = newSecret();
    await db.transaction((tx) => rotateSecret(tx, webhookSecretBox(both), { id, secret, at: NOW }));
    assert.deepEqual((await readSendingEndpoint(db, webhookSecretBox(newKey), id, NOW))?.secrets, [secret, old]);
  });

  test('of an endpoint that is not there is null', async () => {
    const rotation = { id: randomUUID(), secret: newSecret(), at: NOW };
    assert.equal(await db.transaction((tx) => rotateSecret(tx, box, rotation)), null);
  });
});

describe('enabling a disabled endpoint', () => {
  /** An endpoint that was disabled at noon, with one failed event from 10:00 and one each from 11:00 and 13:00. */
  async function disabledEndpoint() {
    const company = await newCompany(db);
    const { id } = await newEndpoint(db, { companyIds: [company.id] });
    await capturePage(db, company, 1, { at: NOW - 2 * HOUR });
    await db.query(
      `update deliveries set attempts = 7, first_attempt_at = created_at, next_attempt_at = $2, last_error = 'timeout: x' where endpoint_id = $1`,
      [id, new Date(NOW + HOUR)],
    );
    await capturePage(db, company, 1, { at: NOW - HOUR });
    assert.equal(await disableEndpoint(db, id, 'failing', NOW), true);
    assert.equal(await disableEndpoint(db, id, 'again', NOW + 1), false);
    await openAlert(db, { code: 'endpoint_disabled', subject: id }, 'x', NOW);
    await capturePage(db, company, 1, { at: NOW + HOUR });
    return id;
  }
  const at = NOW + 2 * HOUR;

  test('says why and since when it is disabled', async () => {
    const endpoint = await getEndpoint(db, await disabledEndpoint());
    assert.deepEqual([endpoint?.status, endpoint?.disabledReason, endpoint?.disabledAt], ['disabled', 'failing', NOW]);
  });

  test('replay all: everything is due, in commit order, with a fresh 3 days', async () => {
    const id = await disabledEndpoint();
    const endpoint = await enableEndpoint(db, id, 'all', at);
    assert.deepEqual(
      [endpoint?.status, endpoint?.enabledAt, endpoint?.disabledReason, endpoint?.failingSince],
      ['enabled', at, null, null],
    );
    const { rows } = await db.query<{ attempts: number; first: number | null; due: number }>(
      `select attempts, first_attempt_at as first, next_attempt_at as due from deliveries
       where endpoint_id = $1 and status = 'pending' order by next_attempt_at`,
      [id],
    );
    assert.deepEqual(
      rows,
      [NOW - 2 * HOUR, NOW - HOUR, NOW + HOUR].map((due) => ({ attempts: 0, first: null, due })),
    );
    assert.deepEqual(await openAlerts(id), []);
  });

  test('replay none: what was held is cancelled', async () => {
    const id = await disabledEndpoint();
    await enableEndpoint(db, id, 'none', at);
    assert.deepEqual(await statuses(id), ['cancelled', 'cancelled', 'cancelled']);
  });

  test('replay since: what is older is cancelled', async () => {
    const id = await disabledEndpoint();
    await enableEndpoint(db, id, { since: NOW - HOUR }, at);
    assert.deepEqual(await statuses(id), ['cancelled', 'pending', 'pending']);
  });

  test('an enabled one is left alone, whatever the replay', async () => {
    const company = await newCompany(db);
    const { id } = await newEndpoint(db, { companyIds: [company.id] });
    await capturePage(db, company, 1);
    assert.equal((await enableEndpoint(db, id, 'none', Date.now() + HOUR))?.status, 'enabled');
    assert.deepEqual(await statuses(id), ['pending']);
    assert.equal(await enableEndpoint(db, randomUUID(), 'all', NOW), null);
  });
});

describe('webhookUrl of a capture', () => {
  const set = (companyId: string, url: string | null, secret = newSecret()) =>
    db.transaction((tx) => setCaptureEndpoint(tx, box, { companyId, documentType: 'nfe' }, { url, secret, at: NOW }));

  test('makes one endpoint limited to company and type, moves it, deletes it', async () => {
    const company = await newCompany(db);
    const byHand = await newEndpoint(db, { companyIds: [company.id] });
    const made = await set(company.id, 'https://erp.example.com/a');
    assert.equal(made.made, true);
    assert.deepEqual([made.endpoint?.companyIds, made.endpoint?.documentTypes], [[company.id], ['nfe']]);
    const moved = await set(company.id, 'https://erp.example.com/b');
    assert.equal(moved.made, false);
    assert.deepEqual([moved.endpoint?.id, moved.endpoint?.url], [made.endpoint?.id, 'https://erp.example.com/b']);
    assert.equal((await listEndpoints(db, { companyId: company.id }, { limit: 10 })).rows.length, 2);
    assert.deepEqual(await set(company.id, null), { endpoint: null, made: false });
    const left = await listEndpoints(db, { companyId: company.id }, { limit: 10 });
    assert.deepEqual(
      left.rows.map((row) => row.id),
      [byHand.id],
    );
  });
});

async function statuses(endpointId: string): Promise<string[]> {
  const { rows } = await db.query<{ status: string }>(
    'select status from deliveries where endpoint_id = $1 order by created_at, id',
    [endpointId],
  );
  return rows.map((row) => row.status);
}

async function openAlerts(subject: string): Promise<unknown[]> {
  return (await db.query('select code from alerts where subject = $1 and closed_at is null', [subject])).rows;
}
