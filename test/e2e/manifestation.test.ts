import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { MaloteClient } from '../../src/client/index.js';
import { TASK_QUEUES } from '../../src/model/activity-contract.js';
import type { Party } from '../../src/model/document.js';
import type { CaptureKey } from '../../src/model/words.js';
import { type DocumentRow, listDocuments } from '../../src/storage/documents.js';
import { listManifestations, type ManifestationRow } from '../../src/storage/manifestations.js';
import { WORKFLOW_TYPES } from '../../src/workflows/messages.js';
import { cnpj } from '../documents/samples.js';
import { eventSchemas } from '../simulator/event-schemas.js';
import { until } from '../support/until.js';
import { skippingServer } from '../workflows/harness.js';
import { startApi } from './api.js';
import { System } from './system.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('manifestations from end to end, hours skipped, every signature verified and every request valid', () => {
  let env: TestWorkflowEnvironment;
  let system: System;
  before(async () => {
    env = await skippingServer();
    const inspectEvents = eventSchemas();
    system = await System.start({
      temporal: { nativeConnection: env.nativeConnection, namespace: env.namespace ?? 'default' },
      skipping: true,
      simulator: inspectEvents === undefined ? {} : { inspectEvents },
    });
    await system.startWorkers();
    system.simulator.clock.push(await env.currentTimeMs(), true);
  });
  after(async () => {
    await system?.stop();
    await env?.teardown();
  });

  const documentsOf = async (companyId: string, filter = {}): Promise<DocumentRow[]> =>
    (await listDocuments(system.database, { companyId, ...filter }, { limit: 500 })).rows;
  const manifestationsOf = async (companyId: string): Promise<ManifestationRow[]> =>
    (await listManifestations(system.database, { companyId }, { limit: 500 })).rows;
  const eventLines = (taxId: string) =>
    system.simulator.journal.list({ taxId }).filter(({ service }) => service.startsWith('nfe-event'));
  const stop = (capture: CaptureKey) => system.messenger.stopCapture(capture);

  test('automatic Awareness: one event for each summary that may have one, and then the whole notes', async () => {
    const taxId = '11222333000181';
    // Twenty days of notes: half of them are too old for Awareness.
    const kinds = { resNFe: 8, resEvento: 1, procEventoNFe: 1 };
    system.simulator.companies.add({ taxId, backlog: 150, kinds, spreadDays: 20 });
    const companyId = await system.addCompany(taxId);
    const capture = await system.startCapture(companyId, { autoAwareness: { enabled: true, minutesToWait: 30 } });
    await env.sleep('26 hours');
    system.simulator.companies.arrive({ taxId, count: 30, kinds: { resNFe: 1 } });
    await env.sleep('6 hours');

    const summaries = await documentsOf(companyId, { kind: 'resNFe' });
    const asked = summaries.filter(({ awarenessSkipped }) => awarenessSkipped === null);
    const skipped = summaries.filter(({ awarenessSkipped }) => awarenessSkipped !== null);
    assert.ok(asked.length > 60 && skipped.length > 30, `${asked.length} asked, ${skipped.length} skipped`);
    const reasons = new Set(skipped.map(({ awarenessSkipped }) => awarenessSkipped?.split(':')[0]));
    for (const reason of ['too_late', 'denied', 'cancelled']) assert.ok(reasons.has(reason), reason);
    assert.deepEqual(
      asked.map(({ fullXml }) => fullXml),
      asked.map(() => 'present'),
      'the whole note of each has come',
    );
    assert.deepEqual(
      (await documentsOf(companyId, { kind: 'procNFe' })).map(({ key }) => key).sort(),
      asked.map(({ key }) => key).sort(),
    );
    const rows = await manifestationsOf(companyId);
    assert.equal(rows.length, asked.length);
    assert.ok(
      rows.every(({ status, origin, attempts }) => status === 'registered' && origin === 'awareness' && attempts === 1),
    );

    const lines = eventLines(taxId);
    assert.equal(new Set(lines.map(({ asked: id }) => id)).size, lines.length, 'each event left once');
    const requests = new Set(lines.map(({ time }) => time)).size;
    assert.ok(requests <= Math.ceil(asked.length / 20) + 4, `${requests} requests for ${asked.length} events`);
    assert.deepEqual(system.simulator.journal.violations(), []);
    const truth = new Map(
      system.simulator.companies.truth({ taxId, limit: 10_000 }).map(({ nsu, sha256 }) => [nsu as string, sha256]),
    );
    assert.deepEqual(await system.stored(companyId), truth, 'nothing lost, nothing doubled');
    await stop(capture);
  });

  test('a request by signal outlives a shutdown and a lost answer, and is one event', async () => {
    const taxId = '98765432000198';
    system.simulator.companies.add({ taxId, backlog: 20, kinds: { resNFe: 1 }, spreadDays: 1 });
    const companyId = await system.addCompany(taxId);
    const capture = await system.startCapture(companyId);
    await env.sleep('1 minute');
    const [first, second] = (await documentsOf(companyId, { kind: 'resNFe', state: 'authorized' })).map(
      ({ key }) => key ?? '',
    );
    assert.ok(first && second);
    system.simulator.script({ type: 'status', cStat: '108' }, { kind: 'nfeRecepcaoEvento', count: 2 });
    system.simulator.script({ type: 'reset' }, { kind: 'nfeRecepcaoEvento' });
    for (const key of [first, second, first])
      await system.messenger.requestManifestation(capture, { key, type: '210200' });
    await env.sleep('1 hour');

    const rows = await manifestationsOf(companyId);
    assert.equal(rows.length, 2, 'asked twice, made once');
    // The lost answer had registered them: what came of the repeat is 573.
    assert.deepEqual(
      rows.map(({ status, statusCode, attempts, sequence }) => [status, statusCode, attempts, sequence]),
      rows.map(() => ['registered', '573', 4, 1]),
    );
    assert.ok(rows.every(({ documentId }) => documentId !== null));
    const events = system.simulator.events.list().filter(({ author }) => author === taxId);
    assert.deepEqual(events.map(({ id }) => id).sort(), [first, second].map((key) => `ID210200${key}01`).sort());
    await env.sleep('2 hours');
    assert.equal((await documentsOf(companyId, { kind: 'procNFe' })).length, 2, 'and the whole notes came');
    assert.deepEqual(system.simulator.journal.violations(), []);
    await stop(capture);
  });

  test('a 656 of distribution holds up nothing that is said', async () => {
    const taxId = '45678912000155';
    system.simulator.companies.add({ taxId, backlog: 20, kinds: { resNFe: 1 }, spreadDays: 1 });
    const companyId = await system.addCompany(taxId);
    const capture = await system.startCapture(companyId);
    await env.sleep('1 minute');
    system.simulator.script({ type: 'misuse', pointer: 0 }, { kind: 'distNSU', taxId });
    // 62 minutes and up to 3 of jitter after the first; the block then lasts 61.
    await env.sleep('66 minutes');
    const phase = async () =>
      (await system.database.query<{ phase: string }>('select phase from captures where company_id = $1', [companyId]))
        .rows[0]?.phase;
    await until(async () => (await phase()) === 'blocked', 'blocked');
    const [key = ''] = (await documentsOf(companyId, { state: 'authorized' })).map((row) => row.key ?? '');
    await system.messenger.requestManifestation(capture, { key, type: '210210' });
    await env.sleep('2 minutes');
    assert.equal(await phase(), 'blocked');
    assert.deepEqual(
      (await manifestationsOf(companyId)).map(({ status }) => status),
      ['registered'],
    );
    await stop(capture);
  });

  test('two days without the whole note: overdue, with an alert; it ends when the note comes', async () => {
    const taxId = '12ABC34501DE35';
    system.simulator.policy = { ...system.simulator.policy, releasesWhole: false };
    system.simulator.companies.add({ taxId, backlog: 5, kinds: { resNFe: 1 }, spreadDays: 1 });
    const companyId = await system.addCompany(taxId);
    const capture = await system.startCapture(companyId, { autoAwareness: { enabled: true, minutesToWait: 5 } });
    const housekeeping = async () => {
      await env.client.workflow.execute(WORKFLOW_TYPES.housekeeping, {
        taskQueue: TASK_QUEUES.workflows,
        workflowId: `housekeeping-minute-${await env.currentTimeMs()}`,
        args: [{ every: 'minute' }],
      });
    };
    const alerts = async () =>
      (
        await system.database.query<{ code: string }>(
          `select code from alerts where company_id = $1 and code = 'full_xml_overdue' and closed_at is null`,
          [companyId],
        )
      ).rows.length;
    await env.sleep('47 hours');
    await housekeeping();
    const awaited = await documentsOf(companyId, { fullXml: 'awaited' });
    assert.ok(awaited.length > 0);
    assert.equal(await alerts(), 0);
    await env.sleep('2 hours');
    await housekeeping();
    const overdue = await documentsOf(companyId, { fullXml: 'overdue' });
    assert.deepEqual(overdue.map(({ key }) => key).sort(), awaited.map(({ key }) => key).sort());
    assert.equal(await alerts(), 1);
    await housekeeping();
    assert.equal(await alerts(), 1);

    const keys = overdue.map(({ key }) => key ?? '');
    system.simulator.companies.giveWhole({ taxId, keys });
    await env.sleep('2 hours');
    await housekeeping();
    assert.equal((await documentsOf(companyId, { kind: 'procNFe', fullXml: 'present' })).length, keys.length);
    assert.equal((await documentsOf(companyId, { fullXml: 'overdue' })).length, 0);
    assert.equal(await alerts(), 0);
    const points = system.simulator.journal.list({ taxId }).filter(({ kind }) => kind === 'consChNFe');
    assert.deepEqual(points, [], 'nobody asked by key');
    await stop(capture);
  });

  test('the taker of CT-e disagrees, takes it back and disagrees again, each time at the authorizer of the CT-e', async () => {
    const taxId = cnpj('607162730001');
    const obs = 'Frete cobrado acima do combinado';
    system.simulator.companies.add({ documentType: 'cte', taxId, backlog: 40, kinds: { procCTe: 1 }, spreadDays: 1 });
    const companyId = await system.addCompany(taxId);
    const capture = await system.startCapture(companyId, {}, 'cte');
    await env.sleep('1 minute');
    const freights = await documentsOf(companyId, { kind: 'procCTe' });
    const isTaker = ({ metadata }: DocumentRow) => (metadata.taker as Party | undefined)?.taxId === taxId;
    const [lost, plain] = freights.filter(isTaker).map(({ key }) => key ?? '');
    const foreign = freights.find((freight) => !isTaker(freight))?.key ?? '';
    assert.ok(lost && plain && foreign);
    const api = await startApi(system, env);
    const disagree = (...keys: string[]) =>
      api.ask('POST', `/v1/companies/${companyId}/manifestations/batch`, {
        items: keys.map((key) => ({ key, type: '610110', justification: obs })),
      });
    system.simulator.script({ type: 'reset' }, { kind: 'cteRecepcaoEvento' });
    const { json } = await disagree(lost, plain, foreign);
    assert.deepEqual(
      json.data.map((each: { error: { code: string } | null }) => each.error?.code ?? null),
      [null, null, 'manifestation_not_possible'],
    );
    await env.sleep('10 minutes');
    const rows = new Map((await manifestationsOf(companyId)).map((row) => [row.key, row]));
    // The first answer got lost: the repeat was told which event is there.
    const [first, second] = [rows.get(lost), rows.get(plain)];
    assert.deepEqual([first?.status, first?.statusCode, first?.attempts], ['registered', '631', 2]);
    assert.equal((await documentsOf(companyId, { kind: 'procEventoCTe', key: lost }))[0]?.id, first?.documentId);
    assert.deepEqual([second?.status, second?.statusCode, second?.attempts], ['registered', '135', 1]);
    const registered = system.simulator.events.list().filter(({ author }) => author === taxId);
    assert.deepEqual(
      registered.map(({ id, protocol }) => [id, protocol]),
      [first, second].map((row) => [`ID610110${row?.key}001`, row?.protocol]),
    );
    const [event] = await documentsOf(companyId, { kind: 'procEventoCTe', key: plain });
    assert.deepEqual([event?.id, event?.origin, event?.suppressed], [second?.documentId, 'manifestation', null]);
    const listed = await documentsOf(companyId, { kind: 'procCTe', manifestation: '610110' });
    assert.deepEqual(listed.map(({ key }) => key).sort(), [lost, plain].sort());

    // By the SDK: the capture of the type tells the environment, the disagreement's protocol is found, and nothing personal travels.
    const sdk = new MaloteClient({ connection: env.connection, namespace: env.namespace ?? 'default' });
    await sdk.requestManifestation({ companyId, key: lost, type: '610111' });
    await assert.rejects(
      sdk.requestManifestation({ companyId, key: lost, type: '610110' }),
      /request it by the HTTP API/,
    );
    await env.sleep('1 minute');
    await disagree(lost);
    await env.sleep('1 minute');
    const said = system.simulator.events.list().filter(({ author, key }) => author === taxId && key === lost);
    assert.deepEqual(
      said.map(({ type, sequence }) => `${type} ${sequence}`),
      ['610110 1', '610111 1', '610110 2'],
    );
    const { rows: told } = await system.database.query<{ action: string; n: number }>(
      `select action, count(*)::int as n from events where company_id = $1 group by action order by action`,
      [companyId],
    );
    assert.deepEqual(told, [
      // The one whose answer got lost as well.
      { action: 'event_raised_successfully', n: 4 },
      { action: 'issued_successfully', n: freights.length },
    ]);
    assert.deepEqual(system.simulator.journal.violations({ taxId }), []);
    await api.stop();
    await stop(capture);
  });

  test('housekeeping finds what nobody sends', async () => {
    const taxId = '33444555000181';
    system.simulator.companies.add({ taxId, backlog: 3, kinds: { resNFe: 1 }, spreadDays: 1 });
    const companyId = await system.addCompany(taxId);
    const capture = await system.startCapture(companyId);
    await env.sleep('1 minute');
    const [key = ''] = (await documentsOf(companyId, { state: 'authorized' })).map((row) => row.key ?? '');
    const now = await env.currentTimeMs();
    await system.database.query(
      `insert into manifestations (id, company_id, document_type, environment, key, type, sequence, origin, status, requested_at,
         expires_at, next_attempt_at)
       values (gen_random_uuid(), $1, 'nfe', 'homologation', $2, '210200', 1, 'request', 'pending', $3, $4, $3)`,
      [companyId, key, new Date(now), new Date(now + 90 * DAY)],
    );
    await env.sleep('3 minutes');
    await env.client.workflow.execute(WORKFLOW_TYPES.housekeeping, {
      taskQueue: TASK_QUEUES.workflows,
      workflowId: 'housekeeping-minute-lost',
      args: [{ every: 'minute' }],
    });
    await env.sleep('1 minute');
    await until(async () => (await manifestationsOf(companyId))[0]?.status === 'registered', 'registered');
    await stop(capture);
  });
});
