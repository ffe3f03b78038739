import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import proto from '@temporalio/proto';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { workflowBundle } from './harness.js';

/**
 * Captures live for years and are replayed by newer code at every wake-up. Each released version left histories of every phase here
 * (record-histories.ts); a change of the order of commands that is not guarded by `patched()` fails these tests.
 */
const root = fileURLToPath(new URL('../histories/', import.meta.url));
const recorded = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.pb'));

const historyIn = (file: string) => proto.temporal.api.history.v1.History.decode(readFileSync(`${root}${file}`));

describe('recorded histories replay with today’s workflow code', () => {
  test('there are some of every phase', () => {
    assert.ok(existsSync(root) && recorded.length >= 8, `${recorded.length} histories`);
  });
  for (const file of recorded) {
    test(file, async () => {
      await Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, historyIn(file));
    });
  }

  test('and the check bites: code with one activity more does not replay', async () => {
    const bundle = await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('./changed-workflows.ts', import.meta.url)),
      logger: new DefaultLogger('ERROR'),
    });
    const file = recorded.find((name) => name.includes('querying-waiting')) ?? '';
    await assert.rejects(
      Worker.runReplayHistory({ workflowBundle: bundle }, historyIn(file)),
      DeterminismViolationError,
    );
  });
});
