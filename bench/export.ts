import { randomUUID } from 'node:crypto';
import { createWriteStream, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pipeline } from 'node:stream/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { ZipFile } from 'yazl';
import { createExportActivities } from '../src/activities/exports/index.js';
import { extractedXml } from '../src/documents/index.js';
import type { CaptureKey } from '../src/model/words.js';
import { renderPdf } from '../src/pdf/index.js';
import { startOfDay } from '../src/platform/brasilia.js';
import { createCompany } from '../src/storage/companies.js';
import { createDatabase } from '../src/storage/database.js';
import { nextExportDocuments, positionOf } from '../src/storage/export-documents.js';
import { getExport, insertExport } from '../src/storage/exports.js';
import { openObjectStore } from '../src/storage/object-store/index.js';
import { PostgresClock } from '../src/storage/postgres-clock.js';
import { readXml } from '../src/storage/read-xml.js';
import { storePages } from '../test/activities/transfer-support.js';
import { key, note, PEOPLE } from '../test/documents/samples.js';
import { testDatabase } from '../test/support/database.js';
import { scratchFolder } from '../test/support/scratch.js';

/**
 * Documents per second of an export and the most memory that it takes, beside the same XML read one by one and put into a ZIP by yazl with
 * everything in memory. PostgreSQL and the file store are real; the activities run one after the other, without Temporal.
 * Run: node --import tsx bench/export.ts [documents …]      default: 2000 20000; 100000 takes some minutes
 */

const sizes = process.argv.slice(2).map(Number);
if (sizes.length === 0) sizes.push(2_000, 20_000);

const { url, drop } = await testDatabase();
const db = createDatabase({ url, applicationName: 'malote bench', max: 10 });
const folder = scratchFolder('bench-export');
const store = await openObjectStore(`file://${folder}`);
const clock = new PostgresClock(db);
const results = [];
for (const documents of sizes) {
  const companyId = randomUUID();
  await createCompany(db, {
    id: companyId,
    taxId: `${String(documents).padStart(8, '0')}000100`,
    name: 'Empresa',
    uf: 'SP',
  });
  const capture: CaptureKey = { companyId, documentType: 'nfe', environment: 'homologation' };
  await fill(capture, documents);
  const period = { fromAt: startOfDay('2026-10-01'), toAt: startOfDay('2026-11-01') };
  const ours = await measured(() => exported(capture, period));
  const plain = await measured(() => inMemory(capture, period));
  for (const [name, figures] of [
    ['export', ours],
    ['yazl in memory', plain],
  ] as const) {
    const { seconds, peakMb, size } = figures;
    results.push({
      documents,
      name,
      'documents/s': Math.round(documents / seconds),
      'peak MB': peakMb,
      'ZIP MB': Math.round(size / 1e6),
    });
  }
}
await db.close();
await drop();
rmSync(folder, { recursive: true, force: true });
console.table(results);
console.log(JSON.stringify({ bench: 'export', node: process.version, results }));
process.exit(0);

async function fill(capture: CaptureKey, documents: number): Promise<void> {
  const batch = 1_000;
  for (let first = 0; first < documents; first += batch) {
    const xmls = Array.from({ length: batch }, (_, i) => note({ key: key(first + i), items: 3 }));
    await storePages({ db, store }, { capture, taxId: PEOPLE.buyer, firstNsu: first + 1 }, xmls);
  }
  await db.query('analyze documents');
}

type Period = { readonly fromAt: number; readonly toAt: number };

/** What the workflow does. Gives the bytes of the ZIP. */
async function exported(capture: CaptureKey, period: Period): Promise<number> {
  const exportId = randomUUID();
  await insertExport(db, { ...capture, ...period, id: exportId, pdf: false, createdAt: Date.now() });
  const { bulk, background } = createExportActivities({ database: db, objectStore: store, clock, renderPdf });
  const run = <T>(work: () => Promise<T>): Promise<T> => new MockActivityEnvironment().run(work) as Promise<T>;
  await run(() => background.openExport({ exportId }));
  while ((await run(() => bulk.writeExportPart({ exportId })))?.more);
  await run(() => bulk.joinExport({ exportId }));
  return Number((await getExport(db, exportId))?.size ?? 0);
}

/** One read a document, everything handed to yazl before the first byte is written. */
async function inMemory(capture: CaptureKey, period: Period): Promise<number> {
  const zip = new ZipFile();
  let after = null;
  for (;;) {
    const rows = await nextExportDocuments(db, { ...capture, ...period, asOf: Date.now() }, after, 2_000);
    for (const row of rows) zip.addBuffer(Buffer.from(await readXml(store, row, extractedXml)), `${row.key}.xml`);
    const last = rows.at(-1);
    if (!last) break;
    after = positionOf(last);
  }
  zip.end();
  const file = join(folder, 'plain.zip');
  await pipeline(zip.outputStream, createWriteStream(file));
  return statSync(file).size;
}

async function measured(work: () => Promise<number>): Promise<{ seconds: number; peakMb: number; size: number }> {
  let peak = 0;
  const look = () => {
    peak = Math.max(peak, process.memoryUsage().rss);
  };
  const timer = setInterval(look, 20);
  const began = performance.now();
  const size = await work();
  clearInterval(timer);
  look();
  return { seconds: (performance.now() - began) / 1000, peakMb: Math.round(peak / 1e6), size };
}
