import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { decodeItem, directionOf, isAccessKey, isTaxId, stateOf, taxIdRoot } from '../../src/documents/index.js';
import type { DecodedItem } from '../../src/model/document.js';
import { sharedFile } from '../support/shared.js';

/** The collected cases as they stand in the contracts; the same behaviour is proved with own inputs in the other files. */

function caseFile(context: TestContext, name: string): Buffer | null {
  const file = sharedFile(`cases/${name}`);
  if (file === null) {
    context.skip('the folder shared/ is not beside the project');
    return null;
  }
  return readFileSync(file);
}

const decode = (content: Uint8Array, schema: string | null = null): DecodedItem =>
  decodeItem({ content, encoding: 'identity', schema }, 'nfe');

function document(decoded: DecodedItem) {
  assert.ok(decoded.ok, JSON.stringify(decoded));
  return decoded.document;
}

/** The docZips of a page, decoded from their own bytes. */
function docZips(page: Buffer): DecodedItem[] {
  return [...page.toString('latin1').matchAll(/<docZip[^>]*schema="([^"]*)"[^>]*>([^<]*)</g)].map(
    ([, schema, content]) =>
      decodeItem(
        { content: Buffer.from(content ?? '', 'latin1'), encoding: 'base64+gzip', schema: schema ?? null },
        'nfe',
      ),
  );
}

describe('cases of the contracts', () => {
  test('C25: kinds of a page whose schema versions differ', (context) => {
    const page = caseFile(context, '25-lote-mixed-schemas.xml');
    if (page) {
      const documents = docZips(page).map(document);
      assert.deepEqual(
        documents.map(({ kind }) => kind),
        ['resNFe', 'procNFe', 'resEvento', 'procEventoNFe'],
      );
      assert.deepEqual(
        documents.flatMap(({ warnings }) => warnings),
        [],
      );
    }
  });

  test('C28: one good item between two broken ones', (context) => {
    const page = caseFile(context, '28-lote-one-corrupt-gzip.xml');
    if (page) {
      const [cut, good, text] = docZips(page);
      assert.ok(cut && !cut.ok && cut.failure === 'gzip');
      assert.ok(good?.ok);
      assert.ok(text && !text.ok && text.failure === 'base64');
    }
  });

  test('C30: unknown schema and unknown event type', (context) => {
    const page = caseFile(context, '30-lote-unknown-schema-and-event.xml');
    if (page) {
      const documents = docZips(page).map(document);
      assert.deepEqual(new Set(documents.map(({ kind }) => kind)), new Set(['procEventoNFe', 'unknown']));
      assert.equal(documents.find(({ event }) => event)?.event?.type, '211110');
    }
  });

  test('C31: event 610130 with a child outside its schema', (context) => {
    const xml = caseFile(context, '31-procevento-610130-chcte.xml');
    if (xml) {
      const { key, event } = document(decode(xml));
      assert.equal(key, '35260911222333000181550010000006501102030404');
      assert.equal(event?.type, '610130');
      assert.equal(event?.protocol, '135260000000789');
    }
  });

  test('C32: the cancellation comes before its note', (context) => {
    const page = caseFile(context, '32-cancel-before-document.xml');
    if (page) {
      const documents = docZips(page).map(document);
      assert.equal(documents.length, 2);
      assert.ok(documents.every(({ key, event }) => key !== null && event !== null));
      assert.equal(stateOf([...documents.map(({ implies }) => implies), 'authorized']), 'cancelled');
    }
  });

  test('C33: summaries at the edges', (context) => {
    const denied = caseFile(context, '33-resnfe-cpf-emitter-denied.xml');
    const cancelled = caseFile(context, '33b-resnfe-csit3.xml');
    if (denied && cancelled) {
      assert.equal(document(decode(denied)).implies, 'denied');
      assert.equal(document(decode(denied)).metadata.issuer?.taxId, '52998224725');
      assert.equal(document(decode(cancelled)).implies, 'cancelled');
    }
  });

  test('C37: foreign recipient', (context) => {
    const xml = caseFile(context, '37-procnfe-dest-idestrangeiro-empty.xml');
    if (xml) {
      assert.deepEqual(document(decode(xml)).metadata.recipient, {
        name: 'Foreign Sample Corp',
        uf: 'EX',
        foreign: true,
      });
    }
  });

  test('C39: calendar date', (context) => {
    const xml = caseFile(context, '39-nfeproc-v200-demi-no-timezone.xml');
    if (xml) {
      assert.equal(document(decode(xml)).metadata.issuedAt, '2013-09-18');
    }
  });

  test('C40: encodings', (context) => {
    for (const name of [
      '40-response-iso-8859-1-declared',
      '40b-response-latin1-bytes-said-utf8',
      '40c-response-utf8-bom',
    ]) {
      const xml = caseFile(context, `${name}.xml`);
      if (xml) {
        assert.equal(document(decode(xml)).root, 'retDistDFeInt');
      }
    }
  });

  test('C46, C47, C100: large and sparse notes', (context) => {
    for (const name of ['46-procnfe-60-items', '47-procnfe-optional-groups-empty', '100-procnfe-1200-escaped-quotes']) {
      const xml = caseFile(context, `${name}.xml`);
      if (xml) {
        const { metadata, implies, warnings } = document(decode(xml));
        assert.equal(implies, 'authorized');
        assert.ok(!('carrier' in metadata));
        assert.deepEqual(warnings, []);
        assert.equal(directionOf('nfe', metadata, '98765432000198'), 'received');
      }
    }
  });

  test('C48: authorized late, then cancelled late', (context) => {
    const xml = caseFile(context, '48-procnfe-cstat150.xml');
    const cancellation = caseFile(context, '48b-cancel-event-of-48.xml');
    if (xml && cancellation) {
      const both = [document(decode(xml)), document(decode(cancellation))];
      assert.equal(both[0]?.implies, 'authorized');
      assert.equal(both[0]?.key, both[1]?.key);
      assert.equal(stateOf(both.map(({ implies }) => implies)), 'cancelled');
    }
  });

  test('C49: letters', (context) => {
    const xml = caseFile(context, '49-resnfe-alphanumeric-cnpj.xml');
    const table = caseFile(context, '49b-alphanumeric-keys.json');
    if (xml && table) {
      const { key, metadata } = document(decode(xml));
      assert.equal(metadata.issuer?.taxId, 'A1B2C3D4000193');
      assert.equal(key, '352609A1B2C3D4000193550010000000101102030401');
      for (const row of JSON.parse(table.toString()) as { cnpj?: string; chave?: string; ok: boolean }[]) {
        if (row.cnpj !== undefined) {
          assert.equal(isTaxId(row.cnpj), row.ok, row.cnpj);
        }
        if (row.chave !== undefined) {
          assert.equal(isAccessKey(row.chave), row.ok, row.chave);
        }
      }
      assert.equal(taxIdRoot('98765432E08G19'), taxIdRoot('98765432000198'));
    }
  });

  test('C51: DOCTYPE refused, __proto__ harmless', (context) => {
    const doctype = caseFile(context, '51-doctype-entities.xml');
    const proto = caseFile(context, '51b-proto-keys-and-char-refs.xml');
    if (doctype && proto) {
      const refused = decode(doctype);
      assert.ok(!refused.ok && refused.failure === 'doctype');
      assert.equal(document(decode(proto)).root, 'a');
      assert.equal(({} as Record<string, unknown>).polluted, undefined);
    }
  });
});
