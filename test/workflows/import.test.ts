import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { createExportActivities } from '../../src/activities/exports/index.js';
import { type ZipEntry, zipOf } from '../../src/activities/exports/write-zip.js';
import { createImportActivities } from '../../src/activities/imports/index.js';
import type { Failpoint } from '../../src/activities/index.js';
import { TASK_QUEUES } from '../../src/model/activity-contract.js';
import type { CaptureKey } from '../../src/model/words.js';
import { renderPdf } from '../../src/pdf/index.js';
import { startOfDay } from '../../src/platform/brasilia.js';
import { getExport, insertExport } from '../../src/storage/exports.js';
import { countFiles, getImport, importPrefix, insertImport, listFiles } from '../../src/storage/imports.js';
import { type ObjectStore, openObjectStore } from '../../src/storage/object-store/index.js';
import { exportWorkflowId, importWorkflowId, WORKFLOW_TYPES } from '../../src/workflows/messages.js';
import { SkippingClock } from '../activities/support.js';
import { gathered, storePages } from '../activities/transfer-support.js';
import { cte, MASKED } from '../documents/cte-samples.js';
import { event, key, note, PEOPLE, summary } from '../documents/samples.js';
import { newCompany, openDatabase } from '../storage/support.js';
import { testBuckets } from '../support/buckets.js';
import { scratchFolder } from '../support/scratch.js';
import { skippingServer, withWorkers } from './harness.js';

const env = await skippingServer();
const { db } = await openDatabase({ max: 12 });
const s3 = await testBuckets();
const files = await openObjectStore(`file://${scratchFolder('objects')}`);
const company = await newCompany(db, { taxId: PEOPLE.buyer });
const capture: CaptureKey = { companyId: company.id, documentType: 'nfe', environment: 'homologation' };
const woken: string[] = [];

interface Options {
  readonly store?: ObjectStore;
  readonly companyId?: string;
  readonly notify?: boolean;
  readonly failpoint?: (name: Failpoint) => void | Promise<void>;
}

/** Imports an upload, as the API and its workflow do. */
async function imported(
  upload: Uint8Array,
  { store = files, companyId = company.id, notify = false, failpoint }: Options = {},
) {
  const id = randomUUID();
  const objectKey = `${importPrefix({ id, companyId })}upload`;
  await store.put(objectKey, upload);
  const sha256 = createHash('sha256').update(upload).digest('hex');
  const format = Buffer.from(upload.subarray(0, 2)).toString() === 'PK' ? 'zip' : 'xml';
  await insertImport(db, {
    ...{ id, companyId, environment: 'homologation', notify, fileName: null, objectKey, sha256, format },
    size: upload.length,
    createdAt: Date.now(),
  });
  const activities = createImportActivities({
    ...{ database: db, objectStore: store, clock: new SkippingClock(db) },
    wakeEndpoints: (ids) => woken.push(...ids),
    ...(failpoint && { failpoint }),
  });
  await withWorkers(env, { ...activities.bulk, ...activities.background }, async () => {
    const handle = await env.client.workflow.start(WORKFLOW_TYPES.importDocuments, {
      taskQueue: TASK_QUEUES.workflows,
      workflowId: importWorkflowId(id),
      args: [{ importId: id, companyId }],
    });
    await handle.result();
  });
  const row = await getImport(db, id);
  assert.ok(row);
  assert.equal(await store.head(objectKey), null, 'the upload is deleted');
  const report = (await listFiles(db, id, {}, { limit: 1000 })).rows;
  return {
    ...row,
    counts: (await countFiles(db, [id])).get(id) ?? {},
    report: Object.fromEntries(
      report.map(({ name, result, reason }) => [name, reason === null ? result : `${result} ${reason}`]),
    ),
    ids: Object.fromEntries(report.map(({ name, documentId }) => [name, documentId])),
  };
}

const entry = (name: string, content: string | Uint8Array): ZipEntry => ({
  name,
  content: () => [Buffer.from(content)],
  at: 0,
});
const zip = (...entries: readonly ZipEntry[]) => gathered(zipOf(entries));

async function documentsOf(companyId: string): Promise<number> {
  const { rows } = await db.query<{ n: number }>('select count(*)::int as n from documents where company_id = $1', [
    companyId,
  ]);
  return rows[0]?.n ?? 0;
}

/** The central directory says what a reader believes: changes a ZIP of one file. */
function tampered(bytes: Buffer, change: (directory: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  change(copy.subarray(copy.readUInt32LE(copy.length - 6)));
  return copy;
}

const dest = (taxId: string) => `<dest><CNPJ>${taxId}</CNPJ><xNome>Outra Inventada</xNome></dest>`;
const stranger = note({ key: key(77), recipient: dest(PEOPLE.branch) });

describe('an import', () => {
  test('stores what is new of a ZIP, byte for byte; events before their note as well; and says of each other file what it is', async () => {
    const noteXml = `\ufeff<?xml version="1.0" encoding="UTF-8"?>\n${note({ key: key(1) })}`;
    const upload = await zip(
      entry('evento.xml', event({ key: key(1) })),
      entry('pasta/nota.xml', noteXml),
      entry('pasta#', ''),
      entry('nota-de-novo.xml', noteXml),
      entry('outros-bytes.xml', note({ key: key(1) })),
      entry('alheia.xml', stranger),
      entry('evento-alheio.xml', event({ key: key(77) })),
      entry('resumo.xml', summary({ key: key(88) })),
      entry('sem-protocolo.xml', '<NFe xmlns="http://www.portalfiscal.inf.br/nfe"><infNFe/></NFe>'),
      entry('planilha.csv', 'a;b;c'),
      entry('nota.pdf', '%PDF-1.7'),
      entry('2026/indice.csv', randomBytes(11 * 1024 * 1024)),
      entry('problemas.csv', 'a;b;c'),
      entry('vazio.xml', ''),
      entry('quebrado.xml', note({ key: key(2) }).slice(0, 2_000)),
      entry('dentro.zip', await zip(entry('a.xml', noteXml))),
      entry('doctype.xml', `<!DOCTYPE a [<!ENTITY b "c">]>${noteXml.slice(39)}`),
      entry('bomba.xml', Buffer.alloc(11 * 1024 * 1024, 0x20)),
      entry(
        'latin1.xml',
        Buffer.from(
          `<?xml version="1.0" encoding="ISO-8859-1"?>${note({ key: key(3) })}`.replace('Inventada', 'Inventação'),
          'latin1',
        ),
      ),
    );
    for (let at = upload.indexOf('pasta#'); at >= 0; at = upload.indexOf('pasta#', at)) upload.write('pasta/', at);
    const done = await imported(upload);
    assert.deepEqual(done.report, {
      'evento.xml': 'imported',
      'pasta/nota.xml': 'imported',
      'nota-de-novo.xml': 'already_there',
      'outros-bytes.xml': 'already_there other_bytes',
      'alheia.xml': 'not_of_company not_a_party',
      'evento-alheio.xml': 'not_of_company document_unknown',
      'resumo.xml': 'not_of_company document_unknown',
      'sem-protocolo.xml': 'not_a_document without_protocol',
      'planilha.csv': 'not_a_document not_xml',
      'nota.pdf': 'not_a_document pdf',
      '2026/indice.csv': 'not_a_document export_index',
      'problemas.csv': 'not_a_document export_index',
      'vazio.xml': 'unreadable empty',
      'quebrado.xml': 'unreadable not_well_formed',
      'dentro.zip': 'not_a_document nested_zip',
      'doctype.xml': 'unreadable doctype',
      'bomba.xml': 'unreadable too_large',
      'latin1.xml': 'imported',
    });
    assert.deepEqual([done.status, done.total, done.error], ['done', 18, null]);
    assert.deepEqual(done.counts, {
      imported: 3,
      already_there: 2,
      not_of_company: 3,
      not_a_document: 6,
      unreadable: 4,
    });
    assert.equal(done.ids['nota-de-novo.xml'], done.ids['pasta/nota.xml']);
    const { rows } = await db.query<{
      objectKey: string;
      byteOffset: number;
      byteLength: number;
      state: string;
      origin: string;
      suppressed: string;
    }>(
      `select object_key as "objectKey", byte_offset as "byteOffset", byte_length as "byteLength", state, origin, suppressed from documents where id = $1`,
      [done.ids['pasta/nota.xml']],
    );
    const [row] = rows;
    assert.ok(row);
    assert.deepEqual([row.state, row.origin], ['cancelled', 'import'], 'the event that came with it says so');
    assert.match(row.suppressed, /^import: /);
    assert.equal((await files.getRange(row.objectKey, row.byteOffset, row.byteLength)).toString(), noteXml);
    assert.equal((await db.query('select from events where company_id = $1', [company.id])).rowCount, 0, 'no webhook');
  });

  test('a second time changes nothing', async () => {
    const upload = await zip(entry('a.xml', note({ key: key(10) })), entry('b.xml', event({ key: key(10) })));
    assert.deepEqual((await imported(upload)).counts, { imported: 2 });
    const before = await documentsOf(company.id);
    assert.deepEqual((await imported(upload)).counts, { already_there: 2 });
    assert.equal(await documentsOf(company.id), before);
  });

  test('of one XML; with webhooks when they are asked for', async () => {
    const another = await newCompany(db, { taxId: PEOPLE.letters });
    const xml = note({ key: key(20), recipient: dest(PEOPLE.letters) });
    const done = await imported(Buffer.from(xml), { companyId: another.id, notify: true });
    assert.deepEqual(done.report, { 'document.xml': 'imported' });
    const { rows } = await db.query('select type, action from events where company_id = $1', [another.id]);
    assert.deepEqual(rows, [{ type: 'product_invoice_inbound', action: 'issued_successfully' }]);
  });

  test('stores a full copy beside a masked one, and no masked one beside a full', async () => {
    // The company of this file receives that freight.
    const [full, masked] = [cte({ nfeKeys: [key(1)] }), cte({ nfeKeys: [MASKED] })];
    assert.deepEqual((await imported(Buffer.from(masked))).report, { 'document.xml': 'imported' });
    assert.deepEqual((await imported(Buffer.from(full))).report, { 'document.xml': 'imported' });
    assert.deepEqual((await imported(Buffer.from(masked))).report, { 'document.xml': 'already_there' });
    assert.deepEqual((await imported(Buffer.from(`${masked}\n`))).report, {
      'document.xml': 'already_there other_bytes',
    });
    const { rowCount } = await db.query(`select from documents where company_id = $1 and document_type = 'cte'`, [
      company.id,
    ]);
    assert.equal(rowCount, 2);
  });

  test('of an export stores nothing', async () => {
    const another = await newCompany(db, { taxId: PEOPLE.branch });
    const own = { ...capture, companyId: another.id };
    const xmls = Array.from({ length: 120 }, (_, i) => note({ key: key(3_000 + i), recipient: dest(PEOPLE.branch) }));
    await storePages({ db, store: files }, { capture: own, taxId: PEOPLE.branch }, [
      ...xmls,
      event({ key: key(3_001) }),
      event({ key: key(9_999) }),
      summary({ key: key(3_002) }),
      summary({ key: key(9_998) }),
      '<outra><coisa/></outra>',
    ]);
    const before = await documentsOf(another.id);
    const exportId = randomUUID();
    const period = { fromAt: startOfDay('2020-01-01'), toAt: startOfDay('2027-01-01') };
    await insertExport(db, { ...own, ...period, id: exportId, pdf: true, createdAt: Date.now() });
    const activities = createExportActivities({
      database: db,
      objectStore: files,
      clock: new SkippingClock(db),
      renderPdf,
      partDocuments: 50,
    });
    await withWorkers(env, { ...activities.bulk, ...activities.background }, async () => {
      await env.client.workflow.execute(WORKFLOW_TYPES.exportDocuments, {
        ...{ taskQueue: TASK_QUEUES.workflows, workflowId: exportWorkflowId(exportId) },
        args: [{ exportId, companyId: another.id }],
      });
    });
    const made = await getExport(db, exportId);
    const done = await imported(await files.get(made?.objectKey ?? ''), { companyId: another.id });
    // The unknown document, the index and the PDFs are no documents to an import.
    assert.deepEqual(done.counts, { already_there: 124, not_a_document: 122 });
    assert.equal(await documentsOf(another.id), before);
  });

  test('goes on after a death at any place, and stores each document once', async () => {
    for (const where of ['files_archived', 'files_committed'] as const) {
      const another = await newCompany(db);
      await db.query('update companies set tax_id = $2 where id = $1', [
        another.id,
        `${where === 'files_archived' ? 31 : 32}000000000191`,
      ]);
      const taxId = `${where === 'files_archived' ? 31 : 32}000000000191`;
      const notes = Array.from({ length: 450 }, (_, i) =>
        entry(`${i}.xml`, note({ key: key(i), recipient: dest(taxId) })),
      );
      let deaths = 0;
      const done = await imported(await zip(...notes), {
        companyId: another.id,
        failpoint: (name) => {
          if (name !== where || deaths >= 3) return;
          deaths += 1;
          throw new Error('the process dies here');
        },
      });
      assert.deepEqual([done.status, done.counts, deaths], ['done', { imported: 450 }, 3], where);
      assert.equal(await documentsOf(another.id), 450);
    }
  });

  test('from S3', { skip: s3.skip }, async () => {
    const store = await openObjectStore(await s3.newUrl());
    const done = await imported(await zip(entry('a.xml', note({ key: key(40) }))), { store });
    assert.deepEqual(done.report, { 'a.xml': 'imported' });
  });
});

describe('ZIP files that are made to harm', () => {
  const one = (name = 'a.xml') => zip(entry(name, note({ key: key(50) })));

  test('names that lead elsewhere, encryption, unknown compression, wrong sizes and checksums spoil their file alone', async () => {
    const good = await one();
    const renamed = (to: string) => {
      const copy = Buffer.from(good);
      for (let at = copy.indexOf('a.xml'); at >= 0; at = copy.indexOf('a.xml', at + 1)) copy.write(to, at);
      return copy;
    };
    const cases: [Buffer, string][] = [
      [renamed('../ab'), 'unreadable unsafe_name'],
      [renamed('/a.xm'), 'unreadable unsafe_name'],
      [renamed('..\\ab'), 'unreadable unsafe_name'],
      [
        tampered(good, (directory) => directory.writeUInt16LE(directory.readUInt16LE(8) | 1, 8)),
        'unreadable encrypted',
      ],
      [tampered(good, (directory) => directory.writeUInt16LE(14, 10)), 'unreadable compression_unknown'],
      [tampered(good, (directory) => directory.writeUInt32LE(100, 24)), 'unreadable damaged'],
      [tampered(good, (directory) => directory.writeUInt32LE(0xdeadbeef, 16)), 'unreadable damaged'],
      [tampered(good, (directory) => directory.writeUInt32LE(0, 42)), 'imported'],
    ];
    for (const [bytes, expected] of cases.slice(0, 7)) {
      const { report, status } = await imported(bytes);
      assert.deepEqual([Object.values(report), status], [[expected], 'done']);
    }
  });

  test('what is no ZIP, is cut off, or expands beyond all measure ends as failed and says why', async () => {
    const good = await one();
    const bomb = await zip(
      ...Array.from({ length: 30 }, (_, i) => entry(`${i}.xml`, Buffer.alloc(10 * 1024 * 1024, 0x20))),
    );
    const cases: [Buffer, string][] = [
      [Buffer.concat([Buffer.from('PK'), randomBytes(5_000)]), 'zip_unreadable'],
      [good.subarray(0, good.length - 30), 'zip_unreadable'],
      [tampered(good, (directory) => directory.writeUInt32LE(0, 0)), 'zip_unreadable'],
      [bomb, 'expands_too_much'],
    ];
    for (const [bytes, expected] of cases) {
      const { status, error, counts } = await imported(bytes);
      assert.deepEqual([status, error, counts], ['failed', expected, {}]);
    }
  });

  test('names with accents in the letters of MS-DOS, and with control characters, are shown', async () => {
    const cp437 = Buffer.from(await one('nota#.xml'));
    for (let at = cp437.indexOf('nota#'); at >= 0; at = cp437.indexOf('nota#', at + 1)) cp437[at + 4] = 0x87;
    const flags = tampered(cp437, (directory) => directory.writeUInt16LE(directory.readUInt16LE(8) & ~0x800, 8));
    assert.deepEqual(Object.keys((await imported(flags)).report), ['notaç.xml']);
  });
});
