import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { pathOf } from '../../src/activities/exports/file-names.js';
import { INDEX_HEADER, indexRow } from '../../src/activities/exports/index-file.js';
import type { DocumentMetadata } from '../../src/model/document.js';
import { brasiliaTime, startOfDay } from '../../src/platform/brasilia.js';
import type { ExportDocument } from '../../src/storage/export-documents.js';
import { PEOPLE } from '../documents/samples.js';

function document(metadata: DocumentMetadata, more: Partial<ExportDocument> = {}): ExportDocument {
  return {
    ...{ id: randomUUID(), companyId: randomUUID(), documentType: 'nfe', environment: 'production', nsu: null },
    ...{
      kind: 'procNFe',
      schema: null,
      root: 'nfeProc',
      key: 'A'.repeat(44),
      direction: 'received',
      state: 'authorized',
    },
    ...{
      fullXml: 'present',
      origin: 'distribution',
      capturedAt: Date.UTC(2026, 11, 1, 2, 59, 59),
      issuedAt: null,
      total: null,
    },
    ...{
      issuerTaxId: null,
      recipientTaxId: null,
      metadata,
      event: null,
      eventType: null,
      eventSequence: null,
      warnings: [],
    },
    ...{
      suppressed: null,
      awarenessSkipped: null,
      xmlSha256: '',
      xmlLength: 0,
      archiveId: randomUUID(),
      objectKey: 'k',
    },
    ...{ byteOffset: 0, byteLength: 0, encoding: 'identity', copiesBefore: 0, countedElsewhere: false },
    ...more,
  };
}

const cells = (row: string) => row.replace(/\r\n$/, '').split(';');

test('what a spreadsheet would run as a formula is text, whatever an issuer calls itself', () => {
  for (const name of ['=HYPERLINK("http://x")', '+1', '-1', '@SUM(A1)', '\t=1', '＝1']) {
    const row = indexRow(document({ issuer: { name } }), {}, PEOPLE.buyer);
    assert.match(cells(row)[7] ?? '', /^"?'/, JSON.stringify(name));
  }
  assert.equal(cells(indexRow(document({ issuer: { name: 'A; "B"' } }), {}, PEOPLE.buyer)).length, 24, 'quoted');
});

test('amounts have a comma, tax IDs and keys their punctuation, times the clock of the document', () => {
  const metadata = {
    issuedAt: '2026-11-30T23:30:00-05:00',
    total: '1234567.80',
    issuer: { taxId: PEOPLE.letters, name: 'Padaria São João' },
    recipient: { taxId: PEOPLE.farmer },
  };
  const row = cells(indexRow(document(metadata, { state: 'cancelled' }), {}, PEOPLE.farmer));
  const [letters, farmer] = [PEOPLE.letters, PEOPLE.farmer];
  assert.equal(row[0], `${'AAAA '.repeat(10)}AAAA`);
  assert.equal(row[5], '30/11/2026 23:30:00');
  assert.equal(row[6], letters.replace(/^(..)(...)(...)(....)(..)$/, '$1.$2.$3/$4-$5'));
  assert.equal(row[9], farmer.replace(/^(...)(...)(...)(..)$/, '$1.$2.$3-$4'));
  assert.deepEqual(row.slice(11, 15), ['1234567,80', 'cancelado', 'recebido', 'destinatário']);
  assert.ok(INDEX_HEADER.startsWith('\uFEFFChave de acesso;'));
});

test('folders are by the month in Brasília; events and copies have names of their own; nothing of a broken document becomes a path', () => {
  assert.match(pathOf(document({})), /^2026\/11\/nfe\/A{44}-procNFe$/);
  const moved = document({}, { issuedAt: Date.parse('2026-11-30T23:30:00-05:00') });
  assert.match(pathOf(moved), /^2026\/12\//);
  const event = document({}, { kind: 'procEventoNFe', eventType: '../1', eventSequence: 2, copiesBefore: 1 });
  assert.match(pathOf(event), /A{44}-procEventoNFe-___1-2-copia1$/);
  const nameless = document({}, { key: null, copiesBefore: 3 });
  assert.ok(pathOf(nameless).endsWith(`${nameless.id}-procNFe`));
});

test('days begin at midnight in Brasília, also in the summers with summer time', () => {
  assert.equal(startOfDay('2026-11-01'), Date.parse('2026-11-01T00:00:00-03:00'));
  assert.equal(startOfDay('2018-12-01'), Date.parse('2018-12-01T00:00:00-02:00'));
  assert.equal(startOfDay('2019-02-17'), Date.parse('2019-02-17T00:00:00-03:00'), 'the day after it ended');
  assert.deepEqual(Object.values(brasiliaTime(startOfDay('2026-11-01'))), ['2026', '11', '01', '00', '00', '00']);
});
