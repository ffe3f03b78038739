import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { parseNsu } from '../../src/model/nsu.js';
import type { PointAnswer, PointRefusal } from '../../src/model/point-query.js';
import type { CaptureKey } from '../../src/model/words.js';
import { getCompany } from '../../src/storage/companies.js';
import { getDocument } from '../../src/storage/documents.js';
import { insertEvents } from '../../src/storage/events.js';
import { type Gap, insertGaps } from '../../src/storage/gaps.js';
import { settleReprocess } from '../../src/storage/reprocess-requests.js';
import { documentEvent } from '../../src/webhooks/body.js';
import { key as accessKey } from '../documents/samples.js';
import { captureDocument } from './fixtures.js';
import { testApi } from './support.js';

const api = await testApi();
const HOUR = 3_600_000;
const captureOf = (id: string, type = 'nfe') => `/v1/companies/${id}/captures/${type}`;
const keyOf = (companyId: string): CaptureKey => ({ companyId, documentType: 'nfe', environment: 'homologation' });

async function started(type = 'nfe'): Promise<string> {
  const { id } = await api.companyWithCertificate();
  const { status, text } = await api.ask('PUT', captureOf(id, type), { body: {} });
  assert.equal(status, 200, text);
  api.temporal.said.length = 0;
  return id;
}

/** A document with its event, as a page leaves them. */
async function storedDocument(companyId: string, fields: Record<string, unknown>): Promise<string> {
  const { id } = await captureDocument(api, companyId, fields);
  const [company, document] = [await getCompany(api.db, companyId), await getDocument(api.db, id)];
  assert.ok(company && document);
  const at = Date.now();
  await api.db.transaction((tx) => insertEvents(tx, { companyId, at, events: [documentEvent(document, company, at)] }));
  return id;
}

const reprocess = (id: string, body: object, type = 'nfe') =>
  api.ask('POST', `${captureOf(id, type)}/reprocess`, { body });

/** The run answers so; before that it writes the row, as the activity does. */
function answering(answer: PointAnswer, end?: Parameters<typeof settleReprocess>[2]): void {
  api.temporal.asked = async (_, __, id) => {
    if (end) await settleReprocess(api.db, { id }, end, Date.now());
    return { kind: 'answered', answer };
  };
}
const asked = (outcome: 'documents' | 'none' | 'rejected' | 'throttled' | 'not_sent', statusCode: string | null) =>
  ({ kind: 'asked', outcome, statusCode, documentIds: [] }) as const;

describe('POST …/reprocess', () => {
  test('a document that is here: 200 with it, its webhook again, and nobody is asked', async () => {
    const id = await started();
    const { json: made } = await api.ask('POST', '/v1/webhook-endpoints', { body: { url: 'http://127.0.0.1:9/hook' } });
    const document = await storedDocument(id, { nsu: '000000000000007', key: accessKey(71) });
    for (const body of [{ nsu: '7' }, { key: accessKey(71) }]) {
      api.temporal.said.length = 0;
      const { status, json } = await reprocess(id, body);
      assert.equal(status, 200);
      assert.deepEqual([json.status, json.document.id, json.documents.length], ['done', document, 1]);
      assert.deepEqual(api.temporal.said, [`deliver ${made.id}`]);
      const followed = await api.ask('GET', `/v1/reprocess-requests/${json.id}`);
      assert.deepEqual(followed.json, json);
    }
    const { rows } = await api.db.query('select count(*)::int as n from deliveries where company_id = $1', [id]);
    assert.equal(rows[0]?.n, 1, 'one webhook-id');
    await api.ask('DELETE', captureOf(id));
    assert.equal((await reprocess(id, { nsu: '7' })).status, 200, 'also when stopped');
    await api.ask('DELETE', `/v1/webhook-endpoints/${made.id}`);
  });

  test('else the run is asked: 200 with what it brought', async () => {
    const id = await started();
    const document = await storedDocument(id, { nsu: '000000000000008' });
    await api.db.query('update documents set nsu = 9 where id = $1', [document]);
    answering(asked('documents', '138'), { status: 'done', statusCode: '138', documentIds: [document] });
    const { status, json } = await reprocess(id, { nsu: '8' });
    assert.deepEqual([status, json.status, json.document.id], [200, 'done', document]);
    assert.deepEqual(api.temporal.said, [`ask 000000000000008 nfe homologation ${id}`]);
  });

  test('a final answer without a document is a result in words', async () => {
    const id = await started();
    for (const [code, words] of [
      ['137', /No document of this company has this NSU/],
      ['632', /older than 90 days/],
      ['640', /may not have it/],
      ['641', /issued the document itself/],
      ['653', /cancelled/],
      ['654', /denied/],
    ] as const) {
      answering(asked(code === '137' ? 'none' : 'rejected', code), {
        status: 'not_available',
        statusCode: code,
        statusText: 'Rejeicao',
      });
      const { status, json } = await reprocess(id, { key: accessKey(80) });
      assert.deepEqual([status, json.status, json.statusCode, json.document], [200, 'not_available', code, null]);
      assert.match(json.message, words);
    }
  });

  test('longer than 10 s: 202, followed at its own resource', async () => {
    const id = await started();
    api.temporal.asked = () => ({ kind: 'taken' });
    const { status, json } = await reprocess(id, { nsu: '8' });
    assert.deepEqual([status, json.status, json.document], [202, 'pending', null]);
    await settleReprocess(api.db, { id: json.id }, { status: 'not_available', statusCode: '137' }, Date.now());
    assert.equal((await api.ask('GET', `/v1/reprocess-requests/${json.id}`)).json.status, 'not_available');
    const lost = (await reprocess(id, { nsu: '8' })).json;
    await api.db.query(`update reprocess_requests set created_at = created_at - interval '2 hours' where id = $1`, [
      lost.id,
    ]);
    const { status: state, reason } = (await api.ask('GET', `/v1/reprocess-requests/${lost.id}`)).json;
    assert.deepEqual([state, reason], ['failed', 'lost']);
  });

  test('no slot: 429 with the seconds until it', async () => {
    const id = await started();
    for (const reason of ['quota', 'suspended'] as const) {
      answering({ kind: 'refused', refusal: { reason, until: Date.now() + 90_400 } });
      const { status, json, headers } = await reprocess(id, { nsu: '8' });
      assert.deepEqual([status, json.code], [429, 'point_quota_exhausted']);
      assert.ok(
        Number(headers['retry-after']) >= 90 && Number(headers['retry-after']) <= 92,
        String(headers['retry-after']),
      );
    }
  });

  const refusals: [PointRefusal, number, string, boolean][] = [
    [{ reason: 'blocked', until: Date.now() + HOUR }, 429, 'capture_blocked', true],
    [{ reason: 'paused', until: Date.now() + HOUR, spread: 1 }, 503, 'government_unavailable', true],
    [{ reason: 'held', until: null }, 409, 'capture_held', false],
    [{ reason: 'certificate', problem: 'expired', until: null }, 422, 'certificate_expired', false],
    [{ reason: 'database_behind' }, 409, 'capture_needs_operator', false],
    [{ reason: 'disabled' }, 409, 'capture_stopped', false],
    [{ reason: 'not_supported' }, 422, 'not_supported', false],
  ];
  for (const [refusal, expected, code, retryable] of refusals) {
    test(`refused (${refusal.reason}): ${expected} ${code}`, async () => {
      const id = await started();
      answering({ kind: 'refused', refusal });
      const { status, json, headers } = await reprocess(id, { nsu: '8' });
      assert.deepEqual([status, json.code, headers['retry-after'] !== undefined], [expected, code, retryable]);
    });
  }

  test('asked in vain: 503, and a 656 says when', async () => {
    const id = await started();
    answering(asked('not_sent', null), { status: 'failed', reason: 'not_sent' });
    assert.deepEqual(await reprocess(id, { nsu: '8' }).then(({ status, json }) => [status, json.code]), [
      503,
      'government_unavailable',
    ]);
    const until = Date.now() + HOUR;
    await api.db.query(
      `update captures set state = jsonb_set(state, '{quota,suspendedUntil}', to_jsonb($2::bigint)) where company_id = $1`,
      [id, until],
    );
    answering(asked('throttled', '656'), { status: 'failed', reason: 'throttled', statusCode: '656' });
    const { status, json, headers } = await reprocess(id, { nsu: '8' });
    assert.deepEqual([status, json.code], [429, 'point_quota_exhausted']);
    assert.ok(Number(headers['retry-after']) > 3_590 && Number(headers['retry-after']) <= 3_600);
  });

  test('stopped 409; ten others wait, no worker, or no Temporal: 503', async () => {
    const id = await started();
    for (const [kind, code] of [
      ['busy', 'capture_busy'],
      ['no_worker', 'temporarily_unavailable'],
      ['not_running', 'temporarily_unavailable'],
    ] as const) {
      api.temporal.asked = () => ({ kind });
      const { status, json, headers } = await reprocess(id, { nsu: '8' });
      assert.deepEqual([status, json.code, headers['retry-after']], [503, code, '5']);
    }
    api.temporal.reachable = false;
    for (const body of [{ nsu: '8' }]) assert.equal((await reprocess(id, body)).status, 503);
    api.temporal.reachable = true;
    await api.ask('DELETE', captureOf(id));
    const { status, json } = await reprocess(id, { nsu: '8' });
    assert.deepEqual([status, json.code], [409, 'capture_stopped']);
  });

  test('bad input, and what a document type cannot', async () => {
    const id = await started();
    for (const [body, field] of [
      [{}, 'body'],
      [{ nsu: '8', key: accessKey(1) }, 'body'],
      [{ nsu: '12a' }, 'nsu'],
      [{ nsu: 8 }, 'nsu'],
      [{ key: `${accessKey(1).slice(0, 43)}${(Number(accessKey(1).slice(43)) + 1) % 10}` }, 'key'],
      [{ key: '35' }, 'key'],
      [{ archiveId: 'x' }, 'archiveId'],
      [{ nsu: '8', more: 1 }, 'more'],
    ] as const) {
      const { status, json } = await reprocess(id, body);
      assert.deepEqual([status, json.errors?.[0]?.field], [422, field], JSON.stringify(body));
    }
    assert.deepEqual(api.temporal.said, []);
    const cte = await started('cte');
    const { status, json } = await reprocess(cte, { key: accessKey(1) }, 'cte');
    assert.deepEqual([status, json.code], [422, 'not_supported']);
    assert.equal((await reprocess(cte, { nsu: '1' }, 'nfe')).status, 404);
  });

  test("another company's requests and archives are not there", async () => {
    const id = await started();
    api.temporal.asked = () => ({ kind: 'taken' });
    const { json } = await reprocess(id, { nsu: '8' });
    const key = await api.newKey(['manage'], [(await api.newCompany()).id]);
    assert.equal((await api.ask('GET', `/v1/reprocess-requests/${json.id}`, { key })).status, 404);
    assert.equal((await api.ask('POST', `${captureOf(id)}/reprocess`, { key, body: { nsu: '8' } })).status, 404);
    assert.equal((await reprocess(id, { archiveId: randomUUID() })).status, 404);
  });

  test('an archive is decoded again by a run of its own', async () => {
    const id = await started();
    const archive = randomUUID();
    await api.db.query(
      `insert into archives (id, company_id, document_type, environment, object_key, size, sha256, captured_at)
       values ($1::uuid, $2, 'nfe', 'homologation', $1::text, 1, '', now())`,
      [archive, id],
    );
    const { status, json } = await reprocess(id, { archiveId: archive });
    assert.deepEqual([status, json.status, json.archiveId], [202, 'pending', archive]);
    assert.deepEqual(api.temporal.said, [`decode ${archive}`]);
  });
});

describe('PUT …/cursor', () => {
  const put = (id: string, body: object, key?: string) =>
    api.ask('PUT', `${captureOf(id)}/cursor`, { body, ...(key === undefined ? {} : { key }) });

  test('moves it down, for administrators, with the audit; no wait is shortened', async () => {
    const id = await started();
    await api.db.query(
      `update captures set ult_nsu = 50, not_before = now() + interval '1 hour', state = state || '{"ultNsu":"000000000000050","hasPage":true}' where company_id = $1`,
      [id],
    );
    const before = (await api.ask('GET', captureOf(id))).json;
    const { status, json } = await put(id, { nsu: '10', reason: 'documents were lost in a restore' });
    assert.deepEqual([status, json.ultNsu, json.warnings], [200, '000000000000010', []]);
    assert.deepEqual(json.nextQueryAt, before.nextQueryAt);
    const { rows } = await api.db.query<{ left: boolean; detail: object; revision: number }>(
      `select c.not_before > now() + interval '50 minutes' as left, c.revision::int as revision, a.detail from captures c, audit a
       where c.company_id = $1 and a.action = 'capture.set_cursor'`,
      [id],
    );
    assert.deepEqual(rows[0]?.detail, {
      from: '000000000000050',
      to: '000000000000010',
      reason: 'documents were lost in a restore',
    });
    assert.equal(rows[0]?.left, true);
    assert.deepEqual(api.temporal.said, [`wake nfe homologation ${id}`]);
    await put(id, { nsu: '12', reason: 'and up again' });
    const gaps = (await api.ask('GET', `${captureOf(id)}/gaps`)).json.data;
    assert.deepEqual(
      gaps.map((gap: { fromNsu: string; toNsu: string; status: string }) => [gap.fromNsu, gap.toNsu, gap.status]),
      [['000000000000011', '000000000000012', 'awaiting_confirmation']],
    );
  });

  test('needs the scope admin, a reason, and no call in the air', async () => {
    const id = await started();
    assert.equal((await put(id, { nsu: '1', reason: 'because' }, await api.newKey(['manage']))).status, 403);
    assert.deepEqual((await put(id, { nsu: '1' })).json.errors[0].field, 'reason');
    await api.db.query(`update captures set call_deadline = now() + interval '100 seconds' where company_id = $1`, [
      id,
    ]);
    const { status, json, headers } = await put(id, { nsu: '1', reason: 'because' });
    assert.deepEqual([status, json.code], [409, 'query_in_hand']);
    assert.ok(Number(headers['retry-after']) > 90);
  });
});

describe('missing numbers', () => {
  test("a person's word makes them pending, wakes the capture, and is audited", async () => {
    const id = await started();
    const gap = (from: string, to: string, status: Gap['status']): Gap => ({
      from: parseNsu(from),
      to: parseNsu(to),
      status,
      cause: 'page',
    });
    const gaps = [gap('1', '10', 'before_onboarding'), gap('20', '5000', 'awaiting_confirmation')];
    await api.db.transaction((tx) => insertGaps(tx, keyOf(id), gaps, Date.now()));
    const { data } = (await api.ask('GET', `${captureOf(id)}/gaps`)).json;
    for (const { id: gapId } of data) {
      api.temporal.said.length = 0;
      const { status, json } = await api.ask('POST', `${captureOf(id)}/gaps/${gapId}/recover`);
      assert.deepEqual([status, json.status, json.attempts, json.warnings], [202, 'pending', 0, []]);
      assert.ok(Date.parse(json.nextAttemptAt) <= Date.now() + 1_000);
      assert.deepEqual(api.temporal.said, [`wake nfe homologation ${id}`]);
    }
    const { rows } = await api.db.query(`select count(*)::int as n from audit where action = 'gap.recover'`);
    assert.equal(rows[0]?.n, 2);
    const [first] = data;
    await api.db.query(`update gaps set status = 'recovered', next_attempt_at = null where id = $1`, [first.id]);
    const again = (path: string) => api.ask('POST', `${captureOf(id)}/gaps/${path}/recover`);
    assert.equal((await again(first.id)).json.code, 'gap_closed');
    await api.db.query(
      `update gaps set status = 'expired', next_attempt_at = null, created_at = now() - interval '91 days' where id = $1`,
      [first.id],
    );
    assert.equal((await again(first.id)).json.code, 'gap_expired');
    assert.equal((await again(randomUUID())).status, 404);
    await api.ask('DELETE', captureOf(id));
    assert.equal((await again(data[1].id)).json.code, 'capture_stopped');
  });

  test('the nightly look can be had now, by keys without a limit', async () => {
    api.temporal.said.length = 0;
    const { status, json } = await api.ask('POST', '/v1/gaps/run');
    assert.deepEqual([status, json, api.temporal.said], [202, { started: true }, ['look for gaps']]);
    const key = await api.newKey(['manage'], [(await api.newCompany()).id]);
    assert.equal((await api.ask('POST', '/v1/gaps/run', { key })).json.code, 'key_limited');
    api.temporal.reachable = false;
    assert.equal((await api.ask('POST', '/v1/gaps/run')).status, 503);
    api.temporal.reachable = true;
  });
});
