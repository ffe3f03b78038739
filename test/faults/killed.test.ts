import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Failpoint } from '../../src/activities/index.js';
import type { CaptureKey } from '../../src/model/words.js';
import { drain, simulatedCapture, simulatedWorld } from '../activities/simulated.js';
import { committed, nextActivity, query } from '../activities/support.js';
import { cnpj } from '../documents/samples.js';
import type { KilledWorker } from './killed-worker.js';

/** Real processes, killed with SIGKILL, against the simulated government: its journal is the judge, its truth the measure. */
const w = await simulatedWorld();
const BACKLOG = 120;

const PLACES: readonly Failpoint[] = [
  'before_record',
  'after_record',
  'before_send',
  'after_send',
  'after_archive',
  'inside_transaction',
  'after_commit',
];

describe('kill -9', () => {
  for (const [i, place] of PLACES.entries()) {
    test(`${place}: no call too many, no rule broken, nothing lost`, async () => {
      const taxId = cnpj(`${61_000_000 + i}0001`);
      const capture = await simulatedCapture(w, { taxId, backlog: BACKLOG });
      assert.equal(committed(await query(w, capture)).documents, 50);
      const activity = await nextActivity(w, capture);
      await killedAt(place, capture, { ...activity.input, runId: activity.runId });
      const sent = w.simulator.journal.list({ taxId }).length - 1;
      assert.equal(sent, ['before_record', 'after_record', 'before_send'].includes(place) ? 0 : 1);

      const next = committed(await activity.attempt(w.activities));
      const lost = ['after_record', 'before_send', 'after_send'].includes(place);
      assert.equal(next.outcome, lost ? 'unknown' : 'documents');
      assert.equal(w.simulator.journal.list({ taxId }).length - 1, place === 'before_record' ? 1 : sent);

      await drain(w, capture);
      await assertNothingLost(capture, taxId);
      const broken = w.simulator.journal.violations({ taxId }).map(({ rule }) => rule);
      // Only the page whose answer died with the process: the government had counted it, and said so.
      assert.deepEqual(broken, place === 'after_send' ? ['wrong_ultnsu'] : []);
    });
  }
});

async function killedAt(place: Failpoint, capture: CaptureKey, activity: KilledWorker['activity']): Promise<void> {
  const { simulator, url, objects, clock } = w;
  const access = { caPem: simulator.caPem, endpointsFile: simulator.endpointsFile() };
  const job: KilledWorker = { url, objects, ahead: clock.ahead, access, place, capture, activity };
  const script = fileURLToPath(new URL('killed-worker.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(job)], { stdio: 'inherit' });
  const [, signal] = await once(child, 'exit');
  assert.equal(signal, 'SIGKILL');
}

/** Every number that the government gave out is a document with its exact bytes, or in a gap that is to be recovered. */
async function assertNothingLost({ companyId }: CaptureKey, taxId: string): Promise<void> {
  const truth = w.simulator.companies.truth({ taxId, limit: 1_000 });
  assert.equal(truth.length, BACKLOG);
  const { rows } = await w.db.query<{ nsu: string; sha: string }>(
    `select lpad(nsu::text, 15, '0') as nsu, xml_sha256 as sha from documents where company_id = $1`,
    [companyId],
  );
  const { rows: gaps } = await w.db.query<{ from: string; to: string }>(
    `select lpad(from_nsu::text, 15, '0') as from, lpad(to_nsu::text, 15, '0') as to from gaps
     where company_id = $1 and status = 'pending'`,
    [companyId],
  );
  const stored = new Map(rows.map(({ nsu, sha }) => [nsu, sha]));
  assert.equal(stored.size, rows.length, 'each once');
  for (const { nsu, sha256 } of truth) {
    const inGap = gaps.some(({ from, to }) => from <= nsu && nsu <= to);
    assert.ok(inGap !== stored.has(nsu), `NSU ${nsu}`);
    if (stored.has(nsu)) assert.equal(stored.get(nsu), sha256);
  }
}
