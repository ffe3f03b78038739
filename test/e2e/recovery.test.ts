import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { addNsu, ZERO_NSU } from '../../src/model/nsu.js';
import type { CaptureKey } from '../../src/model/words.js';
import type { SystemApi } from './api.js';
import { assertComplete } from './complete.js';
import { onSkippedTime } from './skipped-time.js';
import type { System } from './system.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const nsu = (n: number) => addNsu(ZERO_NSU, n);

describe('missing numbers, on skipped time', () => {
  let env: TestWorkflowEnvironment;
  let system: System;
  let api: SystemApi;
  onSkippedTime(
    (parts) => {
      ({ env, system, api } = parts);
    },
    {
      // A repeat of a lost page's request is refused, as the norm says.
      simulator: { policy: { tolerateRepeat: false } },
    },
  );

  async function captured(company: Parameters<System['simulator']['companies']['add']>[0]): Promise<CaptureKey> {
    system.simulator.clock.push(await env.currentTimeMs(), true);
    system.simulator.companies.add(company);
    return system.startCapture(await system.addCompany(company.taxId));
  }

  const reprocess = (capture: CaptureKey, body: object) =>
    api.ask('POST', `/v1/companies/${capture.companyId}/captures/nfe/reprocess`, body);

  /** When point queries of a tax ID were answered with a document, by the government's own journal. */
  const granted = (taxId: string) =>
    system.simulator.journal
      .list({ taxId })
      .filter(({ kind, documents }) => kind !== 'distNSU' && documents > 0)
      .map(({ time }) => Date.parse(time));

  test('30 gaps are recovered at no more than 20 an hour; who asks in between is told the right second, and gets that slot', async () => {
    const taxId = '11222333000181';
    const missing = Array.from({ length: 30 }, (_, i) => nsu(2 * (i + 1)));
    const capture = await captured({ taxId, backlog: 60, gaps: { nsus: missing } });
    await env.sleep('20 minutes');
    const first = granted(taxId);
    assert.equal(first.length, 20, 'as many as there are slots, oldest first');
    assert.deepEqual(
      system.simulator.journal
        .list({ taxId })
        .filter(({ kind }) => kind === 'consNSU')
        .map(({ asked }) => asked),
      missing.slice(0, 20),
    );

    // Three people in a row: each is announced a slot of his own.
    const asks = [58, 60, 56];
    for (const [i, number] of asks.entries()) {
      const now = await env.currentTimeMs();
      const { status, retryAfter, json } = await reprocess(capture, { nsu: String(number) });
      assert.deepEqual([status, json.code], [429, 'point_quota_exhausted']);
      const slot = (first[i] ?? 0) + HOUR;
      const seconds = (slot - now) / 1_000;
      // The government's instant and ours of the same answer, and the moment of asking, differ by little.
      assert.ok(retryAfter >= Math.floor(seconds) && retryAfter <= seconds + 3, `${retryAfter} s for ${seconds}`);
    }
    // One who is told to wait and does not is told the same.
    const again = await reprocess(capture, { nsu: '58' });
    assert.equal(again.status, 429);
    await env.sleep(again.retryAfter * 1_000);
    const served = await reprocess(capture, { nsu: '58' });
    assert.deepEqual(
      [served.status, served.json.document?.nsu, served.json.document?.origin],
      [200, nsu(58), 'reprocess'],
    );
    assert.equal((await reprocess(capture, { nsu: '58' })).status, 200, 'and then it is here');

    await env.sleep('4 hours');
    const instants = granted(taxId);
    assert.equal(instants.length, 30);
    for (const [i, at] of instants.entries()) {
      const later = instants[i + 20];
      assert.ok(later === undefined || later - at >= HOUR, `the 21st after ${(Number(later) - at) / MINUTE} minutes`);
    }
    const state = await api.ask('GET', `/v1/companies/${capture.companyId}/captures/nfe`);
    assert.deepEqual(state.json.gaps, { pending: 0, recovered: 30, nonexistent: 0, exhausted: 0 });
    await assertComplete(system, capture, taxId);
  });

  test('a lost page: the refusal of its repeat tells the pointer, and recovery brings every document', async () => {
    const taxId = '98765432000198';
    system.simulator.script({ type: 'slow', ms: 1 }, { taxId });
    system.simulator.script({ type: 'reset', counted: true }, { taxId });
    const capture = await captured({ taxId, backlog: 120 });
    await env.sleep('30 minutes');
    const gaps = await system.database.query(
      `select min(from_nsu)::int as from, max(to_nsu)::int as to, sum(to_nsu - from_nsu + 1)::int as numbers
       from gaps where company_id = $1 and cause = 'lost_page'`,
      [capture.companyId],
    );
    assert.deepEqual(gaps.rows, [{ from: 51, to: 100, numbers: 50 }]);
    await env.sleep('8 hours');
    await assertComplete(system, capture, taxId);
    const { rows } = await system.database.query<{ code: string }>('select code from alerts where company_id = $1', [
      capture.companyId,
    ]);
    assert.deepEqual(rows, [], 'it was our own page: nobody is alarmed');
  });

  test('a document that got lost here is missed in the night, and had again', async () => {
    const taxId = '45678912000155';
    const capture = await captured({ taxId, backlog: 40 });
    await env.sleep('10 minutes');
    await system.database.query('delete from documents where company_id = $1 and nsu in (7, 8, 30)', [
      capture.companyId,
    ]);
    await system.messenger.runNightlyGaps();
    assert.deepEqual(await env.client.workflow.getHandle('nightly-gaps').result(), {
      captures: 1,
      found: 2,
      reopened: 0,
      expired: 0,
    });
    await env.sleep('1 hour');
    await assertComplete(system, capture, taxId);
  });
});
