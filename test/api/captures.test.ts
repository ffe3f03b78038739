import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { parseNsu } from '../../src/model/nsu.js';
import { insertGaps } from '../../src/storage/gaps.js';
import { PASSWORD, pfxFor, testApi } from './support.js';

const api = await testApi();
const captureOf = (id: string) => `/v1/companies/${id}/captures/nfe`;
const key = (companyId: string) => ({ companyId, documentType: 'nfe', environment: 'homologation' }) as const;

describe('a capture is started', () => {
  test('in homologation unless told otherwise, and its workflow is told', async () => {
    const { id } = await api.companyWithCertificate();
    const { status, json } = await api.ask('PUT', captureOf(id), { body: {} });
    assert.equal(status, 200);
    assert.deepEqual(json, {
      companyId: id,
      documentType: 'nfe',
      environment: 'homologation',
      enabled: true,
      phase: 'querying',
      reason: 'about to ask for the first time',
      ultNsu: '000000000000000',
      maxNsu: '000000000000000',
      lag: 0,
      lastQueryAt: null,
      lastStatusCode: null,
      lastStatusText: null,
      nextQueryAt: null,
      blockedUntil: null,
      pausedUntil: null,
      pointQueries: { limit: 20, used: 0, nextSlotAt: null, suspendedUntil: null },
      gaps: { pending: 0, recovered: 0, nonexistent: 0, exhausted: 0 },
      documents: 0,
      failedItems: 0,
      options: {},
      workflowId: `capture/nfe/homologation/${id}`,
      warnings: [],
      webhookEndpoint: null,
    });
    assert.equal(api.temporal.said.at(-1), `start nfe homologation ${id}`);
    const { warnings: _, webhookEndpoint: __, ...state } = json;
    assert.deepEqual((await api.ask('GET', captureOf(id))).json, state);
  });

  test('with options that stay until they are changed or taken away', async () => {
    const { id } = await api.companyWithCertificate();
    const handler = { taskQueue: 'erp', activity: 'takePage' };
    const first = { handler, startNsu: '34000', minIntervalMinutes: 120, notBefore: '2099-01-01T00:00:00-03:00' };
    const started = await api.ask('PUT', captureOf(id), { body: first });
    assert.deepEqual(started.json.options, { ...first, startNsu: '000000000034000' });
    assert.equal(started.json.ultNsu, '000000000034000');
    assert.equal(started.json.nextQueryAt, '2099-01-01T03:00:00.000Z');

    const changed = await api.ask('PUT', captureOf(id), { body: { handler: null, minIntervalMinutes: 90 } });
    const { handler: _, ...rest } = started.json.options;
    assert.deepEqual(changed.json.options, { ...rest, minIntervalMinutes: 90 });
  });

  test('again without harm', async () => {
    const { id } = await api.companyWithCertificate();
    const [first, second] = [
      await api.ask('PUT', captureOf(id), { body: {} }),
      await api.ask('PUT', captureOf(id), { body: {} }),
    ];
    assert.deepEqual(second.json, first.json);
    const { json } = await api.ask('GET', `/v1/companies/${id}/captures`);
    assert.equal(json.data.length, 1);
  });

  test('only in one environment at a time', async () => {
    const { id } = await api.companyWithCertificate();
    await api.ask('PUT', captureOf(id), { body: { environment: 'production' } });
    const refused = await api.ask('PUT', captureOf(id), { body: { environment: 'homologation' } });
    assert.equal(refused.status, 409);
    assert.equal(refused.json.code, 'environment_in_use');
    await api.ask('DELETE', captureOf(id));
    assert.equal((await api.ask('PUT', captureOf(id), { body: {} })).status, 200);
    // Each keeps its own row, and the running one is meant where nothing is said.
    assert.equal((await api.ask('GET', captureOf(id))).json.environment, 'homologation');
    const other = await api.ask('GET', `${captureOf(id)}?environment=production`);
    assert.equal(other.json.enabled, false);
  });

  test('only with a certificate: its own, or one of the same root', async () => {
    const { id } = await api.newCompany();
    const refused = await api.ask('PUT', captureOf(id), { body: {} });
    assert.equal(refused.status, 422);
    assert.equal(refused.json.code, 'certificate_missing');

    const expired = await api.companyWithCertificate();
    await api.db.query("update certificates set not_after = now() - interval '1 day' where company_id = $1", [
      expired.id,
    ]);
    assert.equal((await api.ask('PUT', captureOf(expired.id), { body: {} })).json.code, 'certificate_expired');
    await api.db.query(
      "update certificates set not_before = now() + interval '1 day', not_after = now() + interval '2 days' where company_id = $1",
      [expired.id],
    );
    assert.equal((await api.ask('PUT', captureOf(expired.id), { body: {} })).json.code, 'certificate_not_yet_valid');

    const head = await api.companyWithCertificate();
    const { cnpjCheckDigits } = await import('../../src/documents/tax-id.js');
    const branch = await api.newCompany({ taxId: `${head.root}0002${cnpjCheckDigits(`${head.root}0002`)}` });
    assert.equal((await api.ask('PUT', captureOf(branch.id), { body: {} })).status, 200);
  });

  test('not for a company that is being deleted', async () => {
    const { id } = await api.companyWithCertificate();
    await api.db.query('update companies set deleting_at = now() where id = $1', [id]);
    const { status, json } = await api.ask('PUT', captureOf(id), { body: {} });
    assert.equal(status, 409);
    assert.equal(json.code, 'company_being_deleted');
  });

  test('with a webhook endpoint of its own, whose secret is shown once', async () => {
    const { id } = await api.companyWithCertificate();
    const first = await api.ask('PUT', captureOf(id), { body: { webhookUrl: 'http://127.0.0.1:9/a' } });
    const made = first.json.webhookEndpoint;
    assert.match(made.secret, /^whsec_/);
    const endpoint = (await api.ask('GET', `/v1/webhook-endpoints/${made.id}`)).json;
    assert.deepEqual([endpoint.companyIds, endpoint.documentTypes], [[id], ['nfe']]);

    const moved = await api.ask('PUT', captureOf(id), { body: { webhookUrl: 'http://127.0.0.1:9/b' } });
    assert.deepEqual(moved.json.webhookEndpoint, { id: made.id, secret: null });
    assert.equal((await api.ask('GET', `/v1/webhook-endpoints/${made.id}`)).json.url, 'http://127.0.0.1:9/b');

    const gone = await api.ask('PUT', captureOf(id), { body: { webhookUrl: null } });
    assert.equal(gone.json.webhookEndpoint, null);
    assert.deepEqual(gone.json.options, {});
    assert.equal((await api.ask('GET', `/v1/webhook-endpoints/${made.id}`)).status, 404);
  });
});

describe('a capture is stopped, paused and resumed', () => {
  test('stopped: the row first, then the workflow', async () => {
    const { id } = await api.companyWithCertificate();
    await api.ask('PUT', captureOf(id), { body: {} });
    const { status, json } = await api.ask('DELETE', captureOf(id));
    assert.equal(status, 202);
    assert.deepEqual([json.enabled, json.phase, json.warnings], [false, 'stopped', []]);
    assert.equal(api.temporal.said.at(-1), `stop nfe homologation ${id}`);
    // A second stop has nothing left to do, and must not count as a new order.
    const before = api.temporal.said.length;
    assert.equal((await api.ask('DELETE', captureOf(id))).status, 202);
    assert.equal(api.temporal.said.length, before);
    for (const action of ['resume', 'pause']) {
      const refused = await api.ask('POST', `${captureOf(id)}/${action}`);
      assert.equal(refused.status, 409);
      assert.equal(refused.json.code, 'capture_stopped');
    }
  });

  test('a hold puts the next query off, and gives it back', async () => {
    const { id } = await api.companyWithCertificate();
    const [first, until] = ['2098-01-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z'];
    await api.ask('PUT', captureOf(id), { body: { notBefore: first } });
    const next = async (action: string, body = {}) =>
      (await api.ask('POST', `${captureOf(id)}/${action}`, { body })).json.nextQueryAt;
    assert.equal(await next('pause', { until }), until);
    assert.equal(await next('pause', { until: '2097-01-01T00:00:00.000Z' }), first);
    assert.equal(await next('pause'), null);
    assert.equal(await next('resume'), first);
  });

  test('paused until an instant, or until it is resumed', async () => {
    const { id } = await api.companyWithCertificate();
    await api.ask('PUT', captureOf(id), { body: {} });
    const until = '2099-01-01T00:00:00.000Z';
    const paused = await api.ask('POST', `${captureOf(id)}/pause`, { body: { until } });
    assert.equal(paused.status, 202);
    assert.deepEqual([paused.json.phase, paused.json.pausedUntil], ['paused', until]);
    assert.equal(api.temporal.said.at(-1), `wake nfe homologation ${id}`);
    assert.equal((await api.ask('POST', `${captureOf(id)}/pause`)).json.pausedUntil, 'indefinitely');

    const resumed = await api.ask('POST', `${captureOf(id)}/resume`);
    assert.equal(resumed.status, 202);
    assert.deepEqual([resumed.json.phase, resumed.json.pausedUntil], ['querying', null]);
    assert.equal(api.temporal.said.at(-1), `resume nfe homologation ${id}`);
  });

  test('resumed: no wait that the rules ask for gets shorter', async () => {
    const { id } = await api.companyWithCertificate();
    await api.ask('PUT', captureOf(id), { body: {} });
    await api.db.query(
      `update captures set not_before = '2099-01-01T00:00:00Z', phase = 'attention',
         state = state || '{"phase": "attention", "failures": 10, "blockedUntil": 4070908800000}' where company_id = $1`,
      [id],
    );
    const { json } = await api.ask('POST', `${captureOf(id)}/resume`);
    assert.equal(json.phase, 'blocked');
    assert.equal(json.nextQueryAt, '2099-01-01T00:00:00.000Z');
    assert.equal(json.blockedUntil, '2099-01-01T00:00:00.000Z');
  });

  test('never started: 404', async () => {
    const { id } = await api.newCompany();
    for (const [method, rest] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/resume'],
      ['POST', '/pause'],
      ['GET', '/queries'],
      ['GET', '/gaps'],
    ] as const) {
      assert.equal((await api.ask(method, captureOf(id) + rest)).status, 404, `${method} ${rest}`);
    }
    assert.deepEqual((await api.ask('GET', `/v1/companies/${id}/captures`)).json, { data: [], nextCursor: null });
  });

  test('every order leaves an audit entry', async () => {
    const { id } = await api.companyWithCertificate();
    await api.ask('PUT', captureOf(id), { body: { minIntervalMinutes: 100 } });
    await api.ask('POST', `${captureOf(id)}/pause`);
    await api.ask('POST', `${captureOf(id)}/resume`);
    await api.ask('DELETE', captureOf(id));
    const { rows } = await api.db.query<{ action: string }>('select action from audit where target = $1 order by id', [
      `${id}/nfe/homologation`,
    ]);
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['capture.start', 'capture.pause', 'capture.resume', 'capture.stop'],
    );
  });
});

describe('while Temporal does not answer', () => {
  test('orders are stored, done later, and say so', async () => {
    const { id } = await api.companyWithCertificate();
    api.temporal.reachable = false;
    try {
      for (const [method, rest, status, enabled] of [
        ['PUT', '', 200, true],
        ['POST', '/pause', 202, true],
        ['POST', '/resume', 202, true],
        ['DELETE', '', 202, false],
      ] as const) {
        const body = method === 'PUT' ? {} : undefined;
        const answer = await api.ask(method, captureOf(id) + rest, { body });
        assert.equal(answer.status, status);
        assert.equal(answer.json.enabled, enabled);
        assert.deepEqual(
          answer.json.warnings.map(({ code }: { code: string }) => code),
          ['temporal_unreachable'],
        );
        assert.ok(!answer.text.includes('UNAVAILABLE'));
      }
      const { id: other } = await api.newCompany();
      assert.ok(other);
      const stored = await api.ask('GET', captureOf(id));
      assert.equal(stored.json.phase, 'stopped');
    } finally {
      api.temporal.reachable = true;
    }
  });

  test('a certificate is stored all the same', async () => {
    const company = await api.companyWithCertificate();
    await api.ask('PUT', captureOf(company.id), { body: {} });
    api.temporal.reachable = false;
    try {
      const body = { pfx: pfxFor(company.taxId).toString('base64'), password: PASSWORD };
      assert.equal((await api.ask('PUT', `/v1/companies/${company.id}/certificate`, { body })).status, 200);
    } finally {
      api.temporal.reachable = true;
    }
  });
});

describe('what is known of a capture', () => {
  test('state with quota, gaps and failed items', async () => {
    const { id } = await api.companyWithCertificate();
    await api.ask('PUT', captureOf(id), { body: {} });
    const answered = Date.now() - 600_000;
    await api.db.query(
      `insert into calls (id, started_at, company_id, document_type, environment, service, kind, status, deadline, archive_key, answered_at, granted)
       select 'run:' || n, to_timestamp($2) + n * interval '1 second', $1, 'nfe', 'homologation', 'nfe-distribution', 'consNSU', 'answered', now(), 'k',
         to_timestamp($2) + n * interval '1 second', true from generate_series(0, 19) n`,
      [id, answered / 1000],
    );
    const range = (from: string, to: string, status: 'pending' | 'awaiting_confirmation') =>
      ({ from: parseNsu(from), to: parseNsu(to), status, cause: 'page' }) as const;
    const gaps = [range('5', '5', 'pending'), range('9', '3000', 'awaiting_confirmation'), range('7', '7', 'pending')];
    await api.db.transaction((tx) => insertGaps(tx, key(id), gaps, Date.now()));
    await api.db.query(
      `insert into failed_items (id, company_id, document_type, environment, nsu, failure, detail, archive_id, object_key, byte_offset, byte_length, encoding, created_at)
       values ($1, $2, 'nfe', 'homologation', 8, 'gzip', 'cut', $1, 'k', 0, 1, 'base64+gzip', now())`,
      [randomUUID(), id],
    );
    const { json } = await api.ask('GET', captureOf(id));
    assert.equal(json.pointQueries.used, 20);
    assert.equal(json.pointQueries.nextSlotAt, new Date(answered + 3_600_000).toISOString());
    assert.deepEqual(json.gaps, { pending: 2, recovered: 0, nonexistent: 0, exhausted: 0, awaiting_confirmation: 1 });
    assert.equal(json.failedItems, 1);

    const listed = await api.ask('GET', `${captureOf(id)}/gaps?limit=2`);
    const next = await api.ask('GET', `${captureOf(id)}/gaps?limit=2&cursor=${listed.json.nextCursor}`);
    assert.deepEqual(
      [...listed.json.data, ...next.json.data].map(({ fromNsu, toNsu }) => `${Number(fromNsu)}-${Number(toNsu)}`),
      ['5-5', '7-7', '9-3000'],
    );
    assert.equal(next.json.nextCursor, null);
    const pending = await api.ask('GET', `${captureOf(id)}/gaps?status=pending`);
    assert.equal(pending.json.data.length, 2);
  });

  test('the call log, newest first, in pages', async () => {
    const { id } = await api.companyWithCertificate();
    await api.ask('PUT', captureOf(id), { body: {} });
    await api.db.query(
      `insert into calls (id, started_at, company_id, document_type, environment, service, kind, from_nsu, status, deadline, archive_key, answered_at, duration_ms, outcome, status_code, status_text, ult_nsu, max_nsu, documents)
       select 'run:' || n, '2026-11-30T10:00:00Z'::timestamptz + n * interval '1 hour', $1, 'nfe', 'homologation', 'nfe-distribution', 'distNSU', n, 'answered', now(), 'k', '2026-11-30T10:00:01Z', 812, 'documents', '138', 'Documento localizado', n + 50, 500, 50
       from generate_series(1, 3) n`,
      [id],
    );
    const first = await api.ask('GET', `${captureOf(id)}/queries?limit=2`);
    assert.deepEqual(first.json.data[0], {
      id: 'run:3',
      time: '2026-11-30T13:00:00.000Z',
      kind: 'distNSU',
      fromNsu: '000000000000003',
      status: 'answered',
      outcome: 'documents',
      statusCode: '138',
      statusText: 'Documento localizado',
      ultNsu: '000000000000053',
      maxNsu: '000000000000500',
      documents: 50,
      durationMs: 812,
      answeredAt: '2026-11-30T10:00:01.000Z',
      archiveId: null,
    });
    const second = await api.ask('GET', `${captureOf(id)}/queries?limit=2&cursor=${first.json.nextCursor}`);
    assert.deepEqual(
      second.json.data.map((call: { id: string }) => call.id),
      ['run:1'],
    );
    assert.equal((await api.ask('GET', `${captureOf(id)}/queries?statusCode=656`)).json.data.length, 0);
  });

  test('captures of all companies are filtered', async () => {
    const { id } = await api.newCompany({ uf: 'AC' }).then(async (company) => {
      const body = { pfx: pfxFor(company.taxId).toString('base64'), password: PASSWORD };
      await api.ask('PUT', `/v1/companies/${company.id}/certificate`, { body });
      return company;
    });
    await api.ask('PUT', captureOf(id), { body: { environment: 'production' } });
    await api.ask('POST', `${captureOf(id)}/pause`);
    const ids = async (query: string) =>
      (await api.ask('GET', `/v1/captures?${query}`)).json.data.map((one: { companyId: string }) => one.companyId);
    assert.deepEqual(await ids('uf=AC'), [id]);
    assert.deepEqual(await ids('phase=paused&environment=production'), [id]);
    assert.deepEqual(await ids('uf=AC&enabled=false'), []);
    assert.deepEqual(await ids('uf=AC&documentType=cte'), []);
  });
});
