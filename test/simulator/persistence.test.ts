import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startSimulator } from '../../src/simulator/index.js';
import { scratchFolder } from '../support/scratch.js';
import { nsu, TestCompany } from './client.js';

const HOUR = 3_600_000;
const COMPANY = '98765432000198';

test('a simulator on the same folder goes on where the first one stood, even when that one was killed', async () => {
  const folder = scratchFolder('simulator');
  const first = await startSimulator({ folder, seed: 'um' });
  first.clock.push(Date.now() + 10 * HOUR, true);
  first.companies.add({ taxId: COMPANY, backlog: 200, gaps: { nsus: [7] } });
  first.companies.add({ taxId: '12ABC34501DE35', backlog: 1 });
  const certificate = first.issueA1({ taxId: COMPANY, name: 'x', password: '' });
  const before = new TestCompany(first, COMPANY, certificate);
  await before.page(0);
  await before.page(13);
  first.companies.arrive({ taxId: COMPANY, count: 3 });
  first.companies.remove({ taxId: '12ABC34501DE35' });
  const truth = first.companies.truth({ taxId: COMPANY });
  const state = first.companies.get({ taxId: COMPANY });

  // Not stopped before: what is not in the folder by now would be lost by a kill. Its last line may be half written.
  appendFileSync(join(folder, 'queues.ndjson'), '{"of":["homologation","98765');
  appendFileSync(join(folder, 'journal.ndjson'), '{"sequence":');
  const second = await startSimulator({ folder, seed: 'um' });
  try {
    assert.equal(second.caPem, first.caPem);
    assert.deepEqual(second.companies.list(), [state]);
    assert.deepEqual(second.companies.truth({ taxId: COMPANY }), truth);
    assert.deepEqual(second.journal.list(), first.journal.list());
    assert.equal(second.journal.violations().length, 1);
    assert.ok(second.clock.now() >= first.clock.now());

    const after = new TestCompany(second, COMPANY, certificate);
    assert.equal((await after.page(51)).cStat, '656', 'the block outlived the restart');
    second.clock.advance(HOUR);
    assert.equal((await after.page(51)).ultNsu, nsu(101));
    assert.equal(second.journal.list().at(-1)?.sequence, 4);
  } finally {
    await first.stop();
    await second.stop();
  }

  const third = await startSimulator({ folder, seed: 'um' });
  assert.equal(third.companies.get({ taxId: COMPANY }).state.pointer, nsu(101));
  third.reset();
  await third.stop();
  const fourth = await startSimulator({ folder, seed: 'um' });
  assert.deepEqual([fourth.companies.list(), fourth.journal.list()], [[], []]);
  await fourth.stop();
});
