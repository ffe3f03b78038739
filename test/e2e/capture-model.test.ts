import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { Context } from '@temporalio/activity';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { cnpjCheckDigits } from '../../src/documents/index.js';
import { TASK_QUEUES } from '../../src/model/activity-contract.js';
import type { PointAnswer, PointAsk } from '../../src/model/point-query.js';
import { NIGHTLY_GAPS_ID, WORKFLOW_TYPES } from '../../src/workflows/messages.js';
import type { Death } from '../faults/capture-driver.js';
import type { SceneGovernment } from '../faults/capture-scene.js';
import { assertSequences, Sequence } from '../faults/capture-sequence.js';
import { eventSchemas } from '../simulator/event-schemas.js';
import { onSkippedTime } from './skipped-time.js';
import type { System } from './system.js';

/** The commands of the model (test/faults/capture-model.test.ts), few of them, over the real workflows, TLS and the simulator on skipped time. */

const SEQUENCES = Number(process.env.MALOTE_MODEL_RUNS ?? 20);
const MINUTE = 60_000;
/** Real time for a question to be taken, and for its answer where nothing holds it up. */
const REAL_TAKEN_MS = 60_000;
const REAL_ANSWERED_MS = 5_000;
const LONGEST_LEASE_MINUTES = 10;

describe('a capture and its manifestations, any sequence of events', () => {
  let env: TestWorkflowEnvironment;
  let system: System;
  const deaths: Death[] = [];
  const requests: string[][] = [];
  const schemas = eventSchemas();

  onSkippedTime(
    (parts) => {
      ({ env, system } = parts);
    },
    {
      simulator: {
        inspectEvents: (request) => {
          requests.push(request.match(/<evento[\s>].*?<\/evento>/gs) ?? []);
          return schemas?.(request) ?? null;
        },
      },
      activityOptions: {
        failpoint: (at) => {
          const of = Context.current().info.activityType === 'sendManifestations' ? 'events' : 'capture';
          const found = deaths.findIndex((death) => death.of === of && death.at === at);
          if (found < 0) return;
          deaths.splice(found, 1);
          throw new Error('the process died');
        },
      },
    },
  );

  let companies = 0;
  let last: SkippingSequence | null = null;

  class SkippingSequence extends Sequence {
    static async begin(backlog: number): Promise<SkippingSequence> {
      await last?.stop();
      companies += 1;
      const first12 = `${String(50_000_000 + companies)}0001`;
      const taxId = first12 + cnpjCheckDigits(first12);
      deaths.length = 0;
      requests.length = 0;
      system.simulator.clock.push(await env.currentTimeMs(), true);
      system.simulator.companies.add({ taxId, backlog });
      await system.database.query('delete from services');
      const companyId = await system.addCompany(taxId, { shareKey: true });
      const capture = await system.startCapture(companyId);
      last = new SkippingSequence(taxId, capture, system.database, governmentOf(system));
      return last;
    }

    now = () => env.currentTimeMs();
    await = async (instant: number) => env.sleep(Math.max(instant - (await this.now()), 1));
    die = (death: Death) => void deaths.push(death);
    protected wakeManifestations = () => system.messenger.wakeManifestation(this.capture);

    async pass(ms: number): Promise<void> {
      await env.sleep(ms);
      await this.#housekeeping();
    }

    /** Behind a call that died, a question waits until that call's lease ends, which is minutes of skipped time. */
    async ask(question: PointAsk): Promise<PointAnswer> {
      const id = randomUUID();
      for (let minutes = 0; minutes < LONGEST_LEASE_MINUTES; minutes++) {
        const times = { takenBy: Date.now() + REAL_TAKEN_MS, answeredBy: Date.now() + REAL_ANSWERED_MS };
        const asked = await system.messenger.askCapture(this.capture, question, times, id);
        if (asked.kind === 'answered') return asked.answer;
        assert.equal(asked.kind, 'taken');
        await env.sleep(MINUTE);
      }
      assert.fail('a question outlasted every lease');
    }

    async night(): Promise<void> {
      await system.messenger.runNightlyGaps();
      await env.client.workflow.getHandle(NIGHTLY_GAPS_ID).result();
      await this.#housekeeping();
    }

    /** Nobody runs Schedules here. What it wakes is done within the minute. */
    async #housekeeping(): Promise<void> {
      await env.client.workflow.execute(WORKFLOW_TYPES.housekeeping, {
        taskQueue: TASK_QUEUES.workflows,
        workflowId: `housekeeping-minute-${await this.now()}`,
        args: [{ every: 'minute' }],
      });
      await env.sleep(MINUTE);
    }

    stop = () => system.messenger.stopCapture(this.capture);
  }

  function governmentOf({ simulator }: System): SceneGovernment {
    const { journal, companies, events } = simulator;
    return {
      journal,
      companies,
      events,
      requests,
      script: (answer, taxId, kind) => void simulator.script(answer, { taxId, ...(kind !== undefined && { kind }) }),
      clearScripts: () => simulator.scripts.clear(),
      setOutage: (mode) => simulator.setOutage(mode),
    };
  }

  test(`${SEQUENCES} sequences over the workflows`, () =>
    assertSequences(SEQUENCES, SkippingSequence.begin, { maxCommands: 16, real: true }));
});
