import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { addNsu, ZERO_NSU } from '../../src/model/nsu.js';
import type { CaptureKey, CaptureOptions } from '../../src/model/words.js';
import { cnpj } from '../documents/samples.js';
import type { SystemApi } from './api.js';
import { assertComplete } from './complete.js';
import { onSkippedTime } from './skipped-time.js';
import type { System } from './system.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const nsu = (n: number) => addNsu(ZERO_NSU, n);

/** CT-e's own rules about missing numbers and misuse, through the whole system. What is NF-e's as well is proved there. */
describe('missing numbers of CT-e, on skipped time', () => {
  let env: TestWorkflowEnvironment;
  let system: System;
  let api: SystemApi;
  onSkippedTime((parts) => {
    ({ env, system, api } = parts);
  });

  async function captured(
    company: Omit<Parameters<System['simulator']['companies']['add']>[0], 'documentType'>,
    options: CaptureOptions = {},
  ): Promise<CaptureKey> {
    system.simulator.clock.push(await env.currentTimeMs(), true);
    system.simulator.companies.add({ ...company, documentType: 'cte' });
    return system.startCapture(await system.addCompany(company.taxId), options, 'cte');
  }
  const journal = (taxId: string, kind: string) =>
    system.simulator.journal.list({ taxId }).filter((entry) => entry.kind === kind);
  const stateOf = async ({ companyId, documentType }: CaptureKey) =>
    (await api.ask('GET', `/v1/companies/${companyId}/captures/${documentType}`)).json;
  const reprocess = ({ companyId }: CaptureKey, number: number) =>
    api.ask('POST', `/v1/companies/${companyId}/captures/cte/reprocess`, { nsu: String(number) });
  const documentAt = async ({ companyId }: CaptureKey, number: number) =>
    (await api.ask('GET', `/v1/documents?companyId=${companyId}&nsu=${number}`)).json.data[0];

  test('what pages leave out is asked for by consNSU: what exists comes, what does not is closed by its 137', async () => {
    const taxId = '11222333000181';
    const lost = [3, 4, 17, 33, 58];
    const capture = await captured(
      { taxId, backlog: 80, gaps: { nsus: lost.map(nsu) } },
      { interestedParties: ['taker'] },
    );
    const who = { documentType: 'cte', taxId } as const;
    await env.sleep('1 minute');
    assert.equal((await stateOf(capture)).ultNsu, nsu(80));
    await env.sleep('30 minutes');
    assert.deepEqual(
      journal(taxId, 'consNSU').map(({ asked, cStat }) => [asked, cStat]),
      lost.map((n) => [nsu(n), '138']),
      'oldest first',
    );
    assert.deepEqual((await stateOf(capture)).gaps, { pending: 0, recovered: 5, nonexistent: 0, exhausted: 0 });
    for (const n of lost) {
      const { origin, suppressed, metadata, kind } = await documentAt(capture, n);
      assert.equal(origin, 'recovery');
      // Told of as if its page had brought it.
      const taker = metadata.taker?.taxId === taxId;
      if (kind !== 'unknown' && kind !== 'procEventoCTe') {
        assert.equal(suppressed?.split(':')[0] ?? null, taker ? null : 'role_not_selected', `${n} ${kind}`);
      }
    }

    // Numbers behind the last document: no page mentions them, the empty queue's 137 passes over them.
    const first = 81;
    system.simulator.companies.arrive({
      ...who,
      count: 4,
      gaps: { nsus: [first, first + 1, first + 2, first + 3].map(nsu) },
    });
    const gone = [first + 4, first + 5];
    system.simulator.companies.arrive({ ...who, count: 2, gaps: { nsus: gone.map(nsu), exist: false } });
    await env.sleep('64 minutes');
    const [last] = journal(taxId, 'distNSU').slice(-1);
    assert.deepEqual([last?.cStat, last?.documents], ['137', 0]);
    assert.equal((await stateOf(capture)).ultNsu, nsu(86), '137 moves the cursor');
    await env.sleep('30 minutes');
    const closed = journal(taxId, 'consNSU').slice(lost.length);
    assert.deepEqual(
      closed.map(({ asked, cStat }) => [asked, cStat]),
      [...[81, 82, 83, 84].map((n) => [nsu(n), '138']), ...gone.map((n) => [nsu(n), '137'])],
    );
    assert.deepEqual((await stateOf(capture)).gaps, { pending: 0, recovered: 9, nonexistent: 2, exhausted: 0 });
    assert.equal((await stateOf(capture)).ultNsu, nsu(86), 'their answers never touch it');
    await assertComplete(system, capture, taxId);
  });

  test('a 656 of distribution leaves point queries alone', async () => {
    const taxId = '98765432000198';
    const capture = await captured({ taxId, backlog: 30 });
    await env.sleep('1 minute');
    system.simulator.companies.arrive({ documentType: 'cte', taxId, count: 12, gaps: { nsus: [33, 36].map(nsu) } });
    // The page comes and says that more is pending; what asks for it is refused.
    system.simulator.script({ type: 'page', size: 5 }, { documentType: 'cte', taxId, kind: 'distNSU' });
    system.simulator.script({ type: 'misuse', pointer: 0 }, { documentType: 'cte', taxId, kind: 'distNSU' });
    await env.sleep('66 minutes');
    const blocked = await stateOf(capture);
    assert.deepEqual(
      [blocked.phase, blocked.lastStatusCode, blocked.pointQueries.suspendedUntil],
      ['blocked', '656', null],
    );
    const since = journal(taxId, 'distNSU').length;
    assert.deepEqual((await reprocess(capture, 40)).json.document?.nsu, nsu(40), 'a person asks');
    await env.sleep('20 minutes');
    const refusedAt = journal(taxId, 'distNSU').at(-1)?.time ?? '';
    const points = journal(taxId, 'consNSU');
    assert.ok(points.every(({ time, cStat }) => time > refusedAt && cStat === '138'));
    assert.deepEqual(points.map(({ asked }) => asked).toSorted(), [33, 36, 40].map(nsu), 'and so does recovery');
    assert.equal((await stateOf(capture)).phase, 'blocked');
    assert.equal(journal(taxId, 'distNSU').length, since, 'distribution waits');
    await env.sleep('2 hours');
    assert.equal((await documentAt(capture, 40)).origin, 'reprocess');
    await assertComplete(system, capture, taxId);
  });

  test('a 656 of a point query leaves distribution alone', async () => {
    const taxId = '45678912000155';
    const capture = await captured({ taxId, backlog: 20, gaps: { nsus: [nsu(5)] } });
    system.simulator.script({ type: 'misuse', pointer: 0 }, { documentType: 'cte', taxId, kind: 'consNSU' });
    await env.sleep('10 minutes');
    assert.deepEqual(
      journal(taxId, 'consNSU').map(({ cStat }) => cStat),
      ['656'],
    );
    const { phase, pointQueries } = await stateOf(capture);
    assert.equal(phase, 'waiting');
    const suspended = Date.parse(pointQueries.suspendedUntil);
    const answeredAt = Date.parse(journal(taxId, 'consNSU')[0]?.time ?? '');
    assert.ok(suspended - answeredAt >= HOUR && suspended - answeredAt <= HOUR + 2 * MINUTE);
    const asked = await env.currentTimeMs();
    const refused = await reprocess(capture, 19 + 5);
    assert.equal(refused.status, 429);
    const retryAt = suspended - refused.retryAfter * 1_000;
    assert.ok(retryAt > asked - 5_000 && retryAt < (await env.currentTimeMs()) + 5_000);

    // Its hour over, distribution goes on while point queries still rest: those began ten minutes later.
    system.simulator.script({ type: 'misuse', pointer: 0 }, { documentType: 'cte', taxId, kind: 'consNSU' });
    system.simulator.companies.arrive({ documentType: 'cte', taxId, count: 10 });
    await env.sleep('54 minutes');
    const pages = journal(taxId, 'distNSU');
    assert.deepEqual([pages.length, pages.at(-1)?.documents], [2, 10]);
    await env.sleep('3 hours');
    await assertComplete(system, capture, taxId);
  });

  test('NF-e of the same company counts for itself: its block holds up no CT-e, and no CT-e is spent on it', async () => {
    const taxId = '33444555000181';
    const capture = await captured({ taxId, backlog: 20, gaps: { nsus: [nsu(2)] } });
    system.simulator.companies.add({ taxId, backlog: 20 });
    system.simulator.script({ type: 'misuse', pointer: 0 }, { documentType: 'nfe', taxId, kind: 'distNSU' });
    const nfe = await system.startCapture(capture.companyId);
    await env.sleep('20 minutes');
    assert.equal((await stateOf(nfe)).phase, 'blocked');
    const { phase, pointQueries, gaps } = await stateOf(capture);
    assert.deepEqual([phase, pointQueries.used, gaps.recovered], ['waiting', 1, 1]);
    assert.equal((await stateOf(nfe)).pointQueries.used, 0);
    await system.messenger.stopCapture(nfe);
    await assertComplete(system, capture, taxId);
  });

  test('taken in again: a number, an archived page, webhooks of a key and of a day', async () => {
    const taxId = cnpj('808182830001');
    await system.addEndpoint();
    const capture = await captured({ taxId, backlog: 30, kinds: { procCTe: 1 } });
    const { companyId } = capture;
    await env.sleep('5 minutes');
    assert.equal(await system.pending(), 0, 'told of');
    const told = () => system.receiver.arrivals.filter(({ body }) => JSON.parse(body).company?.id === companyId).length;
    assert.equal(told(), 30);
    const { archiveId } = (await api.ask('GET', `/v1/companies/${companyId}/captures/cte/queries`)).json.data[0];

    // What is here is told of again under the same webhook-id; what is not is asked for.
    const here = await reprocess(capture, 7);
    assert.deepEqual([here.status, here.json.document.nsu], [200, nsu(7)]);
    await system.database.query('delete from documents where company_id = $1 and nsu in (7, 8, 9)', [companyId]);
    assert.deepEqual((await reprocess(capture, 7)).json.document.origin, 'reprocess');
    assert.equal(journal(taxId, 'consNSU').length, 1);
    const again = await api.ask('POST', `/v1/companies/${companyId}/captures/cte/reprocess`, { archiveId });
    assert.ok([200, 202].includes(again.status));
    await env.sleep('1 minute');
    assert.equal((await api.ask('GET', `/v1/reprocess-requests/${again.json.id}`)).json.status, 'done');
    assert.equal(journal(taxId, 'consNSU').length, 1, 'an archive asks nobody');

    const key = (await documentAt(capture, 3)).key;
    const ofKey = await api.ask('POST', '/v1/webhook-deliveries/resend', { key });
    assert.deepEqual([ofKey.status, ofKey.json.count], [202, 1]);
    const now = await env.currentTimeMs();
    const period = { from: new Date(now - 24 * HOUR).toISOString(), to: new Date(now + HOUR).toISOString() };
    const ofDay = await api.ask('POST', '/v1/webhook-deliveries/resend', { companyId, ...period, documentType: 'cte' });
    assert.equal(ofDay.status, 202);
    assert.ok(ofDay.json.count >= 30, `${ofDay.json.count}`);
    await assertComplete(system, capture, taxId);
  });
});
