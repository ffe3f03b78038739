import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import fc from 'fast-check';
import { onSkippedTime } from './skipped-time.js';
import type { System } from './system.js';

const HOUR = 3_600_000;
const HOURS = 48;

describe('48 hours of one company, arrivals at random times', () => {
  let env: TestWorkflowEnvironment;
  let system: System;
  onSkippedTime((parts) => {
    ({ env, system } = parts);
  });

  test('every document is captured, byte for byte, and no rule is broken', async () => {
    const [arrivals] = fc.sample(
      fc.array(fc.record({ hour: fc.integer({ min: 0, max: HOURS - 3 }), count: fc.integer({ min: 1, max: 120 }) }), {
        minLength: 12,
        maxLength: 30,
      }),
      1,
    );
    assert.ok(arrivals);
    const taxId = '11222333000181';
    system.simulator.clock.push(await env.currentTimeMs(), true);
    system.simulator.companies.add({ taxId, backlog: 333 });
    const companyId = await system.addCompany(taxId);
    const capture = await system.startCapture(companyId);
    for (let hour = 0; hour < HOURS; hour++) {
      for (const { count } of arrivals.filter((arrival) => arrival.hour === hour))
        system.simulator.companies.arrive({ taxId, count });
      await env.sleep(HOUR);
    }
    const truth = new Map(
      system.simulator.companies.truth({ taxId, limit: 10_000 }).map(({ nsu, sha256 }) => [nsu as string, sha256]),
    );
    assert.deepEqual(await system.stored(companyId), truth, `arrivals: ${JSON.stringify(arrivals)}`);
    assert.deepEqual(system.simulator.journal.violations(), []);
    const calls = system.simulator.journal.list().length;
    assert.ok(calls >= 40 && calls <= 48 + truth.size / 50 + arrivals.length, `${calls} calls`);
    await system.messenger.stopCapture(capture);
  });
});
