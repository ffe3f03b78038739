import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { cnpjCheckDigits } from '../../src/documents/index.js';
import { until } from '../support/until.js';
import { onSkippedTime } from './skipped-time.js';
import type { System } from './system.js';

const MINUTE = 60_000;
const CAPTURES = 500;

describe('a service that is shut down for all (108)', () => {
  let env: TestWorkflowEnvironment;
  let system: System;
  /** Companies that asked, or that the guard told to wait. */
  const looked = new Set<string>();
  onSkippedTime(
    (parts) => {
      ({ env, system } = parts);
    },
    {
      observer: {
        refused: ({ companyId }) => looked.add(companyId),
        settled: ({ companyId }) => looked.add(companyId),
      },
    },
  );

  test('500 captures resume alone, spread out, after one probe', async () => {
    system.simulator.clock.push(await env.currentTimeMs(), true);
    const companies: string[] = [];
    for (let i = 0; i < CAPTURES; i++) {
      const first12 = `${String(20_000_000 + i * 91)}0001`;
      const taxId = first12 + cnpjCheckDigits(first12);
      system.simulator.companies.add({ taxId, backlog: 1 });
      companies.push(await system.addCompany(taxId, { shareKey: true }));
    }
    system.simulator.script({ type: 'status', cStat: '108' }, { count: null });
    await Promise.all(companies.map((companyId) => system.startCapture(companyId)));
    const shutDown = () => system.simulator.journal.list({ limit: 10_000 });
    await until(() => looked.size >= CAPTURES, 'every capture has looked once', 120_000);
    const before = shutDown().length;
    assert.ok(before <= 30, `${before} of ${CAPTURES} asked before the pause was known`);

    // Two pauses later the service still says 108: one probe for each, no more.
    await env.sleep(11 * MINUTE);
    const probes = shutDown().length - before;
    assert.ok(probes >= 1 && probes <= 3, `${probes} probes`);

    system.simulator.scripts.clear();
    const from = shutDown().at(-1)?.sequence ?? 0;
    await env.sleep(30 * MINUTE);
    const calls = system.simulator.journal.list({ after: from, limit: 10_000 });
    assert.equal(new Set(calls.map((call) => call.taxId)).size, CAPTURES, 'all are back, nobody woke them');
    const instants = calls.map((call) => Date.parse(call.time)).sort((a, b) => a - b);
    const [probe = 0, second = 0] = instants;
    assert.ok(second >= probe, 'the others came after the probe');
    const middleHalf = (instants[Math.floor(CAPTURES * 0.75)] ?? 0) - (instants[Math.floor(CAPTURES * 0.25)] ?? 0);
    assert.ok(middleHalf > MINUTE, `spread out: half of them within ${middleHalf / MINUTE} min`);
    assert.deepEqual(system.simulator.journal.violations(), []);
    const { rows } = await system.database.query('select code, closed_at from alerts where closed_at is null');
    assert.deepEqual(rows, [], 'nothing is counted against anybody');
  });
});
