import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DOCUMENT_KINDS, type DocumentKind } from '../../src/model/document.js';
import { hasPrintedForm } from '../../src/model/printed-form.js';
import { NoPdf } from '../../src/pdf/index.js';
import { layOut } from '../../src/pdf/print.js';

/** Whether anything prints this kind; a document that is none of it shows, because it fails otherwise. */
function isPrinted(kind: DocumentKind): boolean {
  try {
    layOut({ kind, xml: Buffer.from('<other/>'), situation: { state: 'authorized' } });
  } catch (error) {
    return !(error instanceof NoPdf);
  }
  return true;
}

test('a link to a PDF is shown for the kinds that are printed, and for no other', () => {
  for (const kind of DOCUMENT_KINDS) {
    assert.equal(hasPrintedForm(kind, null) || hasPrintedForm(kind, '110110'), isPrinted(kind), kind);
  }
});
