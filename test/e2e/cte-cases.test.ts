import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { addNsu, ZERO_NSU } from '../../src/model/nsu.js';
import type { CaptureKey, CaptureOptions } from '../../src/model/words.js';
import { cnpj, cpf } from '../documents/samples.js';
import type { SystemApi } from './api.js';
import { assertComplete } from './complete.js';
import { onSkippedTime } from './skipped-time.js';
import type { System } from './system.js';

const MINUTE = 60_000;
const nsu = (n: number) => addNsu(ZERO_NSU, n);
type Script = Parameters<System['simulator']['script']>[0];

/** What went wrong for others with distribution (cases.md, group A), against CT-e's service: each company lives through one of them. */
describe('the cases of distribution, against CT-e', () => {
  let env: TestWorkflowEnvironment;
  let system: System;
  let api: SystemApi;
  let companies = 0;
  onSkippedTime((parts) => {
    ({ env, system, api } = parts);
  });

  interface Lived {
    readonly taxId: string;
    readonly capture: CaptureKey;
  }

  /** A company with a backlog; its calls get these answers first. */
  async function live(
    backlog: number,
    {
      scripts = [],
      options = {},
      taxId,
    }: { scripts?: readonly Script[]; options?: CaptureOptions; taxId?: string } = {},
  ): Promise<Lived> {
    companies += 1;
    const who = taxId ?? cnpj(`${70_000_000 + companies}0001`);
    system.simulator.clock.push(await env.currentTimeMs(), true);
    system.simulator.companies.add({ documentType: 'cte', taxId: who, backlog });
    for (const script of scripts) system.simulator.script(script, { documentType: 'cte', taxId: who, kind: 'distNSU' });
    return { taxId: who, capture: await system.startCapture(await system.addCompany(who), options, 'cte') };
  }
  const calls = ({ taxId }: Lived) => system.simulator.journal.list({ taxId });
  const asked = (lived: Lived) => calls(lived).map(({ asked: from, cStat }) => `${Number(from)}: ${cStat}`);
  const stateOf = async ({ capture }: Lived) =>
    (await api.ask('GET', `/v1/companies/${capture.companyId}/captures/cte`)).json;
  const alertsOf = async ({ capture }: Lived) =>
    (
      await system.database.query<{ code: string; severity: string }>(
        'select code, severity from alerts where company_id = $1 and closed_at is null',
        [capture.companyId],
      )
    ).rows;

  test('C01, C07, C08, C09: page after page from the exact ultNSU, none at the end, then an hour of silence', async () => {
    const lived = await live(120);
    await env.sleep('59 minutes');
    assert.deepEqual(asked(lived), ['0: 138', '50: 138', '100: 138']);
    await env.sleep('5 minutes');
    assert.deepEqual(asked(lived).slice(3), ['120: 137']);
    await assertComplete(system, lived.capture, lived.taxId);
  });

  test('C03, C04: a 656 that tells a pointer, ahead or behind, moves nothing: this layout has none', async () => {
    for (const pointer of [10, -10]) {
      const lived = await live(60, {
        scripts: [
          { type: 'page', size: 20 },
          { type: 'misuse', pointer },
        ],
      });
      await env.sleep('30 minutes');
      const { ultNsu, phase } = await stateOf(lived);
      assert.deepEqual([ultNsu, phase], [nsu(20), 'blocked']);
      assert.deepEqual(await alertsOf(lived), [], 'nobody is accused of another program');
      await env.sleep('40 minutes');
      await assertComplete(system, lived.capture, lived.taxId);
    }
  });

  test('C05, C06: a block outlives stop, start, options and a person’s resume; nobody asks during it', async () => {
    const lived = await live(60, {
      scripts: [
        { type: 'page', size: 20 },
        { type: 'misuse', pointer: 0 },
      ],
    });
    await env.sleep('5 minutes');
    const { capture } = lived;
    const { blockedUntil } = await stateOf(lived);
    await system.messenger.stopCapture(capture);
    await env.sleep('1 minute');
    await system.enable(capture, { eventTypes: ['110111'] });
    await system.messenger.startCapture(capture, {});
    await env.sleep('1 minute');
    await system.messenger.resumeCapture(capture);
    await env.sleep('50 minutes');
    assert.deepEqual(asked(lived), ['0: 138', '20: 656']);
    assert.equal((await stateOf(lived)).blockedUntil, blockedUntil);
    await env.sleep('10 minutes');
    assert.deepEqual(asked(lived).slice(2), ['20: 138']);
    await assertComplete(system, lived.capture, lived.taxId);
  });

  test('C11: a cursor above the maximum stays, with a critical alert', async () => {
    const lived = await live(20, { options: { startNsu: nsu(900) } });
    await env.sleep('10 minutes');
    assert.deepEqual(asked(lived), ['900: 589']);
    assert.equal((await stateOf(lived)).ultNsu, nsu(900));
    assert.deepEqual(await alertsOf(lived), [{ code: 'cursor_ahead', severity: 'critical' }]);
    await system.messenger.stopCapture(lived.capture);
  });

  test('C16, C42, C44: 109 pauses, a fault and a page of the web server wait a little, and all go on by themselves', async () => {
    const lived = await live(40, {
      scripts: [{ type: 'status', cStat: '109' }, { type: 'soap_fault' }, { type: 'html', httpStatus: 502 }],
    });
    await env.sleep('10 minutes');
    assert.equal((await stateOf(lived)).phase, 'paused');
    await env.sleep('1 hour');
    assert.deepEqual(
      calls(lived).map(({ cStat, httpStatus }) => cStat ?? httpStatus),
      ['109', 500, 502, '138'],
    );
    await assertComplete(system, lived.capture, lived.taxId);
  });

  test('C18: a certificate of another root blocks an hour, and is asked again no earlier', async () => {
    const lived = await live(10, { scripts: [{ type: 'status', cStat: '593' }] });
    await env.sleep('58 minutes');
    assert.deepEqual(asked(lived), ['0: 593']);
    await env.sleep('6 minutes');
    await assertComplete(system, lived.capture, lived.taxId);
  });

  test('C19: a person’s CPF', async () => {
    const lived = await live(15, { taxId: cpf('390533447') });
    await env.sleep('1 minute');
    await assertComplete(system, lived.capture, lived.taxId);
  });

  test('C22, C23: the 21st point query of an hour is refused here; a number that does not exist costs no slot', async () => {
    const lived = await live(30);
    await env.sleep('1 minute');
    await system.database.query('delete from documents where company_id = $1', [lived.capture.companyId]);
    const ask = (number: number) =>
      api.ask('POST', `/v1/companies/${lived.capture.companyId}/captures/cte/reprocess`, { nsu: String(number) });
    system.simulator.companies.arrive({
      documentType: 'cte',
      taxId: lived.taxId,
      count: 1,
      gaps: { nsus: [nsu(31)], exist: false },
    });
    assert.equal((await ask(31)).json.document ?? null, null);
    assert.deepEqual(asked(lived).slice(1), ['31: 137']);
    for (let i = 1; i <= 20; i++) assert.equal((await ask(i)).json.document?.nsu, nsu(i));
    const { status, retryAfter } = await ask(21);
    assert.equal(status, 429);
    assert.ok(retryAfter > 50 * 60 && retryAfter <= 61 * 60, `${retryAfter} s`);
    assert.equal(calls(lived).length, 22);
    const byKey = await api.ask('POST', `/v1/companies/${lived.capture.companyId}/captures/cte/reprocess`, {
      key: '3'.repeat(44),
    });
    assert.equal(byKey.status, 422, 'C65: there is no query by key');
    assert.deepEqual(system.simulator.journal.violations({ taxId: lived.taxId }), []);
    await system.messenger.stopCapture(lived.capture);
  });

  test('a lost answer is asked for again once, and no sooner than two minutes later', async () => {
    const lived = await live(80, {
      scripts: [
        { type: 'page', size: 20 },
        { type: 'reset', counted: false },
      ],
    });
    await env.sleep('10 minutes');
    const times = calls(lived).map(({ time }) => Date.parse(time));
    assert.ok(times.length >= 3 && (times[2] ?? 0) - (times[1] ?? 0) >= 2 * MINUTE);
    await env.sleep('2 hours');
    await assertComplete(system, lived.capture, lived.taxId);
  });
});
