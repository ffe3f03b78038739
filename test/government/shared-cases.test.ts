import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readDistributionAnswer } from '../../src/government/distribution-answer.js';
import type { Nsu } from '../../src/model/nsu.js';
import { sharedFile } from '../support/shared.js';

/** Every answer of the shared cases, groups A to C: outcome, pointers, NSUs. The answers in `answers.ts` prove the same without them. */

const DIST = { distNSU: '000000000000001' as Nsu };
const CONS_NSU = { consNSU: '000000000505400' as Nsu };
const KEY = { consChNFe: '3'.repeat(44) };

const CASES: [file: string, query: typeof DIST | typeof CONS_NSU | typeof KEY, http: number, outcome: string][] = [
  ['01-retdist-137-caught-up.xml', DIST, 200, 'none 137 5100 5100'],
  ['03-retdist-656-ultnsu-ahead.xml', DIST, 200, 'throttled 656 505511'],
  ['04-retdist-656-ultnsu-behind.xml', DIST, 200, 'throttled 656 3687'],
  ['08-retdist-138-ult-equals-max.xml', DIST, 200, 'documents 138 50 50 items 2'],
  ['09-retdist-138-more-pages.xml', DIST, 200, 'documents 138 59075 61722 items 50'],
  ['11-retdist-589.xml', DIST, 200, 'rejected 589'],
  ['11b-retdist-ult-greater-than-max.xml', DIST, 200, 'documents 138 901 901 items 1'],
  ['14-retdist-640-without-nsu-fields.xml', KEY, 200, 'rejected 640'],
  ['15-conschnfe-138-no-nsu-attr.xml', KEY, 200, 'documents 138 0 0 items 1'],
  ['15b-conschnfe-138-nsu-zero.xml', KEY, 200, 'documents 138 0 0 items 1'],
  ['16-retdist-109-paralisado.xml', DIST, 200, 'paused 109'],
  ['16b-retdist-108-paralisado.xml', DIST, 200, 'paused 108'],
  ['18-retdist-593-root-mismatch.xml', DIST, 200, 'certificate_refused 593'],
  ['21-conschnfe-632-out-of-window.xml', KEY, 200, 'rejected 632'],
  ['22-conschnfe-656-20-per-hour.xml', KEY, 200, 'throttled 656 null'],
  ['23-consnsu-137-gap-does-not-exist.xml', CONS_NSU, 200, 'none 137 null null'],
  ['24-conschnfe-641-emitter.xml', KEY, 200, 'rejected 641'],
  ['25-lote-mixed-schemas.xml', DIST, 200, 'documents 138 104 104 items 4'],
  ['27-lote-single-doczip.xml', DIST, 200, 'documents 138 301 301 items 1'],
  ['28-lote-one-corrupt-gzip.xml', DIST, 200, 'documents 138 403 403 items 3'],
  ['30-lote-unknown-schema-and-event.xml', DIST, 200, 'documents 138 602 602 items 2'],
  ['32-cancel-before-document.xml', DIST, 200, 'documents 138 702 702 items 2'],
  ['40-response-iso-8859-1-declared.xml', DIST, 200, 'certificate_refused 593'],
  ['40b-response-latin1-bytes-said-utf8.xml', DIST, 200, 'certificate_refused 593'],
  ['40c-response-utf8-bom.xml', DIST, 200, 'none 137 10 10'],
  ['42-soap-fault-http-500.xml', DIST, 500, 'unreadable HTTP 500'],
  ['44-iis-403-no-client-cert.txt', DIST, 403, 'certificate_refused HTTP 403'],
];

const NO_CASES = sharedFile('cases/index.json') === null ? 'the shared cases are not here (../shared)' : false;

for (const [file, query, httpStatus, expected] of CASES) {
  test(file, { skip: NO_CASES }, () => {
    const bytes = readFileSync(sharedFile(`cases/${file}`) ?? '');
    for (const contentType of ['application/soap+xml; charset=utf-8', null]) {
      const { outcome, items, statusText } = readDistributionAnswer(bytes, { contentType, httpStatus, query });
      const numbers = [
        ...('ultNsu' in outcome ? [outcome.ultNsu] : []),
        ...('maxNsu' in outcome ? [outcome.maxNsu] : []),
      ].map((nsu) => (nsu === null ? 'null' : String(Number(nsu))));
      const count = outcome.kind === 'documents' ? ['items', String(outcome.items)] : [];
      const code = 'statusCode' in outcome ? outcome.statusCode : '';
      assert.equal([outcome.kind, code, ...numbers, ...count].join(' '), expected);
      assert.ok(statusText.length > 0);
      if (file.startsWith('40-') || file.startsWith('40b')) assert.match(statusText, /^Rejeição: CNPJ-Base/);
      for (const item of items) {
        assert.match(bytes.subarray(item.offset, item.offset + item.length).toString(), /^[^<>&\s]+$/);
        assert.equal(bytes.subarray(item.offset + item.length, item.offset + item.length + 9).toString(), '</docZip>');
      }
    }
  });
}

/** What NF-e's service was seen to answer CT-e's may answer too: the same shapes, under its own names. */
for (const [file, query, httpStatus, expected] of CASES.filter(
  ([name, query]) => !('consChNFe' in query) && Number.parseInt(name, 10) < 25,
)) {
  test(`${file}, from CT-e's service`, { skip: NO_CASES }, () => {
    const text = readFileSync(sharedFile(`cases/${file}`) ?? '', 'latin1');
    const renamed = text
      .replaceAll('portalfiscal.inf.br/nfe', 'portalfiscal.inf.br/cte')
      .replaceAll('nfeDistDFeInteresse', 'cteDistDFeInteresse');
    assert.notEqual(renamed, text);
    const bytes = Buffer.from(renamed, 'latin1');
    const { outcome } = readDistributionAnswer(bytes, { contentType: 'application/soap+xml', httpStatus, query });
    assert.ok(expected.startsWith(`${outcome.kind} ${'statusCode' in outcome ? outcome.statusCode : ''}`));
  });
}
