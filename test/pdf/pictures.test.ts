import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { printPdf } from '../../src/pdf/print.js';
import { scratchFolder } from '../support/scratch.js';
import { DACTE_CASES } from './dacte-cases.js';
import { DANFE_CASES } from './danfe-cases.js';
import { DANFSE_CASES } from './danfse-cases.js';
import { textAt } from './nfe-sample.js';
import { OTHER_CASES } from './other-cases.js';
import { codesIn, NO_POPPLER, NO_ZBAR, pagesOf, pictureOf, textOf } from './programs.js';

/** The finished files, read by other people's programs: pages counted, text taken out, codes scanned from the picture. */

const CASES = [
  ...DANFE_CASES.map((each) => ({
    ...each,
    kind: 'procNFe' as const,
    codes: [each.note['@Id'].slice(3)],
    texts:
      each.note.det?.map((item) => textAt(item, ['prod', 'cProd'])).filter((code) => code.startsWith('COD-')) ?? [],
  })),
  ...OTHER_CASES,
  ...DACTE_CASES,
  ...DANFSE_CASES,
];

/** Text across the sheet, which comes out of pdftotext letter by letter. */
const SLANTED = new Set(['SEM VALOR FISCAL', 'CANCELADA', 'SUBSTITUÍDA']);

describe('pictures of finished PDFs', { skip: NO_POPPLER, concurrency: 2 }, () => {
  let folder = '';
  before(() => {
    folder = scratchFolder('pdf');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [index, each] of CASES.entries()) {
    test(`${each.name}: pages, text, codes`, async (context) => {
      const file = join(folder, `${index}.pdf`);
      writeFileSync(file, await printPdf({ kind: each.kind, xml: Buffer.from(each.xml), situation: each.situation }));
      assert.equal(await pagesOf(file), each.sheets);
      const text = (await textOf(file)).replace(/\s+/g, ' ');
      const upright = each.texts.filter((expected) => !SLANTED.has(expected));
      for (const expected of upright) assert.ok(text.includes(expected), expected);
      if (NO_ZBAR !== undefined) {
        context.diagnostic(NO_ZBAR);
        return;
      }
      // At the resolution of a fax; the last sheet must be as good as the first. The QR code of a receipt stands on the last one, and the
      // further sheets of a letter have no codes.
      for (const page of each.kind.startsWith('procEvento') ? [1] : new Set([1, each.sheets])) {
        const found = await codesIn(await pictureOf(file, page, 150));
        const wanted = each.codes.filter((code) => !code.includes('?p=') || page === each.sheets);
        for (const code of wanted) assert.ok(found.includes(code), `sheet ${page}: found ${found.length} codes`);
      }
    });
  }

  test('security paper has a second barcode of 36 digits', { skip: NO_ZBAR }, async () => {
    const each = DANFE_CASES.find(({ name }) => name.startsWith('security paper'));
    assert.ok(each);
    const file = join(folder, 'security.pdf');
    writeFileSync(file, await printPdf({ kind: 'procNFe', xml: Buffer.from(each.xml), situation: each.situation }));
    const codes = await codesIn(await pictureOf(file, 1, 150));
    assert.ok(
      codes.some((code) => code.startsWith('35520212223000120000001234567891202') && code.length === 36),
      codes.join(),
    );
  });
});
