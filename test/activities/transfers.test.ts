import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createStartOverdue } from '../../src/activities/background/start-overdue.js';
import {
  endExport,
  exportPrefix,
  finishExport,
  getExport,
  insertExport,
  openExport,
} from '../../src/storage/exports.js';
import { insertImport } from '../../src/storage/imports.js';
import { newCompany } from '../storage/support.js';
import { HOUR, MINUTE, run, world } from './support.js';

const w = await world();
const company = await newCompany(w.db);
const DAY = 24 * HOUR;

async function newExport(createdAt: number): Promise<string> {
  const id = randomUUID();
  const capture = { companyId: company.id, documentType: 'nfe', environment: 'homologation' } as const;
  await insertExport(w.db, { ...capture, id, fromAt: 0, toAt: createdAt, pdf: false, createdAt });
  return id;
}

test('housekeeping starts exports and imports again that nothing was heard of', async () => {
  const now = await w.clock.now();
  const [lost, young, ended] = [
    await newExport(now - 16 * MINUTE),
    await newExport(now - MINUTE),
    await newExport(now - HOUR),
  ];
  await endExport(w.db, ended, { status: 'cancelled' }, now);
  const importId = randomUUID();
  await insertImport(w.db, {
    ...{
      id: importId,
      companyId: company.id,
      environment: 'homologation',
      notify: false,
      fileName: null,
      objectKey: 'k',
    },
    ...{ size: 1, sha256: '', format: 'zip', createdAt: now - HOUR },
  });
  const started: unknown[] = [];
  const nobody = async () => {};
  const { startOverdue } = createStartOverdue({
    ...{ database: w.db, clock: w.clock, timeScale: 1 },
    ...{ wakeCapture: nobody, wakeEndpoint: nobody, wakeManifestation: nobody, wakeErasure: nobody },
    startExport: async (input) => void started.push(input),
    startImport: async (input) => void started.push(input),
  });
  const { exports, imports } = await run(startOverdue);
  assert.deepEqual([exports, imports], [1, 1]);
  assert.deepEqual(started, [
    { exportId: lost, companyId: company.id },
    { importId, companyId: company.id },
  ]);
  assert.equal((await getExport(w.db, young))?.status, 'pending');
});

test('the file of an export goes after a week; what came late after a cancellation goes a day later', async () => {
  const now = await w.clock.now();
  const [done, cancelled] = [await newExport(now), await newExport(now)];
  const keyOf = (id: string) => `${exportPrefix({ id, companyId: company.id })}x`;
  for (const id of [done, cancelled]) await w.deps.objectStore.put(keyOf(id), Buffer.from('x'));
  await openExport(w.db, done, 0, now);
  const file = { objectKey: keyOf(done), size: 1, sha256: 'a', expiresAt: now + 7 * DAY };
  await w.db.transaction((tx) => finishExport(tx, done, file, now));
  await endExport(w.db, cancelled, { status: 'cancelled' }, now);
  const swept = async () => {
    await run(w.activities.housekeeping.sweep);
    const left = await Promise.all([done, cancelled].map((id) => w.deps.objectStore.head(keyOf(id))));
    return [
      left.map((one) => one !== null),
      (await getExport(w.db, done))?.status,
      (await getExport(w.db, cancelled))?.status,
    ];
  };
  assert.deepEqual(await swept(), [[true, true], 'done', 'cancelled']);
  w.clock.advance(DAY + MINUTE);
  assert.deepEqual(await swept(), [[true, false], 'done', 'cancelled']);
  w.clock.advance(6 * DAY);
  assert.deepEqual(await swept(), [[false, false], 'expired', 'cancelled']);
  assert.equal((await getExport(w.db, done))?.objectKey, null);
});
