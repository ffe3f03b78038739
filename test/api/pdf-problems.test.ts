import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { fileOf } from '../../src/api/document-files.js';
import { Problem } from '../../src/api/problem.js';
import { DocumentPdfs, PdfFailed, type PdfFailure } from '../../src/pdf/index.js';
import { getDocument } from '../../src/storage/documents.js';
import { openObjectStore } from '../../src/storage/object-store/index.js';
import { newCompany, openDatabase } from '../storage/support.js';
import { scratchFolder } from '../support/scratch.js';
import { captureDocument } from './fixtures.js';

const { db } = await openDatabase();
const objectStore = await openObjectStore(pathToFileURL(scratchFolder('objects')).href);

/** What the caller is told when making the PDF ends so. */
async function toldOf(failure: PdfFailure): Promise<readonly unknown[]> {
  const { id: companyId } = await newCompany(db);
  const { id } = await captureDocument({ db, deps: { objectStore } }, companyId);
  const document = await getDocument(db, id);
  assert.ok(document);
  const renderPdf = () => Promise.reject(new PdfFailed(failure, 'why'));
  const pdfs = new DocumentPdfs({ database: db, objectStore, renderPdf });
  try {
    await fileOf({ objectStore, pdfs }, document, 'pdf');
  } catch (error) {
    assert.ok(error instanceof Problem);
    return [error.status, error.code, error.detail, error.extras.retryAfter];
  }
  return [];
}

test('every way in which a PDF cannot be made has its own answer', async () => {
  for (const failure of ['unreadable', 'other_document', 'contradiction'] as const) {
    assert.deepEqual(await toldOf(failure), [422, 'pdf_not_possible', 'why', undefined]);
  }
  assert.deepEqual(await toldOf('too_slow'), [503, 'pdf_too_slow', 'why', 20]);
  assert.deepEqual(await toldOf('internal'), [500, 'pdf_failed', 'why', undefined]);
});
