import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import type { Connection } from '@temporalio/client';
import { temporalGateway } from '../../src/api/temporal-client-gateway.js';
import { TASK_QUEUES } from '../../src/model/activity-contract.js';
import type { CaptureKey } from '../../src/model/words.js';
import { getCapture } from '../../src/storage/captures.js';
import { WORKFLOW_TYPES } from '../../src/workflows/messages.js';
import { testApi } from '../api/support.js';
import { NO_SCHEMAS, schemaOf } from '../support/xsd.js';
import { skippingServer } from '../workflows/harness.js';
import { System } from './system.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const env = await skippingServer();
const system = await System.start({
  temporal: { nativeConnection: env.nativeConnection, namespace: env.namespace ?? 'default' },
  skipping: true,
  simulator: NO_SCHEMAS ? {} : { inspectNfseEvents: schemaOf('nfse/v1.01/pedRegEvento_v1.01.xsd') },
});
await system.startWorkers();
const api = await testApi({
  database: system.database,
  objectStore: system.objectStore,
  temporal: temporalGateway(env.connection as Connection, env.namespace ?? 'default'),
});
after(async () => {
  await system.stop();
  await env.teardown();
});

/** The whole of Malote against the simulated ADN and Sefin, on skipped time: what the journal saw is the judge. */
describe('NFS-e', () => {
  beforeEach(() => system.simulator.reset());

  /** The company's calls, as the ADN saw them. */
  const calls = (taxId: string) =>
    system.simulator.journal.list({ taxId }).map(({ time, asked, httpStatus, documents }) => ({
      at: Date.parse(time),
      asked: Number(asked),
      httpStatus,
      documents,
    }));
  const waits = (list: readonly { readonly at: number }[]) => list.slice(1).map(({ at }, i) => at - (list[i]?.at ?? 0));

  async function capturing(taxId: string): Promise<CaptureKey> {
    system.simulator.clock.push(await env.currentTimeMs(), true);
    const companyId = await system.addCompany(taxId);
    return system.startCapture(companyId, {}, 'nfse');
  }

  const rowOf = async (capture: CaptureKey) => {
    const row = await getCapture(system.database, capture);
    assert.ok(row);
    return row;
  };

  async function close(capture: CaptureKey): Promise<void> {
    await system.messenger.stopCapture(capture);
    const { documentType, environment, companyId } = capture;
    await system.client.workflow.getHandle(`capture/${documentType}/${environment}/${companyId}`).result();
  }

  test('2,500 documents drain in one run of 50 pages; the next one comes after 30 s; nothing is lost', async () => {
    const taxId = '11222333000181';
    system.simulator.clock.push(await env.currentTimeMs(), true);
    system.simulator.nfse.add({
      taxId,
      backlog: 2_500,
      eventsEvery: 10,
      strangersEvery: 50,
      issuedEvery: 33,
      gaps: { every: 40, exist: false },
    });
    system.simulator.policy = { ...system.simulator.policy, adnRepeatsStart: true };
    const capture = await capturing(taxId);
    await env.sleep(30 * MINUTE);

    const made = calls(taxId);
    const pages = made.filter(({ documents }) => documents > 1);
    // With the start number repeated at the head of each but the first, a page has 49 that are new.
    assert.equal(pages.length, 1 + (2_500 - 50) / 49);
    const between = waits(made);
    assert.ok(
      between.slice(0, 49).every((ms) => ms >= 2 * SECOND && ms < 20 * SECOND),
      `${between.slice(0, 49)}`,
    );
    assert.ok((between[49] ?? 0) >= 30 * SECOND && (between[49] ?? 0) < MINUTE, `${between[49]}`);
    assert.deepEqual(
      await system.stored(capture.companyId),
      new Map(system.simulator.nfse.truth({ taxId }).map(({ nsu, sha256 }) => [nsu, sha256])),
    );
    assert.equal((await rowOf(capture)).phase, 'waiting');
    assert.deepEqual(system.simulator.journal.violations(), []);

    // An hour later, not before, and from the same place.
    system.simulator.nfse.arrive({ taxId, count: 3, arrivedAt: await env.currentTimeMs() });
    await env.sleep(45 * MINUTE);
    const [empty, next, ...rest] = calls(taxId).slice(made.length - 1);
    assert.ok(empty && next && next.at - empty.at >= HOUR && next.at - empty.at <= HOUR + 5 * MINUTE);
    // Where the night has come meanwhile, a second pass over the numbers that are missing goes first.
    const from = Number((await rowOf(capture)).state.ultNsu) - 3;
    assert.ok([next, ...rest].some(({ asked }) => asked === from));
    assert.deepEqual(system.simulator.journal.violations(), []);
    await close(capture);
  });

  test('the same note on demand and by distribution: one row, one webhook', async () => {
    const taxId = '55666777000181';
    const capture = await capturing(taxId);
    await env.sleep(5 * MINUTE);
    system.simulator.nfse.arrive({ taxId, count: 2, eventsEvery: 2 });
    const key = system.simulator.nfse.items({ taxId })[0]?.key ?? '';
    const result = await system.messenger.captureOnDemand(capture, key);
    assert.equal(result.kind, 'document');
    const documents = async () =>
      (
        await system.database.query<{ kind: string; state: string; nsu: string | null }>(
          'select kind, state, nsu::text from documents where company_id = $1 order by kind',
          [capture.companyId],
        )
      ).rows.map(({ kind, state, nsu }) => [kind, state, nsu]);
    const told = async () =>
      (await system.database.query('select from events where company_id = $1', [capture.companyId])).rows.length;
    assert.deepEqual(
      [await documents(), await told()],
      [
        [
          ['NFSe', 'cancelled', null],
          ['evento', 'cancelled', null],
        ],
        0,
      ],
    );
    assert.deepEqual(await system.messenger.captureOnDemand(capture, key), result);
    assert.equal(system.simulator.journal.list({ taxId }).filter(({ service }) => service === 'nfse-sefin').length, 1);

    await env.sleep(70 * MINUTE);
    assert.deepEqual(
      [await documents(), await told()],
      [
        [
          ['NFSe', 'cancelled', '1'],
          ['evento', 'cancelled', '2'],
        ],
        2,
      ],
    );

    // Its printed form is made in the background, of what is known by then. One that a slow machine could not make in its time is tried again.
    const printed = async (run: number) => {
      await env.sleep(2 * MINUTE);
      await system.client.workflow.execute(WORKFLOW_TYPES.housekeeping, {
        taskQueue: TASK_QUEUES.workflows,
        workflowId: `housekeeping-minute-pdfs-${run}`,
        args: [{ every: 'minute' }],
      });
      const { rows } = await system.database.query<{ status: string; failure: string | null; objectKey: string }>(
        `select p.status, p.failure, p.object_key as "objectKey" from pdfs p join documents d on d.id = p.document_id where d.company_id = $1`,
        [capture.companyId],
      );
      return rows;
    };
    let pdfs = await printed(1);
    for (let run = 2; run <= 3 && pdfs.some(({ status }) => status === 'pending'); run += 1) pdfs = await printed(run);
    assert.deepEqual(
      pdfs.map(({ status, failure }) => [status, failure]),
      [['done', null]],
    );
    const pdf = await system.objectStore.get(pdfs[0]?.objectKey ?? '');
    assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
    assert.deepEqual(system.simulator.journal.violations(), []);
    await close(capture);
  });

  test('a statement of the taker, its answer lost: read back and not sent again; distributed later, told of once', async () => {
    const taxId = '66777888000181';
    system.simulator.clock.push(await env.currentTimeMs(), true);
    system.simulator.nfse.add({ taxId, backlog: 4, issuedEvery: 4 });
    const capture = await capturing(taxId);
    await env.sleep(5 * MINUTE);
    const [confirmed, rejected] = system.simulator.nfse.items({ taxId }).map(({ key }) => key);
    assert.ok(confirmed && rejected);
    system.simulator.script({ type: 'reset' }, { documentType: 'nfse', taxId, kind: 'nfseEvento' });
    system.simulator.script({ type: 'html', httpStatus: 404 }, { documentType: 'nfse', taxId, kind: 'nfseEventoLido' });
    const ask = async (body: object) => {
      const path = `/v1/companies/${capture.companyId}/manifestations`;
      const { status, json, text } = await api.ask('POST', path, { body: { ...body, confirm: true } });
      assert.deepEqual([status, json.status], [202, 'pending'], text);
      return async () => (await api.ask('GET', `/v1/manifestations/${json.id}`)).json;
    };
    const first = await ask({ key: confirmed, type: '203202' });
    await env.sleep(30 * MINUTE);
    const second = await ask({ key: rejected, type: '203206', reasonCode: '3' });
    await env.sleep(10 * MINUTE);
    assert.deepEqual(
      [(await first()).status, (await first()).attempts, (await second()).status],
      ['registered', 1, 'registered'],
    );
    const sefin = () =>
      system.simulator.journal
        .list({ taxId })
        .filter(({ kind }) => kind.startsWith('nfseEvento'))
        .map(({ kind, asked, httpStatus }) => [kind, asked === confirmed ? 'confirmed' : 'rejected', httpStatus]);
    assert.deepEqual(sefin(), [
      ['nfseEvento', 'confirmed', 201],
      ['nfseEventoLido', 'confirmed', 404],
      ['nfseEventoLido', 'confirmed', 200],
      ['nfseEvento', 'rejected', 201],
    ]);

    await env.sleep(2 * HOUR);
    const { rows } = await system.database.query<{ type: string; origin: string; numbered: boolean; told: number }>(
      `select event_type as type, origin, nsu is not null as numbered,
         (select count(*)::int from events e where e.document_id = d.id) as told
       from documents d where company_id = $1 and kind = 'evento' order by event_type`,
      [capture.companyId],
    );
    assert.deepEqual(
      rows,
      ['203202', '203206'].map((type) => ({ type, origin: 'manifestation', numbered: true, told: 1 })),
    );
    assert.deepEqual(system.simulator.journal.violations(), []);
    await close(capture);
  });

  test('a storm of 429: an hour each, or as long as it says; the cursor stays and nothing counts as a failure', async () => {
    const taxId = '22333444000181';
    system.simulator.nfse.add({ taxId, backlog: 3 });
    system.simulator.script({ type: 'throttle' }, { documentType: 'nfse', taxId, count: 3 });
    system.simulator.script({ type: 'throttle', retryAfter: '300' }, { documentType: 'nfse', taxId });
    const capture = await capturing(taxId);
    await env.sleep(3 * HOUR + 30 * MINUTE);
    const made = calls(taxId);
    const [first, second, third, fourth] = waits(made);
    for (const wait of [first, second, third]) assert.ok(wait && wait >= HOUR && wait <= HOUR + 4 * MINUTE, `${wait}`);
    assert.ok(fourth && fourth >= 5 * MINUTE && fourth <= 6 * MINUTE, `${fourth}`);
    assert.ok(made.slice(0, 5).every(({ asked }) => asked === 0));
    const { state } = await rowOf(capture);
    assert.deepEqual([state.failures, Number(state.ultNsu)], [0, 3]);
    await close(capture);
  });

  test('an outage of two hours for everybody: few calls, one alert, nothing counted; all come back by themselves', async () => {
    const taxIds = [
      '11333555000171',
      '22444666000171',
      '33555777000171',
      '44666888000171',
      '55777999000171',
      '66888111000194',
    ];
    const all: CaptureKey[] = [];
    for (const taxId of taxIds) {
      system.simulator.nfse.add({ taxId, backlog: 60 });
      all.push(await capturing(taxId));
    }
    await env.sleep(5 * MINUTE);
    for (const taxId of taxIds) system.simulator.nfse.arrive({ taxId, count: 5, arrivedAt: await env.currentTimeMs() });
    system.simulator.setOutage('503');
    const began = system.simulator.journal.list().length;
    await env.sleep(2 * HOUR);
    const alerts = async () =>
      (
        await system.database.query<{ open: boolean }>(
          `select closed_at is null as open from alerts where code = 'service_outage' and document_type = 'nfse'`,
        )
      ).rows;
    assert.deepEqual(await alerts(), [{ open: true }]);
    // Each attempt of a call stands in the journal: four where a 5xx is asked again.
    const attempts = system.simulator.journal
      .list()
      .slice(began)
      .filter(({ scripted }) => scripted === 'outage 503');
    assert.ok(attempts.length >= 4 * 5 && attempts.length <= 4 * 30, `${attempts.length} attempts`);

    system.simulator.setOutage(null);
    await env.sleep(2 * HOUR);
    for (const [i, capture] of all.entries()) {
      const { phase, state } = await rowOf(capture);
      assert.deepEqual([phase, Number(state.ultNsu), state.failures], ['waiting', 65, 0], taxIds[i]);
      await close(capture);
    }
    assert.deepEqual(await alerts(), [{ open: false }]);
    assert.deepEqual(system.simulator.journal.violations(), []);
  });

  test('an outage of two hours: 1 minute doubling, then it goes on by itself', async () => {
    const taxId = '33444555000181';
    system.simulator.nfse.add({ taxId, backlog: 3 });
    // What a gateway says that routes nothing: unlike a 5xx it is not asked again within the call.
    system.simulator.script({ type: 'html', httpStatus: 404 }, { documentType: 'nfse', taxId, count: null });
    const capture = await capturing(taxId);
    await env.sleep(2 * HOUR);
    const minutes = waits(calls(taxId)).map((ms) => ms / MINUTE);
    const expected = [1, 2, 4, 8, 16, 32].slice(0, minutes.length);
    assert.ok(minutes.length >= 5, `${minutes}`);
    expected.forEach((wait, i) => {
      const real = minutes[i] ?? 0;
      assert.ok(real >= wait && real <= wait * 1.1 + 0.5, `${minutes}`);
    });
    assert.equal((await rowOf(capture)).phase, 'backing-off');
    system.simulator.scripts.clear();
    await env.sleep(70 * MINUTE);
    const { state, phase } = await rowOf(capture);
    assert.deepEqual([phase, Number(state.ultNsu), state.failures], ['waiting', 3, 0]);
    await close(capture);
  });

  test('a certificate that is refused ten times: disabled with an alert, and nobody asks until it is resumed', async () => {
    const taxId = '44555666000181';
    system.simulator.nfse.add({ taxId, backlog: 3 });
    system.simulator.script({ type: 'html', httpStatus: 496 }, { documentType: 'nfse', taxId, count: null });
    const capture = await capturing(taxId);
    await env.sleep(24 * HOUR);
    assert.equal(calls(taxId).length, 10);
    assert.equal((await rowOf(capture)).phase, 'disabled');
    const { rows } = await system.database.query(
      'select from alerts where company_id = $1 and code = $2 and closed_at is null',
      [capture.companyId, 'capture_disabled'],
    );
    assert.equal(rows.length, 1);
    system.simulator.scripts.clear();
    const resumed = await api.ask('POST', `/v1/companies/${capture.companyId}/captures/nfse/resume`);
    assert.equal(resumed.status, 202);
    await env.sleep(5 * MINUTE);
    assert.equal(Number((await rowOf(capture)).state.ultNsu), 3);
    await close(capture);
  });
});
