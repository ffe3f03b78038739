import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { fromBufferPromise } from 'yauzl';
import { createExportActivities } from '../../src/activities/exports/index.js';
import type { Failpoint } from '../../src/activities/index.js';
import { TASK_QUEUES } from '../../src/model/activity-contract.js';
import type { CaptureKey } from '../../src/model/words.js';
import { renderPdf } from '../../src/pdf/index.js';
import { startOfDay } from '../../src/platform/brasilia.js';
import { nextExportDocuments } from '../../src/storage/export-documents.js';
import { endExport, exportPrefix, getExport, insertExport } from '../../src/storage/exports.js';
import { type ObjectStore, openObjectStore } from '../../src/storage/object-store/index.js';
import { exportWorkflowId, QUERIES, WORKFLOW_TYPES } from '../../src/workflows/messages.js';
import { SkippingClock } from '../activities/support.js';
import { gathered, storePages } from '../activities/transfer-support.js';
import { event, key, note, PEOPLE, summary } from '../documents/samples.js';
import { newCompany, openDatabase } from '../storage/support.js';
import { testBuckets } from '../support/buckets.js';
import { scratchFolder } from '../support/scratch.js';
import { until } from '../support/until.js';
import { skippingServer, withWorkers } from './harness.js';

const env = await skippingServer();
const { db } = await openDatabase({ max: 12 });
const s3 = await testBuckets();
const files = await openObjectStore(`file://${scratchFolder('objects')}`);

const company = await newCompany(db, { taxId: PEOPLE.buyer });
const taxId = company.taxId;
const capture: CaptureKey = { companyId: company.id, documentType: 'nfe', environment: 'homologation' };
const issued = (at: string) => `<dhEmi>${at}</dhEmi>`;
const day = (number: number) => `2026-11-${String((number % 30) + 1).padStart(2, '0')}T10:15:00-03:00`;
const november = Array.from({ length: 230 }, (_, i) => note({ key: key(2_000 + i), issued: issued(day(i)) }));
const others = [
  note({ key: key(1), issued: issued('2026-10-31T23:59:59-03:00') }),
  note({ key: key(2), issued: issued('2026-12-01T00:00:00-03:00') }),
];
const further = [summary({ key: key(3) }), event({ key: key(2_005) }), '<unknown xmlns="x"><a>ação</a></unknown>'];

interface Options {
  readonly of?: CaptureKey;
  readonly store?: ObjectStore;
  readonly pdf?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly partDocuments?: number;
  readonly failpoint?: (name: Failpoint) => void | Promise<void>;
  readonly meanwhile?: (exportId: string) => Promise<void>;
}

/** Runs an export to its end; gives its id. */
async function run({
  of = capture,
  store = files,
  pdf = false,
  from = '2026-11-01',
  to = '2026-12-01',
  partDocuments = 60,
  ...more
}: Options): Promise<string> {
  const id = randomUUID();
  await insertExport(db, {
    ...of,
    id,
    fromAt: startOfDay(from),
    toAt: startOfDay(to),
    pdf,
    createdAt: Date.now(),
  });
  const activities = createExportActivities({
    database: db,
    objectStore: store,
    clock: new SkippingClock(db),
    renderPdf,
    partDocuments,
    ...(more.failpoint && { failpoint: more.failpoint }),
  });
  await withWorkers(env, { ...activities.bulk, ...activities.background }, async () => {
    const handle = await start(id);
    await more.meanwhile?.(id);
    await handle.result().catch(() => {});
  });
  return id;
}

const start = (exportId: string) =>
  env.client.workflow.start(WORKFLOW_TYPES.exportDocuments, {
    taskQueue: TASK_QUEUES.workflows,
    workflowId: exportWorkflowId(exportId),
    args: [{ exportId, companyId: company.id }],
  });

async function zipOf(
  exportId: string,
  store: ObjectStore = files,
): Promise<{ bytes: Buffer; files: Map<string, Buffer> }> {
  const row = await getExport(db, exportId);
  assert.equal(row?.status, 'done');
  const bytes = await store.get(row.objectKey ?? '');
  assert.equal(String(bytes.length), row.size);
  assert.equal(createHash('sha256').update(bytes).digest('hex'), row.sha256);
  const zip = await fromBufferPromise(bytes);
  const found = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry()) {
    assert.ok(!found.has(entry.fileName), `twice: ${entry.fileName}`);
    found.set(entry.fileName, await gathered(await zip.openReadStreamPromise(entry)));
  }
  return { bytes, files: found };
}

async function objectsOf(exportId: string, store: ObjectStore = files): Promise<string[]> {
  const keys: string[] = [];
  for await (const object of store.list(exportPrefix({ id: exportId, companyId: company.id }))) keys.push(object.key);
  return keys;
}

const rowsOf = (csv: Buffer | undefined) =>
  (csv ?? Buffer.alloc(0))
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split('\r\n')
    .slice(1, -1)
    .map((line) => line.split(';'));

await storePages({ db, store: files }, { capture, taxId, at: Date.UTC(2026, 10, 29) }, november);
await storePages({ db, store: files }, { capture, taxId, firstNsu: 500, at: Date.UTC(2026, 10, 30, 12) }, [
  ...others,
  ...further,
]);

describe('an export', () => {
  test('holds every document of the period byte for byte, in folders, with an index', async () => {
    const id = await run({});
    const { files: found } = await zipOf(id);
    const row = await getExport(db, id);
    // The summary and the event are of October; the unknown document does not say when it was issued: captured in November.
    assert.deepEqual([row?.total, row?.documents, row?.xmlFiles, row?.pdfFiles, row?.problems], [231, 231, 231, 0, 0]);
    assert.equal(found.size, 232);
    for (const [i, xml] of november.entries()) {
      const path = `2026/11/nfe/${key(2_000 + i)}-procNFe.xml`;
      assert.equal(found.get(path)?.toString(), xml, path);
    }
    const index = rowsOf(found.get('indice.csv'));
    assert.equal(index.length, 231);
    const [first] = index;
    assert.deepEqual(first?.slice(0, 8), [
      key(2_000).replace(/(.{4})(?=.)/g, '$1 '),
      'procNFe',
      '55',
      '1',
      '1234',
      '01/11/2026 10:15:00',
      '10.111.213/0001-44',
      'Vendedora Inventada Ltda',
    ]);
    for (const line of index) assert.ok(found.has(line[19] ?? ''), line.join(';'));
    assert.deepEqual((await objectsOf(id)).length, 1, 'the parts are gone');
  });

  test('of another period and with PDFs; kinds without one say so', async () => {
    const id = await run({ from: '2026-10-01', to: '2026-11-01', pdf: true });
    const { files: found } = await zipOf(id);
    assert.deepEqual(
      [...found.keys()].sort(),
      [
        `2026/10/nfe/${key(1)}-procNFe.pdf`,
        `2026/10/nfe/${key(1)}-procNFe.xml`,
        `2026/10/nfe/${key(3)}-resNFe.xml`,
        `2026/10/nfe/${key(2_005)}-procEventoNFe-110111-1.xml`,
        'indice.csv',
      ].sort(),
    );
    assert.match(
      found
        .get(`2026/10/nfe/${key(1)}-procNFe.pdf`)
        ?.subarray(0, 5)
        .toString() ?? '',
      /%PDF-/,
    );
    const remarks = rowsOf(found.get('indice.csv')).map((line) => [line[1], line[21]]);
    assert.deepEqual(remarks.sort(), [
      ['procEventoNFe', 'sem PDF para este tipo'],
      ['procNFe', ''],
      ['resNFe', 'sem PDF para este tipo'],
    ]);
    const row = await getExport(db, id);
    assert.deepEqual([row?.documents, row?.xmlFiles, row?.pdfFiles, row?.problems], [3, 3, 1, 0]);
  });

  test('without documents has an index without lines', async () => {
    const id = await run({ from: '2020-01-01', to: '2020-02-01' });
    const { files: found } = await zipOf(id);
    assert.deepEqual([...found.keys()], ['indice.csv']);
    assert.deepEqual(rowsOf(found.get('indice.csv')), []);
  });

  test('has the same bytes whenever it is made, and after a death in the middle of any step', async () => {
    const { bytes } = await zipOf(await run({}));
    assert.ok((await zipOf(await run({}))).bytes.equals(bytes));
    for (const where of ['part_written', 'part_committed', 'export_joined'] as const) {
      let deaths = 0;
      const id = await run({
        failpoint: (name) => {
          if (name !== where || deaths >= 3) return;
          deaths += 1;
          throw new Error('the process dies here');
        },
      });
      assert.equal(deaths, 3);
      assert.ok((await zipOf(id)).bytes.equals(bytes), where);
      assert.equal((await objectsOf(id)).length, 1, where);
    }
  });

  test('cancelled in the middle leaves nothing; its progress can be asked for', async () => {
    let held: (() => void) | undefined;
    const reached = new Promise<void>((resolve) => {
      held = resolve;
    });
    let go: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    let parts = 0;
    const id = await run({
      failpoint: async (name) => {
        if (name !== 'part_written') return;
        parts += 1;
        if (parts < 3) return;
        held?.();
        await gate;
      },
      meanwhile: async (exportId) => {
        await reached;
        await inTheMiddle(exportId).finally(() => go?.());
      },
    });
    async function inTheMiddle(exportId: string): Promise<void> {
      const handle = env.client.workflow.getHandle(exportWorkflowId(exportId));
      assert.deepEqual(await handle.query(QUERIES.progress), { done: 120, total: 231 });
      assert.ok((await objectsOf(exportId)).length >= 5);
      await endExport(db, exportId, { status: 'cancelled' }, Date.now());
      await handle.cancel();
      // The test server loses a workflow task that asks to cancel an activity which ends at the same instant.
      await until(async () => {
        const { events } = await handle.fetchHistory();
        return events?.some(({ activityTaskCancelRequestedEventAttributes: asked }) => asked) ?? false;
      }, 'the activity is asked to stop');
    }
    assert.equal((await getExport(db, id))?.status, 'cancelled');
    assert.deepEqual(await objectsOf(id), []);
  });

  test('of which a fault of ours breaks every attempt ends as failed', async () => {
    const id = await run({
      failpoint: () => {
        throw new TypeError('a bug');
      },
    });
    const row = await getExport(db, id);
    assert.deepEqual([row?.status, row?.error], ['failed', 'internal']);
    assert.deepEqual(await objectsOf(id), []);
  });

  test('keeps its history short and free of keys and tax IDs', async () => {
    const id = await run({ partDocuments: 10 });
    const history = await env.client.workflow.getHandle(exportWorkflowId(id)).fetchHistory();
    assert.ok((history.events?.length ?? 0) < 25 * 6 + 30, `${history.events?.length} events`);
    const text = JSON.stringify(history);
    for (const secret of [taxId, key(2_000), 'Inventada']) assert.ok(!text.includes(secret), secret);
  });
});

test('documents whose bytes are gone or damaged are listed and counted; everything else is there', async () => {
  const another = await newCompany(db);
  const own = { ...capture, companyId: another.id };
  const [good, damaged, gone] = await Promise.all(
    [5_000, 5_001, 5_002].map(async (number, i) => {
      const [row] = await storePages(
        { db, store: files },
        { capture: own, taxId, firstNsu: i + 1, at: Date.UTC(2026, 10, 20) + i },
        [note({ key: key(number), issued: issued(day(i)) })],
      );
      assert.ok(row);
      return row;
    }),
  );
  assert.ok(good && damaged && gone);
  await files.delete(gone.objectKey);
  const bytes = await files.get(damaged.objectKey);
  bytes.write('AAAA', damaged.byteOffset + 40);
  await files.put(damaged.objectKey, bytes);
  const id = await run({ of: own });
  const row = await getExport(db, id);
  assert.deepEqual([row?.documents, row?.xmlFiles, row?.problems], [3, 1, 2]);
  const { files: found } = await zipOf(id);
  assert.deepEqual([...found.keys()], ['indice.csv', 'problemas.csv', `2026/11/nfe/${key(5_000)}-procNFe.xml`]);
  assert.deepEqual(
    rowsOf(found.get('problemas.csv')).map(([, kind, problem, documentId]) => [kind, problem, documentId]),
    [
      ['procNFe', 'bytes armazenados danificados', damaged.id],
      ['procNFe', 'arquivo de origem não encontrado no armazenamento', gone.id],
    ],
  );
});

test('of each key one amount counts: the note’s before its summary’s, the first of copies', async () => {
  const other = await newCompany(db, { taxId: '98765432000198' });
  const of: CaptureKey = { companyId: other.id, documentType: 'nfe', environment: 'homologation' };
  const whole = note({ key: key(9_001), issued: issued('2026-10-02T10:15:00-03:00') });
  const copy = `${whole} `;
  const pages = [summary({ key: key(9_001) }), whole, copy, summary({ key: key(9_002) }), event({ key: key(9_001) })];
  await storePages({ db, store: files }, { capture: of, taxId: '98765432000198', at: Date.UTC(2026, 10, 29) }, pages);
  const [fromAt, toAt, asOf] = [startOfDay('2026-09-01'), startOfDay('2026-12-01'), Date.UTC(2026, 11, 1)];
  const rows = await nextExportDocuments(db, { ...of, fromAt, toAt, asOf }, null, 10);
  const counted = rows.filter(({ metadata, countedElsewhere }) => metadata.total !== undefined && !countedElsewhere);
  assert.deepEqual(counted.map((row) => [row.key, row.kind]).toSorted(), [
    [key(9_001), 'procNFe'],
    [key(9_002), 'resNFe'],
  ]);
  assert.equal(rows.length, 5);
});

test('an export to S3', { skip: s3.skip }, async () => {
  const store = await openObjectStore(await s3.newUrl());
  const another = await newCompany(db);
  const own = { ...capture, companyId: another.id };
  await storePages({ db, store }, { capture: own, taxId, at: Date.UTC(2026, 10, 20) }, november);
  const id = await run({ of: own, store });
  assert.equal((await zipOf(id, store)).files.size, 231);
});

// Last: the test server does not get over a terminated run.
test('an export goes on where it was when its run is terminated and another one starts', async () => {
  const { bytes } = await zipOf(await run({}));
  let parts = 0;
  let terminated = false;
  const id = await run({
    failpoint: async (name) => {
      if (name === 'part_committed') parts += 1;
    },
    meanwhile: async (exportId) => {
      await until(() => parts >= 2, 'two parts');
      await env.client.workflow.getHandle(exportWorkflowId(exportId)).terminate();
      terminated = true;
      await (await start(exportId)).result();
    },
  });
  assert.ok(terminated);
  assert.ok((await zipOf(id)).bytes.equals(bytes));
});
